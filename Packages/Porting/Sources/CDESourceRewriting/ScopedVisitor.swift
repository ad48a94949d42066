internal import SwiftSyntax

/// A visitor that knows the names of the types around it. A subclass enters classes and extensions itself.
class ScopedVisitor: SyntaxVisitor {
  final var scope = TypeScope()

  override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
    scope.enter(node.name.text)
    return .visitChildren
  }
  override func visitPost(_ node: StructDeclSyntax) { scope.leave() }

  override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
    scope.enter(node.name.text)
    return .visitChildren
  }
  override func visitPost(_ node: EnumDeclSyntax) { scope.leave() }

  override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
    scope.enter(node.name.text)
    return .visitChildren
  }
  override func visitPost(_ node: ActorDeclSyntax) { scope.leave() }

  override func visitPost(_ node: ClassDeclSyntax) { scope.leave() }
  override func visitPost(_ node: ExtensionDeclSyntax) { scope.leave() }
}
