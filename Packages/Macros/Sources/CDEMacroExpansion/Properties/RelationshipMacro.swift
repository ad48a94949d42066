import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Relationship`: a marker that `@PersistentModel` reads.
enum RelationshipMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    if let misplaced = PropertyMarker.misplaced(node, on: declaration) {
      context.diagnose(misplaced)
    } else if !context.lexicalContext.isEmpty, AccessorSite(context)?.isModel != true {
      context.diagnose(PropertyMarker.outsideModel(node))
    }
    return []
  }
}

/// The accessors of a relationship; `@PersistentModel` attaches it.
enum RelationshipAccessorsMacro: AccessorMacro {
  static var formatMode: FormatMode { .disabled }

  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    try PropertyMarker.modelAccessors(node, of: declaration, in: context)
  }
}

/// `@Ignore`: a marker that keeps a stored property out of the model.
enum IgnoreMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    if let misplaced = PropertyMarker.misplaced(node, on: declaration) { context.diagnose(misplaced) }
    return []
  }
}

/// What the property macros have in common.
enum PropertyMarker {
  /// The error for a marker on anything but an instance's stored `var`.
  static func misplaced(
    _ node: AttributeSyntax, on declaration: some DeclSyntaxProtocol
  ) -> Diagnostic? {
    let reason: String
    if let variable = declaration.as(VariableDeclSyntax.self) {
      if variable.bindingSpecifier.tokenKind != .keyword(.var) {
        reason = "this is a constant"
      } else if variable.modifiers.contains(.static) || variable.modifiers.contains(.class) {
        reason = "this one belongs to the type"
      } else if variable.modifiers.contains(.lazy) {
        reason = "this one is lazy"
      } else if variable.bindings.contains(where: \.isComputed) {
        reason = "this one is computed"
      } else {
        return nil
      }
    } else {
      reason = "this is no property"
    }
    let name = "@\(node.shortName)"
    return .make(
      "misplacedMarker", at: node,
      "\(name) can only be attached to an instance's stored `var` property; \(reason). Remove \(name).",
      fixIts: [.removing("Remove \(name)", node)])
  }

  static func outsideModel(_ node: AttributeSyntax) -> Diagnostic {
    .make(
      "outsideModel", at: node,
      "@\(node.shortName) can only be used inside @PersistentModel types; mark the class with "
        + "@PersistentModel.")
  }

  /// The accessors of a property in a model class; anywhere else an error.
  static func modelAccessors(
    _ node: AttributeSyntax, of declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let site = AccessorSite(context), site.isModel else {
      context.diagnose(outsideModel(node))
      return refusedAccessors
    }
    guard let variable = declaration.as(VariableDeclSyntax.self),
      let property = PropertyReader(variable).property
    else { return refusedAccessors }
    return property.accessors(at: site)
  }

  /// Accessors of a declaration that has been diagnosed. Without any, the compiler would report their
  /// absence as a second error.
  static var refusedAccessors: [AccessorDeclSyntax] {
    ["get {\n  Swift.fatalError()\n}", "set {\n}"]
  }
}
