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
    if let type = declaration.as(ClassDeclSyntax.self), !type.attributes.contains(named: "MainActor") {
      context.diagnose(unmarked(type))
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

  /// A warning only: in a module that defaults to the main actor, which no macro can see, nothing is wrong.
  private static func unmarked(_ type: ClassDeclSyntax) -> Diagnostic {
    .make(
      "notOnMainActor", .warning, at: type.name,
      "`\(type.name.bareName)` works with the view context, which is the main actor's, but is not marked "
        + "@MainActor, so its own members may run elsewhere; mark it (in a module that defaults to the main "
        + "actor that says the same).",
      fixIts: [.inserting("Mark it with @MainActor", "@MainActor ", before: type)])
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
