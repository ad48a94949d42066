import SwiftDiagnostics
import SwiftSyntax

/// The declared default of an attribute that is stored as it is.
///
/// A default is part of the model, which is made from the source text. So it has to be one of the forms
/// that can be read without running the program, and a value that could be saved.
struct DefaultValue {
  let name: String
  let primitive: Primitive
  let expression: ExprSyntax

  private var text: String { expression.trimmedDescription }

  /// What is wrong with it.
  func problem(_ rules: [ValidationTrait]) -> Diagnostic? {
    if expression.isNilLiteral || [".none", "Optional.none"].contains(text) { return nil }
    if !isReadable { return unreadable }
    guard let rule = rules.first(where: { isBroken($0) }) else { return nil }
    return .make(
      "defaultBreaksRule", at: expression,
      "The default value \(text) of `\(name)` breaks the attribute's own rule `\(rule.spelling)`, so an object "
        + "that keeps it could not be saved; change one of the two, or make the attribute optional and leave "
        + "the default out.")
  }

  // MARK: Forms

  private var unreadable: Diagnostic {
    let now: Bool
    switch primitive {
    case .date: now = Self.changing.contains(text) || text.contains("Now")
    case .uuid: now = Self.changing.contains(text)
    default: now = false
    }
    let reason =
      now
      ? "`\(text)` is another value each time, and a default is one value, part of the model"
      : "a default is part of the model, which is made without running code, and `\(text)` is none of the "
        + "forms that can be read so (\(forms))"
    return .make(
      "defaultForm", at: expression,
      "`\(name)` cannot have this default: \(reason). Set the value in `awakeFromInsert()`, and leave the "
        + "default out or use a literal.")
  }

  private static let changing: Set<String> = [
    "Date()", "Date.now", ".now", ".init()", "Date.init()", "Foundation.Date()", "UUID()", "UUID.init()",
    "Foundation.UUID()",
  ]

  private var forms: String {
    switch primitive {
    case .string: "a string literal without interpolation"
    case .bool: "`true` or `false`"
    case .int, .int16, .int32, .int64: "an integer literal"
    case .float, .double: "a number literal"
    case .decimal: "a number literal, `Decimal(1.5)`, `Decimal(string: \"1.5\")`"
    case .date:
      "`Date(timeIntervalSinceReferenceDate: 0)`, `Date(timeIntervalSince1970: 0)`, `.distantPast`, "
        + "`.distantFuture`"
    case .data: "`Data()`, `Data(base64Encoded: \"…\")!`"
    case .uuid: "a string literal, `UUID(uuidString: \"…\")!`"
    case .url: "a string literal, `URL(string: \"…\")!`, `URL(fileURLWithPath: \"…\")`"
    }
  }

  /// Whether the expression has a form that the runtime reads; it knows best whether the value is one.
  private var isReadable: Bool {
    switch primitive {
    case .string: isText
    case .bool: expression.booleanLiteral != nil
    case .int, .int16, .int32, .int64: expression.isNumber(fraction: false)
    case .float, .double: expression.isNumber(fraction: true)
    case .decimal:
      expression.isNumber(fraction: true)
        || call(["string"]) { $0.stringLiteral != nil } || call([nil]) { $0.isNumber(fraction: true) }
    case .date:
      [".distantPast", ".distantFuture"].contains(text.suffix(after: "Date"))
        || call(["timeIntervalSince1970", "timeIntervalSinceReferenceDate"]) { $0.isNumber(fraction: true) }
    case .data:
      call(["base64Encoded"]) { $0.stringLiteral != nil } || call([]) { _ in true }
    case .uuid: isText || call(["uuidString"]) { $0.stringLiteral != nil }
    case .url: isText || call(["string", "fileURLWithPath"]) { $0.stringLiteral != nil }
    }
  }

  private var isText: Bool { expression.stringLiteral != nil }

  /// Whether the expression makes a value of the type with one argument of these labels, or without any.
  private func call(_ labels: [String?], _ fits: (ExprSyntax) -> Bool) -> Bool {
    let inner = expression.as(ForceUnwrapExprSyntax.self)?.expression ?? expression
    guard let call = inner.as(FunctionCallExprSyntax.self) else { return false }
    let callee = call.calledExpression.trimmedDescription
    let type = primitive.rawValue
    guard [type, "Foundation.\(type)", ".init", "\(type).init"].contains(callee) else { return false }
    guard let argument = call.arguments.first else { return labels.isEmpty }
    return call.arguments.count == 1 && labels.contains(argument.label?.text) && fits(argument.expression)
  }

  // MARK: Rules

  private func isBroken(_ rule: ValidationTrait) -> Bool {
    switch rule {
    case .range(let minimum, let maximum, _):
      guard let value = Double(text.filter { $0 != "_" }) else { return false }
      return minimum.flatMap(Double.init).map { value < $0 } ?? false
        || maximum.flatMap(Double.init).map { value > $0 } ?? false
    case .length(let minimum, let maximum, _):
      guard let count = expression.stringLiteral?.utf16.count else { return false }
      return minimum.flatMap(Int.init).map { count < $0 } ?? false
        || maximum.flatMap(Int.init).map { count > $0 } ?? false
    case .matching(let pattern, _):
      // A pattern that only the runtime's engine knows says nothing here.
      guard let value = expression.stringLiteral, let regex = try? Regex(pattern) else { return false }
      do { return try regex.wholeMatch(in: value) == nil } catch { return false }
    }
  }
}

extension ExprSyntax {
  /// A number literal, with a sign or without.
  fileprivate func isNumber(fraction: Bool) -> Bool {
    let plain: ExprSyntax
    if let signed = self.as(PrefixOperatorExprSyntax.self), ["-", "+"].contains(signed.operator.text) {
      plain = signed.expression
    } else {
      plain = self
    }
    return plain.is(IntegerLiteralExprSyntax.self) || fraction && plain.is(FloatLiteralExprSyntax.self)
  }
}

extension String {
  /// What follows a type's name, with a module in front or not.
  fileprivate func suffix(after type: String) -> String {
    for prefix in ["Foundation.\(type)", type] where hasPrefix(prefix) {
      return String(dropFirst(prefix.count))
    }
    return self
  }
}
