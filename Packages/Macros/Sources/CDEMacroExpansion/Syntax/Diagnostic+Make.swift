import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The text and severity of one diagnostic of this plug-in.
struct MacroMessage: DiagnosticMessage {
  let message: String
  let diagnosticID: MessageID
  let severity: DiagnosticSeverity
}

/// The text of one fix-it of this plug-in.
struct MacroFixItMessage: FixItMessage {
  let message: String
  let fixItID: MessageID
}

extension Diagnostic {
  /// An error (or a warning) at `node`; `id` is stable and names the rule, not the wording.
  static func make(
    _ id: String, _ severity: DiagnosticSeverity = .error, at node: some SyntaxProtocol,
    _ message: String, fixIts: [FixIt] = []
  ) -> Diagnostic {
    Diagnostic(
      node: node,
      message: MacroMessage(
        message: message, diagnosticID: MessageID(domain: "CoreDataEvolution", id: id),
        severity: severity),
      fixIts: fixIts)
  }
}

extension FixIt {
  // Text edits instead of syntax surgery: the untouched rest of the line keeps its trivia.
  private static func edit(
    _ message: String, _ edits: [(Range<AbsolutePosition>, String)], in node: some SyntaxProtocol
  ) -> FixIt {
    FixIt(
      message: MacroFixItMessage(
        message: message, fixItID: MessageID(domain: "CoreDataEvolution", id: "fix")),
      changes: edits.map { .replaceText(range: $0.0, with: $0.1, in: Syntax(node)) })
  }

  /// Replaces the node's own text, without the trivia around it.
  static func replacing(_ message: String, _ node: some SyntaxProtocol, with text: String) -> FixIt {
    let range = node.positionAfterSkippingLeadingTrivia..<node.endPositionBeforeTrailingTrivia
    return edit(message, [(range, text)], in: node)
  }

  static func inserting(_ message: String, _ text: String, before node: some SyntaxProtocol) -> FixIt {
    let position = node.positionAfterSkippingLeadingTrivia
    return edit(message, [(position..<position, text)], in: node)
  }

  static func inserting(_ message: String, _ text: String, after node: some SyntaxProtocol) -> FixIt {
    let position = node.endPositionBeforeTrailingTrivia
    return edit(message, [(position..<position, text)], in: node)
  }

  /// Removes the node together with the space (or line break) that follows it.
  static func removing(_ message: String, _ node: some SyntaxProtocol) -> FixIt {
    var end = node.endPosition
    if node.trailingTrivia.isEmpty, let next = node.nextToken(viewMode: .sourceAccurate),
      next.leadingTrivia.allSatisfy({ $0.isWhitespace })
    {
      end = next.positionAfterSkippingLeadingTrivia
    }
    return edit(message, [(node.positionAfterSkippingLeadingTrivia..<end, "")], in: node)
  }

  /// Removes the node and what separates it from the token before it.
  static func trimming(_ message: String, _ node: some SyntaxProtocol) -> FixIt {
    var start = node.position
    if let previous = node.previousToken(viewMode: .sourceAccurate) {
      start = previous.endPositionBeforeTrailingTrivia
    }
    return edit(message, [(start..<node.endPositionBeforeTrailingTrivia, "")], in: node)
  }

  /// Removes an argument of a list together with the comma that separates it; the last one of an
  /// attribute's list with the parentheses.
  static func removing(_ message: String, argument: LabeledExprSyntax) -> FixIt {
    guard let list = argument.parent?.as(LabeledExprListSyntax.self) else {
      return removing(message, argument.expression)
    }
    if list.count == 1, let attribute = list.parent?.as(AttributeSyntax.self),
      let leftParen = attribute.leftParen, let rightParen = attribute.rightParen
    {
      let range =
        leftParen.positionAfterSkippingLeadingTrivia..<rightParen.endPositionBeforeTrailingTrivia
      return edit(message, [(range, "")], in: argument)
    }
    guard argument.trailingComma == nil, let previous = argument.previousToken(viewMode: .sourceAccurate)
    else { return removing(message, argument) }
    let start = previous.positionAfterSkippingLeadingTrivia
    return edit(message, [(start..<argument.endPositionBeforeTrailingTrivia, "")], in: argument)
  }

  /// The same change under another name.
  func renamed(_ message: String) -> FixIt {
    FixIt(
      message: MacroFixItMessage(
        message: message, fixItID: MessageID(domain: "CoreDataEvolution", id: "fix")), changes: changes)
  }

  /// Several replacements that only make sense together.
  static func replacingAll(
    _ message: String, _ replacements: [(node: Syntax, text: String)]
  ) -> FixIt {
    FixIt(
      message: MacroFixItMessage(
        message: message, fixItID: MessageID(domain: "CoreDataEvolution", id: "fix")),
      changes: replacements.map {
        let range =
          $0.node.positionAfterSkippingLeadingTrivia..<$0.node.endPositionBeforeTrailingTrivia
        return .replaceText(range: range, with: $0.text, in: $0.node)
      })
  }

  /// Replacements, and text that goes in front of a node around them.
  static func replacingAll(
    _ message: String, _ replacements: [(node: Syntax, text: String)], inserting text: String,
    before node: some SyntaxProtocol
  ) -> FixIt {
    let position = node.positionAfterSkippingLeadingTrivia
    return FixIt(
      message: MacroFixItMessage(
        message: message, fixItID: MessageID(domain: "CoreDataEvolution", id: "fix")),
      changes: [.replaceText(range: position..<position, with: text, in: Syntax(node))]
        + replacingAll(message, replacements).changes)
  }
}

extension MacroExpansionContext {
  func diagnose(all diagnostics: [Diagnostic]) {
    for diagnostic in diagnostics { diagnose(diagnostic) }
  }
}
