import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ModelActor`: an actor that runs on the executor of a model context of its own.
enum SwiftDataActorMacro: MemberMacro, ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard declaration.is(ActorDeclSyntax.self) else {
      context.diagnose(
        .make(
          "notAnActor", at: node, "@ModelActor can only be attached to an actor.",
          fixIts: ActorMacro.declaringActor(declaration)))
      return []
    }
    if let hidden = HiddenType.diagnose(declaration, macro: "ModelActor", in: context) {
      context.diagnose(hidden)
    }
    let access = AccessLevel(of: declaration).prefix
    var members: [DeclSyntax] = [
      "\(raw: access)nonisolated let modelExecutor: any CDESwiftData.ModelExecutor",
      "\(raw: access)nonisolated let modelContainer: CDESwiftData.ModelContainer",
    ]
    let hasOwn = declaration.memberBlock.members.contains { item in
      item.decl.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters.map(\.firstName.text)
        == ["modelContainer"]
    }
    if !hasOwn {
      members.append(
        """
        \(raw: access)init(modelContainer: CDESwiftData.ModelContainer) {
          let modelContext = CDESwiftData.ModelContext(modelContainer)
          self.modelExecutor = CDESwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
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
    guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty,
      HiddenType.diagnose(declaration, macro: "ModelActor", in: context) == nil
    else { return [] }
    return [try ExtensionDeclSyntax("extension \(type.trimmed): CDESwiftData.ModelActor {}")]
  }
}
