import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What both actor macros have in common.
enum ActorMacro {
  private static let label = "disableGenerateInit"

  /// Reports what stands in the way of the members, and tells whether to leave the initialiser out.
  static func checkMembers(
    of declaration: some DeclGroupSyntax, node: AttributeSyntax, macro: String,
    in context: some MacroExpansionContext
  ) -> Bool {
    var diagnostics: [Diagnostic] = []
    let leavesOut = disablesInit(node, macro: macro, diagnostics: &diagnostics)
    if !leavesOut { diagnostics += unfilledProperties(declaration, node: node, macro: macro) }
    if let hidden = HiddenType.diagnose(declaration, macro: macro, in: context) { diagnostics.append(hidden) }
    context.diagnose(all: diagnostics)
    return leavesOut
  }

  /// The fix-it that makes another declaration an actor; none for one that is neither a class nor a structure.
  static func declaringActor(_ declaration: some DeclGroupSyntax) -> [FixIt] {
    if let type = declaration.as(ClassDeclSyntax.self) {
      var changes: [(node: Syntax, text: String)] = [(Syntax(type.classKeyword), "actor")]
      if let modifier = type.modifiers.first(where: {
        $0.name.tokenKind == .keyword(.final) || $0.name.tokenKind == .keyword(.open)
      }) {
        changes.append((Syntax(modifier), modifier.name.text == "open" ? "public" : ""))
      }
      return [.replacingAll("Declare an actor", changes)]
    }
    return declaration.as(StructDeclSyntax.self).map {
      [.replacing("Declare an actor", $0.structKeyword, with: "actor")]
    } ?? []
  }

  /// The `disableGenerateInit` argument; what is wrong with the arguments goes into `diagnostics`.
  static func disablesInit(
    _ node: AttributeSyntax, macro: String, diagnostics: inout [Diagnostic]
  ) -> Bool {
    diagnostics += node.unknownLabels(macro: macro, known: [label])
    guard let expression = node.argument(label) else { return false }
    guard let value = expression.booleanLiteral else {
      diagnostics.append(
        .make(
          "booleanLiteral", at: expression,
          "@\(macro) argument `\(label)` must be the literal `true` or `false`."))
      return false
    }
    return value
  }

  /// One error for each stored property that the generated initialiser cannot fill.
  private static func unfilledProperties(
    _ declaration: some DeclGroupSyntax, node: AttributeSyntax, macro: String
  ) -> [Diagnostic] {
    declaration.memberBlock.members.flatMap { member -> [Diagnostic] in
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { return [] }
      // An array: a filtered syntax collection is a new tree, and its nodes have no place in the source.
      return Array(variable.bindings).filter { $0.needsInitialValue(in: variable) }.map { binding in
        .make(
          "unfilledProperty", at: binding.pattern,
          "The initialiser that @\(macro) generates cannot fill "
            + "`\(binding.pattern.trimmedDescription)`; give it a default value, or pass "
            + "`\(label): true` and write the initialiser.",
          fixIts: [node.adding("\(label): true", order: [label])])
      }
    }
  }
}

extension PatternBindingSyntax {
  fileprivate func needsInitialValue(in variable: VariableDeclSyntax) -> Bool {
    guard initializer == nil, !isComputed, !variable.modifiers.contains(.static),
      !variable.modifiers.contains(.class), !variable.modifiers.contains(.lazy),
      // A property wrapper or macro may well bring a value of its own.
      variable.attributes.isEmpty
    else { return false }
    guard let type = typeAnnotation?.type else {
      // `let a, b: T`: the type stands with a later name.
      return variable.bindingSpecifier.tokenKind == .keyword(.let)
    }
    return variable.bindingSpecifier.tokenKind == .keyword(.let) || !TypeShape(type).isOptional
  }
}
