internal import SwiftSyntax

// Core Data's classes belong to no actor, and this package says so of its own, so that subclasses stay free of a target's default isolation. The
// compiler then takes a lazy variable of a subclass that is `Sendable` for one without isolation, and refuses it; with `nonisolated(unsafe)` it
// warns that the words have no effect.
extension RewritingVisitor {
  /// Remembers the lazy variables of a class that crosses isolations.
  ///
  /// - Parameter isKnown: whether the class certainly inherits from one of this package.
  func freeLazyVariables(of node: ClassDeclSyntax, isKnown: Bool) {
    guard node.attributes.first(named: "MainActor") == nil else { return }
    collectLazyVariables(node.memberBlock.members, isKnown)
  }

  private func collectLazyVariables(_ members: MemberBlockItemListSyntax, _ isKnown: Bool) {
    for member in members {
      if let condition = member.decl.as(IfConfigDeclSyntax.self) {
        for clause in condition.clauses {
          if case .decls(let inner)? = clause.elements { collectLazyVariables(inner, isKnown) }
        }
      }
      guard let variable = member.decl.as(VariableDeclSyntax.self), variable.lazyWord != nil,
        !variable.modifiers.contains(where: { $0.name.text == "nonisolated" }),
        variable.attributes.first(named: "MainActor") == nil
      else { continue }
      lazyVariables[variable.id] = isKnown
    }
  }

  /// Turns a lazy variable into a computed one and a stored one that keeps the value.
  ///
  /// Called after the edits inside the variable, which come first where both meet.
  func rewriteLazyVariable(_ node: VariableDeclSyntax) {
    guard let isKnown = lazyVariables.removeValue(forKey: node.id), let word = node.lazyWord else { return }
    guard node.bindings.count == 1, let binding = node.bindings.first, binding.accessorBlock == nil,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.filter({ $0 != "`" }),
      let initial = binding.initializer, let type = type(of: binding, initial.value)
    else {
      // The type is the compiler's to find, so the variable stays lazy.
      if isKnown { edits.insert("nonisolated(unsafe) ", at: word.contentRange.lowerBound) }
      return
    }
    edits.remove(word, in: bytes)
    if binding.typeAnnotation == nil {
      edits.insert(": \(type)", at: binding.pattern.contentRange.upperBound)
    }
    edits.replace(
      initial.equal,
      with: "{ get { _cdKept_\(name).value } _modify { yield &_cdKept_\(name).value } }; "
        + "private var _cdKept_\(name): _CDLazyValue<\(type)> { if let kept = _cdLazy_\(name) { return kept }; let _cdMade: \(type) ="
    )
    edits.insert(
      "; let kept = _CDLazyValue(_cdMade); _cdLazy_\(name) = kept; return kept }; "
        + "private var _cdLazy_\(name): _CDLazyValue<\(type)>?",
      at: initial.value.contentRange.upperBound)
    needsImport = true
  }

  /// The type of a variable as rewritten sources spell it, if the source tells it.
  private func type(of binding: PatternBindingSyntax, _ value: ExprSyntax) -> String? {
    guard let type = binding.typeAnnotation?.type else { return evidentType(of: value) }
    let words = type.tokens(viewMode: .sourceAccurate).map(\.text)
    guard !type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self), !words.contains("some"),
      !words.contains("Self")
    else { return nil }
    var text = ""
    for token in type.tokens(viewMode: .sourceAccurate) {
      let isQualified = text.hasSuffix(".")
      if !isQualified, QualifiedNames.all.contains(token.text) {
        text += "CDECoreData."
      }
      text += isQualified ? token.text : replacement(ofModule: token.text) ?? token.text
      if !token.trailingTrivia.isEmpty, token.id != type.lastToken(viewMode: .sourceAccurate)?.id {
        text += " "
      }
    }
    return text
  }

  /// The type of a literal, or of the call of a type without arguments.
  private func evidentType(of value: ExprSyntax) -> String? {
    switch value.kind {
    case .integerLiteralExpr: return "Int"
    case .floatLiteralExpr: return "Double"
    case .booleanLiteralExpr: return "Bool"
    case .stringLiteralExpr: return "String"
    default: break
    }
    guard let call = value.as(FunctionCallExprSyntax.self), call.arguments.isEmpty,
      call.trailingClosure == nil
    else { return nil }
    let called = call.calledExpression
    let name = called.as(GenericSpecializationExprSyntax.self)?.expression ?? called
    let isType =
      name.as(DeclReferenceExprSyntax.self)?.baseName.text.first?.isUppercase == true
      || called.is(ArrayExprSyntax.self) || called.is(DictionaryExprSyntax.self)
    return isType ? called.trimmedDescription : nil
  }
}

extension VariableDeclSyntax {
  fileprivate var lazyWord: DeclModifierSyntax? { modifiers.first { $0.name.text == "lazy" } }
}
