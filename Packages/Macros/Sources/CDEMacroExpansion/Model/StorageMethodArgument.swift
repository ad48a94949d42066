import SwiftDiagnostics
import SwiftSyntax

/// The `storageMethod:` argument of `@Attribute`.
enum StorageMethodArgument: Equatable {
  case `default`
  case raw
  case codable
  case composition
  /// By the registered transformer whose name this expression gives.
  case transformed(name: String)
  /// Reported as wrong.
  case invalid

  private static let type = "AttributeStorageMethod"

  /// How diagnostics spell it.
  var spelling: String {
    switch self {
    case .default: ".default"
    case .raw: ".raw"
    case .codable: ".codable"
    case .composition: ".composition"
    case .transformed: ".transformed"
    case .invalid: ""
    }
  }

  init(_ expression: ExprSyntax, diagnostics: inout [Diagnostic]) {
    if let call = expression.as(FunctionCallExprSyntax.self),
      call.calledExpression.caseName(of: Self.type) == "transformed"
    {
      self = Self.transformer(of: call, &diagnostics)
      return
    }
    switch expression.caseName(of: Self.type) {
    case "default": self = .default
    case "raw": self = .raw
    case "codable": self = .codable
    case "composition": self = .composition
    case "transformed":
      diagnostics.append(Self.noMetatype(expression))
      self = .invalid
    default:
      diagnostics.append(
        .make(
          "storageMethod", at: expression,
          "@Attribute argument `storageMethod` must be written as `.default`, `.raw`, `.codable`, "
            + "`.composition`, `.transformed(Transformer.self)` or `.transformed(name: \"…\")`."))
      self = .invalid
    }
  }

  private static func transformer(
    of call: FunctionCallExprSyntax, _ diagnostics: inout [Diagnostic]
  ) -> StorageMethodArgument {
    guard let argument = call.arguments.first, call.arguments.count == 1,
      argument.label == nil || argument.label?.text == "name"
    else {
      diagnostics.append(noMetatype(ExprSyntax(call)))
      return .invalid
    }
    if argument.label == nil {
      guard let access = argument.expression.as(MemberAccessExprSyntax.self), let base = access.base,
        access.declName.baseName.tokenKind == .keyword(.self)
      else {
        diagnostics.append(noMetatype(argument.expression))
        return .invalid
      }
      return .transformed(name: "\(base.trimmedDescription).transformerName.rawValue")
    }
    guard let name = argument.expression.stringLiteral else {
      diagnostics.append(
        .make(
          "transformerName", at: argument.expression,
          "`.transformed(name: ...)` requires a string literal transformer name; the name becomes part of "
            + "the model, so write it out."))
      return .invalid
    }
    guard !name.isEmpty else {
      diagnostics.append(
        .make(
          "transformerName", at: argument.expression,
          "`.transformed(name: ...)` requires a non-empty transformer name: the one that the transformer is "
            + "registered under."))
      return .invalid
    }
    return .transformed(name: name.quoted)
  }

  private static func noMetatype(_ node: ExprSyntax) -> Diagnostic {
    .make(
      "transformerType", at: node,
      "`.transformed(...)` requires a transformer metatype argument, as in "
        + "`.transformed(ColorTransformer.self)`, or a name, as in `.transformed(name: \"Color\")`.")
  }
}
