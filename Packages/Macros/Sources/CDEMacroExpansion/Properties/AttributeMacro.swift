import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Attribute`: the accessors of an attribute, and every complaint about its declaration.
enum AttributeMacro: AccessorMacro, PeerMacro {
  static var formatMode: FormatMode { .disabled }

  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self) else { return [] }
    guard let site = AccessorSite(context), let property = PropertyReader(variable).property else {
      return PropertyMarker.misplaced(node, on: declaration) == nil ? PropertyMarker.refusedAccessors : []
    }
    return property.accessors(at: site)
  }

  /// Adds nothing. Diagnostics come from here, because the compiler expands peers of every
  /// declaration, also of those that cannot have accessors.
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    if let misplaced = PropertyMarker.misplaced(node, on: declaration) {
      context.diagnose(misplaced)
      return []
    }
    guard let variable = declaration.as(VariableDeclSyntax.self) else { return [] }
    let reader = PropertyReader(variable)
    context.diagnose(all: reader.attributeDiagnostics)
    guard let site = AccessorSite(context) else {
      if !context.lexicalContext.isEmpty {
        context.diagnose(
          .make(
            "attributeOutsideClass", at: node,
            "@Attribute can only be attached to a property of a class that inherits from "
              + "NSManagedObject.", fixIts: [.removing("Remove @Attribute", node)]))
      }
      return []
    }
    // Within a model these are the model macro's to report.
    if !site.isModel { context.diagnose(all: reader.diagnostics) }
    return []
  }
}

/// The accessors of an attribute that carries no `@Attribute` of its own.
enum DefaultAttributeMacro: AccessorMacro {
  static var formatMode: FormatMode { .disabled }

  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    try PropertyMarker.modelAccessors(node, of: declaration, in: context)
  }
}
