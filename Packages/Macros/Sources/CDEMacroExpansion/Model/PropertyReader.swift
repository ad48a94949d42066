import SwiftDiagnostics
import SwiftSyntax

/// Decides what one `var` of a model class is.
///
/// Every role of the macros reads a declaration through this one place, so that accessors, members
/// and schema never disagree. Diagnostics about `@Attribute` itself are kept apart: that macro
/// reports them, whether or not a model surrounds it.
struct PropertyReader {
  enum Result {
    /// Not the model's business: constants, statics, computed and lazy properties.
    case leftAlone
    case managed(AttributeSyntax)
    case ignored(IgnoredProperty)
    case persisted(ModelProperty)
    /// Meant to be persisted, but wrong.
    case invalid
  }

  let result: Result
  /// What the model macro reports.
  var diagnostics: [Diagnostic] = []
  /// What `@Attribute` reports.
  var attributeDiagnostics: [Diagnostic] = []

  init(_ variable: VariableDeclSyntax) {
    var model: [Diagnostic] = []
    var attribute: [Diagnostic] = []
    result = PropertyReader.read(variable, model: &model, attribute: &attribute)
    diagnostics = model
    attributeDiagnostics = attribute
  }

  var property: ModelProperty? {
    if case .persisted(let property) = result { return property }
    return nil
  }

  private static func read(
    _ variable: VariableDeclSyntax, model: inout [Diagnostic], attribute: inout [Diagnostic]
  ) -> Result {
    guard variable.isInstanceVariable, let binding = variable.bindings.first else { return .leftAlone }
    if let managed = variable.attributes.first(named: "NSManaged") { return .managed(managed) }
    if variable.bindings.count > 1 || !binding.pattern.is(IdentifierPatternSyntax.self) {
      guard variable.bindings.contains(where: { !$0.isComputed }) else { return .leftAlone }
      model.append(severalProperties(variable))
      return .invalid
    }
    guard !binding.isComputed, let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
      return .leftAlone
    }
    let token = pattern.identifier
    if variable.attributes.contains(named: "Ignore") {
      return .ignored(
        IgnoredProperty(
          identifier: token.text, name: token.bareName, type: binding.typeAnnotation?.type.trimmed,
          declaration: variable))
    }
    if let accessors = binding.accessorBlock {
      model.append(
        .make(
          "propertyObservers", at: accessors,
          "`\(token.bareName)` is persisted, so its accessors are generated and it cannot have "
            + "`willSet` or `didSet`; remove them, or mark the property with @Ignore.",
          fixIts: [.trimming("Remove the observers", accessors), ignoring(variable)]))
      return .invalid
    }
    guard let type = binding.typeAnnotation?.type.trimmed else {
      model.append(missingType(variable, binding, token))
      return .invalid
    }
    let reading = PropertyTypeReader(
      variable: variable, binding: binding, name: token.bareName, shape: TypeShape(type))
    guard let kind = reading.kind(model: &model, attribute: &attribute) else { return .invalid }
    return .persisted(
      ModelProperty(
        identifier: token.text, name: token.bareName, kind: kind, type: type, shape: reading.shape,
        defaultExpression: binding.initializer?.value.trimmedDescription, declaration: variable))
  }

  static func ignoring(_ variable: VariableDeclSyntax) -> FixIt {
    .inserting("Mark it with @Ignore", "@Ignore ", before: variable)
  }

  private static func severalProperties(_ variable: VariableDeclSyntax) -> Diagnostic {
    var fixIts: [FixIt] = []
    if let declarations = variable.splitIntoSingleDeclarations {
      fixIts = [.replacing("Split the declaration", variable, with: declarations)]
    }
    return .make(
      "severalProperties", at: variable,
      "@PersistentModel does not support declaring multiple stored properties in one `var` "
        + "declaration; declare each property on its own.", fixIts: fixIts)
  }

  private static func missingType(
    _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax, _ token: TokenSyntax
  ) -> Diagnostic {
    var fixIts = [ignoring(variable)]
    if let type = binding.initializer?.value.literalType {
      fixIts.insert(.inserting("Add `: \(type)`", ": \(type)", after: binding.pattern), at: 0)
    }
    return .make(
      "missingType", at: binding.pattern,
      "`\(token.bareName)` must declare its type, as in `var \(token.text): String`, to be persisted; "
        + "a property that is not persisted is marked with @Ignore.", fixIts: fixIts)
  }
}

extension VariableDeclSyntax {
  /// A `var` of an instance that may be stored: not a constant, not static, not lazy.
  var isInstanceVariable: Bool {
    bindingSpecifier.tokenKind == .keyword(.var) && !modifiers.contains(.static)
      && !modifiers.contains(.class) && !modifiers.contains(.lazy)
  }

  /// One `var` declaration per binding, when every binding's type is written or follows.
  var splitIntoSingleDeclarations: String? {
    guard attributes.isEmpty else { return nil }
    let all = Array(bindings)
    var lines: [String] = []
    for (index, binding) in all.enumerated() {
      guard binding.pattern.is(IdentifierPatternSyntax.self), binding.accessorBlock == nil else {
        return nil
      }
      // Swift lets `var a, b: String` share the type that is written last.
      let shared = all[index...].first { $0.typeAnnotation != nil }?.typeAnnotation
      let type = binding.typeAnnotation ?? (binding.initializer == nil ? shared : nil)
      let head = modifiers.trimmedDescription.isEmpty ? "" : modifiers.trimmedDescription + " "
      lines.append(
        head + "var \(binding.pattern.trimmedDescription)\(type?.trimmedDescription ?? "")"
          + (binding.initializer.map { " \($0.trimmedDescription)" } ?? ""))
    }
    let indentation = leadingTrivia.lastLineIndentation
    return lines.joined(separator: "\n\(indentation)")
  }
}

extension Trivia {
  /// The spaces and tabs before the token, after the last line break.
  var lastLineIndentation: String {
    var result = ""
    for piece in self {
      switch piece {
      case .newlines, .carriageReturns, .carriageReturnLineFeeds: result = ""
      case .spaces(let count): result += String(repeating: " ", count: count)
      case .tabs(let count): result += String(repeating: "\t", count: count)
      default: break
      }
    }
    return result
  }
}

extension PatternBindingSyntax {
  /// Has a getter: `{ get … }` or a bare body; property observers do not count.
  var isComputed: Bool {
    guard let accessorBlock else { return false }
    guard case .accessors(let list) = accessorBlock.accessors else { return true }
    return !list.allSatisfy {
      [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
    }
  }
}

extension ExprSyntax {
  /// The type Swift gives to a literal by itself.
  var literalType: String? {
    if self.is(StringLiteralExprSyntax.self) { return "String" }
    if self.is(BooleanLiteralExprSyntax.self) { return "Bool" }
    if self.is(IntegerLiteralExprSyntax.self) { return "Int" }
    if self.is(FloatLiteralExprSyntax.self) { return "Double" }
    return nil
  }
}
