import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// A property with `@_PersistedProperty` of a class whose members are written by hand, in the form of SwiftData's own expansion.
enum WrittenOutProperty {
  /// Whether the class around a property has its members from `@Model`, and not by hand.
  static func isInModel(_ context: some MacroExpansionContext) -> Bool {
    context.lexicalContext.first?.as(ClassDeclSyntax.self)?.attributes.contains(named: "Model") == true
  }

  static func observed(_ property: SwiftDataProperty) -> Diagnostic {
    .make(
      "persistedObservers", at: property.identifier,
      "`\(property.name)` has observers, which @_PersistedProperty runs in a class with @Model only; attach @Model, or let a "
        + "computed property do their work.")
  }

  static func accessors(_ property: SwiftDataProperty) -> [AccessorDeclSyntax] {
    let (name, identifier) = (property.name, property.identifier.text)
    let kind = property.isTransformable ? "TransformableValue" : "Value"
    return [
      """
      @storageRestrictions(accesses: _$backingData, initializes: _\(raw: name))
      init(initialValue) {
        _$backingData.set\(raw: kind)(forKey: \\.\(raw: identifier), to: initialValue)
        _\(raw: name) = _SwiftDataNoType()
      }
      """,
      """
      get {
        _$observationRegistrar.access(self, keyPath: \\.\(raw: identifier))
        return self.get\(raw: kind)(forKey: \\.\(raw: identifier))
      }
      """,
      """
      set {
        _$observationRegistrar.withMutation(of: self, keyPath: \\.\(raw: identifier)) {
          self.set\(raw: kind)(forKey: \\.\(raw: identifier), to: newValue)
        }
      }
      """,
    ]
  }
}
