import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A marker that `@Model` reads and that adds nothing itself.
enum SwiftDataMarker {
  /// The error for a marker whose declaration is no property of a class.
  static func misplaced(
    _ node: AttributeSyntax, on declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) -> Diagnostic? {
    let isProperty = declaration.as(VariableDeclSyntax.self).map { !$0.bindings.allSatisfy(\.isComputed) }
    if isProperty == true, context.lexicalContext.first?.is(ClassDeclSyntax.self) == true { return nil }
    return .make(
      "misplacedMarker", at: node,
      "@\(node.shortName) can only be attached to a stored property of a class with @Model.",
      fixIts: [.removing("Remove @\(node.shortName)", node)])
  }
}

/// `@Attribute` and `@Relationship` of a `@Model` class.
enum SwiftDataPropertyMarkerMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    if let problem = SwiftDataMarker.misplaced(node, on: declaration, in: context) {
      context.diagnose(problem)
    }
    return []
  }
}

/// `@Transient`: the property is stored in the instance only.
enum TransientMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}

/// `#Unique` and `#Index`: read by `@Model` of the class around them.
enum SwiftDataConstraintMacro: DeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    if context.lexicalContext.first?.as(ClassDeclSyntax.self)?.attributes.contains(named: "Model") != true {
      context.diagnose(
        .make(
          "constraintOutsideModel", at: node,
          "#\(node.macroName.text) stands in the body of a class with @Model."))
    }
    return []
  }
}
