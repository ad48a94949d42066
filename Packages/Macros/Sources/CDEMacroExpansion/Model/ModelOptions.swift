import SwiftDiagnostics
import SwiftSyntax

/// The arguments of one `@PersistentModel`.
struct ModelOptions {
  static let labels = ["generateInit", "generateToManyCount", "observation", "entityName", "isAbstract"]

  var generateInit = false
  var generateToManyCount = true
  var isObserved = false
  var entityName: String?
  var isAbstract = false

  /// Reads the arguments; what is wrong with them goes into `diagnostics`.
  init(_ attribute: AttributeSyntax, diagnostics: inout [Diagnostic]) {
    diagnostics += attribute.unknownLabels(macro: "PersistentModel", known: Self.labels)
    generateInit = Self.boolean("generateInit", attribute, &diagnostics) ?? false
    generateToManyCount = Self.boolean("generateToManyCount", attribute, &diagnostics) ?? true
    isAbstract = Self.boolean("isAbstract", attribute, &diagnostics) ?? false
    if let observation = attribute.argument("observation") {
      switch observation.caseName(of: "PersistentModelObservationMode") {
      case "none": break
      case "mainActor": isObserved = true
      default:
        diagnostics.append(
          .make(
            "observation", at: observation,
            "@PersistentModel argument `observation` must be `.none` or `.mainActor`.",
            fixIts: [
              .replacing("Use `.mainActor`", observation, with: ".mainActor"),
              .replacing("Use `.none`", observation, with: ".none"),
            ]))
      }
    }
    readEntityName(attribute, &diagnostics)
  }

  private mutating func readEntityName(
    _ attribute: AttributeSyntax, _ diagnostics: inout [Diagnostic]
  ) {
    guard let expression = attribute.argument("entityName"), !expression.isNilLiteral else { return }
    guard let name = expression.stringLiteral, name.isPersistentName else {
      diagnostics.append(
        .make(
          "entityName", at: expression,
          "@PersistentModel argument `entityName` must be a string literal that is a valid entity name: "
            + "a letter or underscore, then letters, digits or underscores."))
      return
    }
    entityName = name
  }

  private static func boolean(
    _ label: String, _ attribute: AttributeSyntax, _ diagnostics: inout [Diagnostic]
  ) -> Bool? {
    guard let expression = attribute.argument(label) else { return nil }
    guard let value = expression.booleanLiteral else {
      diagnostics.append(
        .make(
          "booleanLiteral", at: expression,
          "@PersistentModel argument `\(label)` must be the literal `true` or `false`."))
      return nil
    }
    return value
  }
}
