import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@NSModelActor`: an actor that runs on the executor of a background context of its own.
enum NSModelActorMacro: MemberMacro, ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard declaration.is(ActorDeclSyntax.self) else {
      context.diagnose(wrongType(declaration, node))
      return []
    }
    let disablesInit = ActorMacro.checkMembers(
      of: declaration, node: node, macro: "NSModelActor", in: context)
    let access = AccessLevel(of: declaration).prefix
    var members: [DeclSyntax] = [
      "\(raw: access)nonisolated let modelExecutor: NSModelObjectContextExecutor",
      "\(raw: access)nonisolated let modelContainer: NSPersistentContainer",
    ]
    if !disablesInit {
      members.append(
        """
        \(raw: access)init(container: NSPersistentContainer) {
          modelExecutor = NSModelObjectContextExecutor(context: container.newBackgroundContext())
          modelContainer = container
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
    guard declaration.is(ActorDeclSyntax.self),
      HiddenType.diagnose(declaration, macro: "NSModelActor", in: context) == nil
    else { return [] }
    var ignored: [Diagnostic] = []
    let disablesInit = ActorMacro.disablesInit(node, macro: "NSModelActor", diagnostics: &ignored)
    return try Conformances(missing: protocols).extensions(
      of: type, ["NSModelActor"] + (disablesInit ? [] : ["_NSModelActorInitializable"]),
      isNonisolated: false)
  }

  private static func wrongType(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax
  ) -> Diagnostic {
    var fixIts = ActorMacro.declaringActor(declaration)
    if declaration.is(ClassDeclSyntax.self) {
      fixIts.append(.replacing("Use @NSMainModelActor", node.attributeName, with: "NSMainModelActor"))
    }
    return .make(
      "notAnActor", at: node,
      "@NSModelActor can only be attached to an actor declaration; a class on the main actor uses "
        + "@NSMainModelActor.", fixIts: fixIts)
  }
}
