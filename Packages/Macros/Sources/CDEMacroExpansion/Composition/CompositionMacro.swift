import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Composition`: a struct whose fields are the parts of one attribute.
///
/// As with models, only the member role reports what is wrong.
enum CompositionMacro {
  static var formatMode: FormatMode { .disabled }

  static let protocols = [
    "CDCompositionValueCodable", "CoreDataPathDSLProviding", "CDRuntimeCompositionSchemaProviding",
  ]
}

extension CompositionMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    var diagnostics: [Diagnostic] = []
    if let hidden = HiddenType.diagnose(declaration, macro: "Composition", in: context) {
      diagnostics.append(hidden)
    }
    let composition = CompositionDeclaration(declaration, marker: node, diagnostics: &diagnostics)
    context.diagnose(all: diagnostics)
    guard let composition else { return [] }
    return CompositionMembers(composition: composition).declarations
  }
}

extension CompositionMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    var ignored: [Diagnostic] = []
    guard CompositionDeclaration(declaration, marker: node, diagnostics: &ignored) != nil,
      HiddenType.diagnose(declaration, macro: "Composition", in: context) == nil
    else { return [] }
    return try Conformances(missing: protocols).extensions(of: type, Self.protocols)
  }
}

/// `@CompositionField`: a marker that `@Composition` reads.
enum CompositionFieldMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self), variable.isInstanceVariable else {
      context.diagnose(
        .make(
          "misplacedField", at: node,
          "@CompositionField can only be attached to a `var` property declaration: a stored one of an "
            + "instance. Remove @CompositionField.",
          fixIts: [.removing("Remove @CompositionField", node)]))
      return []
    }
    if !context.lexicalContext.isEmpty,
      context.lexicalContext.first?.as(StructDeclSyntax.self)?.attributes.contains(named: "Composition")
        != true
    {
      context.diagnose(
        .make(
          "fieldOutsideComposition", at: node,
          "@CompositionField can only be used inside @Composition structs; mark the struct with "
            + "@Composition, or remove @CompositionField.",
          fixIts: [.removing("Remove @CompositionField", node)]))
    }
    var diagnostics = node.unknownLabels(macro: "CompositionField", known: ["persistentName"])
    _ = PersistentName.read(node, macro: "CompositionField", subject: "attribute", diagnostics: &diagnostics)
    context.diagnose(all: diagnostics)
    return []
  }
}
