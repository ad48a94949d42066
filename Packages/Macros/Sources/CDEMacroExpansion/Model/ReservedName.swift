import SwiftDiagnostics
import SwiftSyntax

/// Names that a type or a property can't have, because generated code could not name it.
enum ReservedName {
  /// The types in a `@PersistentModel` class: those that the macro declares, and those of `PersistentEntity`.
  static let ofModels: Set<String> = ["Handle", "Keys", "PathRoot", "Paths", "Snapshot"]
  /// The types that `@Composition` declares in a structure.
  static let ofCompositions: Set<String> = ["PathRoot", "Paths"]
  /// The types in a `@Model` class: those that the macro declares, and those of `PersistentModel`.
  static let ofSwiftDataModels: Set<String> = ["ID", "Root"]

  /// The error for a type whose name one of its nested types has, which hides it in its own body.
  static func problem(
    _ name: TokenSyntax, in names: Set<String>, what: String, remedy: String
  ) -> Diagnostic? {
    guard names.contains(name.bareName) else { return nil }
    return .make(
      "reservedTypeName", at: name,
      "A \(what) can't be named `\(name.bareName)`, because it gets a nested type of this name, which hides it in its "
        + "own body; \(remedy)")
  }

  /// The error for a property that no key path can name: Swift takes `\Item.Type` for a type, even with backticks.
  ///
  /// - Parameter keeping: how the stored name is kept, as the end of a sentence.
  static func problem(ofProperty name: String, at pattern: PatternSyntax, keeping: String) -> Diagnostic? {
    guard ["Type", "Protocol"].contains(name) else { return nil }
    return .make(
      "unnameableProperty", at: pattern,
      "`\(name)` can't name a persisted property, because Swift reads it as a type after a type's name and has no key "
        + "path to it; name the property otherwise, and keep the stored name with \(keeping).")
  }
}

extension ClassDeclSyntax {
  /// What keeps `@PersistentModel` from making anything of a class that is a managed object. The accessors only stand in
  /// then, so that the compiler does not report what is missing besides.
  var modelRefusal: Diagnostic? {
    if let problem = ReservedName.problem(
      name, in: ReservedName.ofModels, what: "model",
      remedy:
        "name the class otherwise, and keep the entity's name with `entityName: \(name.bareName.quoted)`.")
    {
      return problem
    }
    guard let marker = attributes.first(named: "MainActor") else { return nil }
    return .make(
      "isolatedModel", at: marker,
      "A model belongs to the isolation of its context, which is another one for each object, so its class can't be "
        + "@MainActor; remove it, and isolate the code that uses the objects.",
      fixIts: [.removing("Remove @MainActor", marker)])
  }
}
