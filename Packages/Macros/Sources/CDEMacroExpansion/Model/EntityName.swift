import SwiftDiagnostics
import SwiftSyntax

/// Where a model's entity name comes from: the `entityName` argument, `@objc(Name)` (also inside
/// `#if canImport(ObjectiveC)`), `@_objcRuntimeName(Name)`, and else the class name.
enum EntityName {
  static func read(
    _ declaration: ClassDeclSyntax, options: ModelOptions, marker: AttributeSyntax,
    diagnostics: inout [Diagnostic]
  ) -> String {
    let className = declaration.name.bareName
    var found: String?
    for (attribute, isConditional) in declaration.attributes.withConditions
    where ["objc", "_objcRuntimeName"].contains(attribute.shortName) {
      let name = attribute.arguments?.trimmedDescription ?? ""
      if name.isPersistentName, found == nil { found = name }
      if attribute.shortName == "objc", !isConditional {
        diagnostics += unusable(attribute, name: name, className: className, options, marker)
      }
    }
    return options.entityName ?? found ?? className
  }

  private static func unusable(
    _ attribute: AttributeSyntax, name: String, className: String, _ options: ModelOptions,
    _ marker: AttributeSyntax
  ) -> [Diagnostic] {
    #if canImport(ObjectiveC)
      return []
    #else
      // The compiler rejects the attribute by itself; the warning says what to write instead.
      var fixIts: [FixIt] = []
      if name == className || name.isEmpty || options.entityName != nil {
        fixIts.append(.removing("Remove @\(attribute.trimmedDescription.dropFirst())", attribute))
      } else {
        fixIts.append(.replacing("Use @_objcRuntimeName", attribute, with: "@_objcRuntimeName(\(name))"))
      }
      fixIts.append(
        .replacing(
          "Keep it for platforms with Objective-C", attribute,
          with: "#if canImport(ObjectiveC)\n\(attribute.trimmedDescription)\n#endif\n"))
      let label = "entityName: \(name.isEmpty ? "\"…\"" : name.quoted)"
      return [
        .make(
          "objc", .warning, at: attribute,
          "@objc does not compile on this platform, and @PersistentModel does not need it: the entity "
            + "is named after the class. Remove it; a different entity name is set by "
            + "`@PersistentModel(\(label))`.", fixIts: fixIts)
      ]
    #endif
  }
}
