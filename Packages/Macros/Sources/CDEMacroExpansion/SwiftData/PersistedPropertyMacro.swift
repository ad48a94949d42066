import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_PersistedProperty`: the accessors of one persisted property, and the marker that an initialiser set it.
enum PersistedPropertyMacro: AccessorMacro, PeerMacro {
  static var formatMode: FormatMode { .disabled }

  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let property = property(of: declaration), let type = className(context) else { return [] }
    if !WrittenOutProperty.isInModel(context) {
      if property.observers != nil { context.diagnose(WrittenOutProperty.observed(property)) }
      return WrittenOutProperty.accessors(property)
    }
    let ordinal = "_$Ordinal.\(property.identifier.text)"
    let kind = property.isTransformable ? "Transformable" : ""
    let path = "\\\(type).\(property.identifier.text)"
    let getting = "_$backing.get\(kind)(self, \(ordinal), \(path))"
    let setting = "_$backing.set\(kind)(self, \(ordinal), \(path), newValue)"
    // Changing an array in place does not read all its models again. Observers run in the setter.
    let modify: [AccessorDeclSyntax] =
      property.isArray && property.observers == nil
      ? [
        """
        _modify {
          var models = _$backing.lend(self, \(raw: ordinal), \(raw: path))
          defer { _$backing.takeBack(self, \(raw: ordinal), \(raw: path), models) }
          yield &models
        }
        """
      ] : []
    return [
      """
      @storageRestrictions(accesses: _$backing, initializes: _\(raw: property.name))
      init(initialValue) {
        _$backing.initialize\(raw: kind)(\(raw: ordinal), initialValue)
        _\(raw: property.name) = \(raw: property.markerType)()
      }
      """,
      "get { \(raw: getting) }",
      property.observers?.setter(of: property.name, getting: getting, setting: setting)
        ?? "set { \(raw: setting) }",
    ] + modify
  }

  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let property = property(of: declaration) else {
      if className(context) == nil || !declaration.is(VariableDeclSyntax.self) {
        context.diagnose(
          .make(
            "persistedOutsideModel", at: node,
            "@_PersistedProperty can only be attached to a stored property of a class with @Model."))
      }
      return []
    }
    let type = WrittenOutProperty.isInModel(context) ? property.markerType : "_SwiftDataNoType"
    // A class that an extension declares as `@unchecked Sendable` may have no other mutable property without an isolation.
    return [
      """
      @CDESwiftData.Transient private nonisolated(unsafe) var _\(raw: property.name): \(raw: type)
      // Guard: it has no content.
      """
    ]
  }

  private static func property(of declaration: some DeclSyntaxProtocol) -> SwiftDataProperty? {
    guard let variable = declaration.as(VariableDeclSyntax.self),
      case .persisted(let property) = SwiftDataProperty.role(of: variable)
    else { return nil }
    return property
  }

  private static func className(_ context: some MacroExpansionContext) -> String? {
    context.lexicalContext.first?.as(ClassDeclSyntax.self)?.name.text
  }
}
