import SwiftDiagnostics
import SwiftSyntax

extension AttributeSyntax {
  /// The attribute's name without a module in front.
  var shortName: String {
    attributeName.as(MemberTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
  }

  var labeledArguments: [LabeledExprSyntax] {
    guard case .argumentList(let list)? = arguments else { return [] }
    return Array(list)
  }

  func argument(_ label: String) -> ExprSyntax? {
    labeledArguments.first { $0.label?.text == label }?.expression
  }

  /// One error for each argument whose label the macro does not have.
  func unknownLabels(macro: String, known: [String]) -> [Diagnostic] {
    labeledArguments.compactMap { argument in
      guard let label = argument.label, !known.contains(label.text) else { return nil }
      let list = known.map { "`\($0):`" }.joined(separator: ", ")
      return .make(
        "unknownArgument", at: label,
        "@\(macro) has an unknown argument label `\(label.text)`; it takes \(list).")
    }
  }

  /// A fix-it that removes the argument with this label; nil when there is none.
  func removing(_ label: String) -> FixIt? {
    labeledArguments.first { $0.label?.text == label }.map {
      .removing("Remove `\(label)`", argument: $0)
    }
  }

  /// A fix-it that adds `label: value` at its place in the macro's order of parameters.
  func adding(_ argument: String, order: [String]) -> FixIt {
    let message = "Add `\(argument)`"
    let arguments = labeledArguments
    guard let last = arguments.last else {
      if let leftParen { return .inserting(message, argument, after: leftParen) }
      return .inserting(message, "(\(argument))", after: attributeName)
    }
    let position = order.firstIndex(of: String(argument.prefix { $0 != ":" })) ?? 0
    let next = arguments.first { (order.firstIndex(of: $0.label?.text ?? "") ?? -1) > position }
    if let next { return .inserting(message, "\(argument), ", before: next) }
    return .inserting(message, ", \(argument)", after: last)
  }
}

extension AttributeListSyntax {
  /// The attribute of that name; attributes inside `#if` count too.
  func first(named name: String) -> AttributeSyntax? {
    withConditions.first { $0.attribute.shortName == name }?.attribute
  }

  func contains(named name: String) -> Bool { first(named: name) != nil }

  /// Every attribute, those of all branches of `#if` blocks included, and whether it stands in one.
  var withConditions: [(attribute: AttributeSyntax, isConditional: Bool)] { flatten(false) }

  private func flatten(_ isConditional: Bool) -> [(attribute: AttributeSyntax, isConditional: Bool)] {
    var result: [(attribute: AttributeSyntax, isConditional: Bool)] = []
    for element in self {
      if case .attribute(let attribute) = element {
        result.append((attribute, isConditional))
      } else if case .ifConfigDecl(let block) = element {
        for clause in block.clauses {
          guard case .attributes(let inner)? = clause.elements else { continue }
          result += inner.flatten(true)
        }
      }
    }
    return result
  }
}
