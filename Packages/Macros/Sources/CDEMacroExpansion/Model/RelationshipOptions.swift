import SwiftDiagnostics
import SwiftSyntax

/// The arguments of one `@Relationship`.
struct RelationshipOptions {
  var persistentName: String?
  var inverse = ""
  var deleteRule = "nullify"
  var minimumCount: Int?
  var maximumCount: Int?

  private static let labels = [
    "persistentName", "inverse", "deleteRule", "minimumModelCount", "maximumModelCount",
  ]

  /// Reads the arguments; what is wrong with them goes into `diagnostics`.
  init(_ attribute: AttributeSyntax, diagnostics: inout [Diagnostic]) {
    diagnostics += attribute.unknownLabels(macro: "Relationship", known: Self.labels)
    persistentName = PersistentName.read(
      attribute, macro: "Relationship", subject: "relationship", diagnostics: &diagnostics)
    readInverse(attribute, &diagnostics)
    readDeleteRule(attribute, &diagnostics)
    minimumCount = count("minimumModelCount", attribute, &diagnostics)
    maximumCount = count("maximumModelCount", attribute, &diagnostics)
    // Zero as a maximum means "no limit" in Core Data.
    if let minimumCount, let maximumCount, maximumCount > 0, minimumCount > maximumCount,
      let expression = attribute.argument("minimumModelCount")
    {
      diagnostics.append(
        .make(
          "relationshipCounts", at: expression,
          "@Relationship argument `minimumModelCount` must not exceed `maximumModelCount`."))
    }
  }

  private mutating func readInverse(_ attribute: AttributeSyntax, _ diagnostics: inout [Diagnostic]) {
    guard let expression = attribute.argument("inverse") else {
      diagnostics.append(
        .make(
          "relationshipInverse", at: attribute,
          "@Relationship requires `inverse:`, the persistent name of the property on the other side.",
          fixIts: [attribute.adding("inverse: \"<#inverse#>\"", order: Self.labels)]))
      return
    }
    guard let name = expression.stringLiteral, name.isPersistentName else {
      diagnostics.append(
        .make(
          "relationshipInverse", at: expression,
          "@Relationship argument `inverse` must be a string literal: the persistent name of the "
            + "property on the other side."))
      return
    }
    inverse = name
  }

  private mutating func readDeleteRule(
    _ attribute: AttributeSyntax, _ diagnostics: inout [Diagnostic]
  ) {
    guard let expression = attribute.argument("deleteRule") else {
      diagnostics.append(
        .make(
          "relationshipDeleteRule", at: attribute,
          "@Relationship requires `deleteRule:`; say what deleting this object does to the objects "
            + "it points to: `.nullify`, `.cascade` or `.deny`.",
          fixIts: [attribute.adding("deleteRule: .nullify", order: Self.labels)]))
      return
    }
    switch expression.caseName(of: "RelationshipDeleteRule") {
    case let rule? where ["nullify", "cascade", "deny"].contains(rule): deleteRule = rule
    case "noAction":
      diagnostics.append(
        .make(
          "relationshipNoAction", at: expression,
          "@Relationship does not support `deleteRule: .noAction`, which leaves references to deleted "
            + "objects behind; use `.nullify`, `.cascade` or `.deny`.",
          fixIts: [.replacing("Use `.nullify`", expression, with: ".nullify")]))
    default:
      diagnostics.append(
        .make(
          "relationshipDeleteRule", at: expression,
          "@Relationship argument `deleteRule` must be written as `.nullify`, `.cascade` or `.deny`.",
          fixIts: [.replacing("Use `.nullify`", expression, with: ".nullify")]))
    }
  }

  private func count(
    _ label: String, _ attribute: AttributeSyntax, _ diagnostics: inout [Diagnostic]
  ) -> Int? {
    guard let expression = attribute.argument(label), !expression.isNilLiteral else { return nil }
    guard let count = expression.countLiteral else {
      diagnostics.append(
        .make(
          "relationshipCount", at: expression,
          "@Relationship requires `\(label):` to be a non-negative integer literal."))
      return nil
    }
    return count
  }
}
