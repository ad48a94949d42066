import SwiftDiagnostics
import SwiftSyntax

/// A rule that values of an attribute have to keep, as a trait of `@Attribute` says it.
enum ValidationTrait {
  /// Bounds as source text of numbers; nil for none.
  case range(minimum: String?, maximum: String?, syntax: ExprSyntax)
  case length(minimum: String?, maximum: String?, syntax: ExprSyntax)
  case matching(pattern: String, syntax: ExprSyntax)

  /// Whether the expression is one of the rules at all, however wrong its argument.
  static func isNamed(_ expression: ExprSyntax) -> Bool { name(of: expression) != nil }

  private static func name(of expression: ExprSyntax) -> String? {
    let callee = expression.as(FunctionCallExprSyntax.self)?.calledExpression ?? expression
    guard let name = callee.caseName(of: "AttributeTrait"), ["range", "length", "matching"].contains(name)
    else { return nil }
    return name
  }

  init?(_ expression: ExprSyntax, diagnostics: inout [Diagnostic]) {
    guard let name = Self.name(of: expression) else { return nil }
    let arguments = expression.as(FunctionCallExprSyntax.self)?.arguments
    guard let argument = arguments?.first, arguments?.count == 1, argument.label == nil else {
      diagnostics.append(Self.wrongArgument(name, at: expression))
      return nil
    }
    if name == "matching" {
      guard let pattern = argument.expression.stringLiteral, !pattern.isEmpty else {
        diagnostics.append(Self.wrongArgument(name, at: argument.expression))
        return nil
      }
      self = .matching(pattern: pattern, syntax: expression)
      return
    }
    guard let bounds = RangeLiteral(argument.expression),
      name == "range" || bounds.areCounts
    else {
      diagnostics.append(Self.wrongArgument(name, at: argument.expression))
      return nil
    }
    if let low = bounds.minimum.flatMap(Double.init), let high = bounds.maximum.flatMap(Double.init),
      low > high
    {
      diagnostics.append(
        .make(
          "emptyRange", at: argument.expression,
          "@Attribute trait `.\(name)` has an upper bound below its lower one; no value could be saved."))
      return nil
    }
    self =
      name == "range"
      ? .range(minimum: bounds.minimum, maximum: bounds.maximum, syntax: expression)
      : .length(minimum: bounds.minimum, maximum: bounds.maximum, syntax: expression)
  }

  private static func wrongArgument(_ name: String, at node: ExprSyntax) -> Diagnostic {
    let form: String
    switch name {
    case "range":
      form = "a range of number literals, as in `.range(0...255)`, `.range((-1)...)` or `.range(...1.5)`"
    case "length":
      form = "a range of non-negative integer literals, as in `.length(1...64)` or `.length(1...)`"
    default: form = "a regular expression as a string literal, as in `.matching(\"[a-z]+\")`"
    }
    return .make(
      "validationArgument", at: node,
      "@Attribute trait `.\(name)` requires \(form); the rule is part of the model.")
  }

  /// What is wrong with using the rule for an attribute of this type and storage.
  func problem(for shape: TypeShape, method: StorageMethodArgument) -> Diagnostic? {
    let name: String
    let node: ExprSyntax
    let fits: Bool
    switch self {
    case .range(_, _, let syntax):
      (name, node, fits) = ("range", syntax, shape.primitive?.isNumber == true)
    case .length(_, _, let syntax):
      (name, node, fits) = ("length", syntax, shape.primitive == .string)
    case .matching(_, let syntax):
      (name, node, fits) = ("matching", syntax, shape.primitive == .string)
    }
    if fits, method == .default { return nil }
    let types = name == "range" ? "numbers (not Bool)" : "String"
    return .make(
      "validationType", at: node,
      "@Attribute trait `.\(name)` only supports attributes of \(types) in `.default` storage, not "
        + "`\(shape.wrapped.trimmedDescription)`\(method == .default ? "" : " in `\(method.spelling)` storage"); "
        + "check other values in `validateForUpdate()` and `validateForInsert()`.")
  }

  /// The rule as the source has it.
  var spelling: String {
    switch self {
    case .range(_, _, let syntax), .length(_, _, let syntax), .matching(_, let syntax):
      syntax.trimmedDescription
    }
  }

  /// The `CDRuntimeValidationRule` expression.
  var schema: String {
    switch self {
    case .range(let minimum, let maximum, _):
      ".range(minimum: \(minimum?.quoted ?? "nil"), maximum: \(maximum?.quoted ?? "nil"))"
    case .length(let minimum, let maximum, _):
      ".length(minimum: \(minimum ?? "nil"), maximum: \(maximum ?? "nil"))"
    case .matching(let pattern, _): ".matching(\(pattern.quoted))"
    }
  }
}

extension Primitive {
  fileprivate var isNumber: Bool {
    switch self {
    case .int, .int16, .int32, .int64, .float, .double, .decimal: true
    default: false
    }
  }
}

/// `a...b`, `a...` or `...b` of number literals. Macros see operators unfolded, as a list.
private struct RangeLiteral {
  var minimum: String?
  var maximum: String?

  init?(_ expression: ExprSyntax) {
    if let sequence = expression.as(SequenceExprSyntax.self) {
      let parts = Array(sequence.elements)
      guard parts.count == 3, parts[1].trimmedDescription == "...", let low = Self.number(parts[0]),
        let high = Self.number(parts[2])
      else { return nil }
      (minimum, maximum) = (low, high)
    } else if let infix = expression.as(InfixOperatorExprSyntax.self) {
      guard infix.operator.trimmedDescription == "...", let low = Self.number(infix.leftOperand),
        let high = Self.number(infix.rightOperand)
      else { return nil }
      (minimum, maximum) = (low, high)
    } else if let postfix = expression.as(PostfixOperatorExprSyntax.self) {
      guard postfix.operator.text == "...", let low = Self.number(postfix.expression) else { return nil }
      minimum = low
    } else if let prefix = expression.as(PrefixOperatorExprSyntax.self) {
      guard prefix.operator.text == "...", let high = Self.number(prefix.expression) else { return nil }
      maximum = high
    } else {
      return nil
    }
  }

  var areCounts: Bool {
    [minimum, maximum].allSatisfy { $0.map { $0.allSatisfy(\.isNumber) } ?? true }
  }

  /// A decimal literal without separators, with its sign.
  private static func number(_ expression: ExprSyntax) -> String? {
    if let negative = expression.as(PrefixOperatorExprSyntax.self), negative.operator.text == "-" {
      return number(negative.expression).flatMap { $0.hasPrefix("-") ? nil : "-\($0)" }
    }
    if let tuple = expression.as(TupleExprSyntax.self), tuple.elements.count == 1,
      let only = tuple.elements.first, only.label == nil
    {
      return number(only.expression)
    }
    guard expression.is(IntegerLiteralExprSyntax.self) || expression.is(FloatLiteralExprSyntax.self) else {
      return nil
    }
    let text = expression.trimmedDescription.filter { $0 != "_" }
    guard text.allSatisfy({ $0.isASCII && ($0.isNumber || ".eE+-".contains($0)) }) else { return nil }
    return text
  }
}
