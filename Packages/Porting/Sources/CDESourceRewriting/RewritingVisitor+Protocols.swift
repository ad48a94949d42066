internal import SwiftSyntax

// Protocols of Objective-C: their requirements may be optional, and only classes conform to them.
extension RewritingVisitor {
  func rewriteProtocol(_ node: ProtocolDeclSyntax) {
    guard node.attributes.first(named: "objc") != nil else { return }
    restrictToClasses(node)
    let isPublic = node.modifiers.contains { ["public", "open"].contains($0.name.text) }
    var defaults: [String] = []
    for member in node.memberBlock.members {
      let modifiers = member.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers ?? []
      guard let modifier = modifiers.first(where: { $0.name.text == "optional" }) else { continue }
      edits.remove(modifier, in: bytes)
      guard let body = defaultImplementation(of: member.decl) else {
        report(
          .error, at: member.decl,
          "An optional requirement must return nothing or an optional value here, because Swift's protocols have "
            + "none: give the protocol an extension with a default implementation.")
        continue
      }
      defaults.append((isPublic ? "public " : "") + body)
    }
    guard !defaults.isEmpty else { return }
    edits.insert(
      "; extension \(node.name.text) { \(defaults.joined(separator: "; ")) }",
      at: node.contentRange.upperBound
    )
  }

  private func restrictToClasses(_ node: ProtocolDeclSyntax) {
    guard let clause = node.inheritanceClause else {
      edits.insert(": AnyObject", at: node.name.contentRange.upperBound)
      return
    }
    let classes: Set<String> = ["AnyObject", "NSObjectProtocol", "class"]
    if !clause.inheritedTypes.contains(where: { classes.contains($0.type.trimmedDescription) }) {
      edits.insert(" AnyObject,", at: clause.colon.contentRange.upperBound)
    }
  }

  private func defaultImplementation(of declaration: DeclSyntax) -> String? {
    if let function = declaration.as(FunctionDeclSyntax.self) {
      let result = function.signature.returnClause?.type.trimmedDescription ?? "Void"
      guard let body = defaultBody(of: result) else { return nil }
      let generics = function.genericParameterClause?.trimmedDescription ?? ""
      return oneLine(
        "func \(function.name.text)\(generics)\(function.signature.trimmedDescription) { \(body) }")
    }
    if let variable = declaration.as(VariableDeclSyntax.self), let binding = variable.bindings.first,
      let type = binding.typeAnnotation?.type.trimmedDescription, let body = defaultBody(of: type)
    {
      let settable = binding.accessorBlock?.trimmedDescription.contains("set") == true
      let accessors = settable ? "get { \(body) } set {}" : body
      return oneLine("var \(binding.pattern.trimmedDescription): \(type) { \(accessors) }")
    }
    return nil
  }

  private func defaultBody(of type: String) -> String? {
    if ["Void", "()"].contains(type) { return "" }
    return type.hasSuffix("?") || type.hasSuffix("!") ? "nil" : nil
  }

  private func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// `delegate.changed?(x)` calls a requirement that is optional no more.
  func rewriteOptionalCall(_ node: FunctionCallExprSyntax) {
    guard let chain = node.calledExpression.as(OptionalChainingExprSyntax.self),
      let member = chain.expression.as(MemberAccessExprSyntax.self),
      index.optionalMembers.contains(member.declName.baseName.text)
    else { return }
    edits.replace(chain.questionMark, with: "")
  }

}
