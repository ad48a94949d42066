import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@NSMainModelActor`: a class on the main actor that works with its container's view context.
enum NSMainModelActorMacro: MemberMacro, ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard declaration.is(ClassDeclSyntax.self) else {
      context.diagnose(wrongType(declaration, node))
      return []
    }
    let disablesInit = ActorMacro.checkMembers(
      of: declaration, node: node, macro: "NSMainModelActor", in: context)
    let access = AccessLevel(of: declaration).prefix
    var members: [DeclSyntax] = ["\(raw: access)let modelContainer: NSPersistentContainer"]
    if !disablesInit {
      members.append(
        """
        \(raw: access)init(modelContainer: NSPersistentContainer) {
          self.modelContainer = modelContainer
        }
        """)
    }
    return members
  }

  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(ClassDeclSyntax.self),
      HiddenType.diagnose(declaration, macro: "NSMainModelActor", in: context) == nil
    else { return [] }
    return try Conformances(missing: protocols).extensions(
      of: type, ["NSMainModelActor"], isNonisolated: false)
  }

  private static func wrongType(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax
  ) -> Diagnostic {
    var fixIts: [FixIt] = []
    if declaration.is(ActorDeclSyntax.self) {
      fixIts = [.replacing("Use @NSModelActor", node.attributeName, with: "NSModelActor")]
    } else if let type = declaration.as(StructDeclSyntax.self) {
      fixIts = [.replacing("Declare a class", type.structKeyword, with: "final class")]
    }
    return .make(
      "notAClass", at: node,
      "@NSMainModelActor can only be attached to a class declaration; an actor uses @NSModelActor.",
      fixIts: fixIts)
  }
}
