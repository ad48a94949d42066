internal import SwiftSyntax

// A cast from one type of fetch request to another fails between Swift's generic classes. An operator does it.
extension RewritingVisitor {
  func rewriteCasts(_ node: SequenceExprSyntax) {
    let elements = Array(node.elements)
    rewriteBridging(elements)
    for (cast, type) in zip(elements, elements.dropFirst()) {
      guard let cast = cast.as(UnresolvedAsExprSyntax.self), let mark = cast.questionOrExclamationMark,
        let type = type.as(TypeExprSyntax.self), isFetchRequest(type.type)
      else { continue }
      edits.replace(cast, with: mark.text == "!" ? "~!>" : "~?>")
      edits.insert(".self", at: type.contentRange.upperBound)
      needsImport = true
    }
  }

  /// Adds `.rawValue` to kinds of file protection that are cast to a class. Apple's Foundation bridges them to their names.
  private func rewriteBridging(_ elements: [ExprSyntax]) {
    for (value, cast) in zip(elements, elements.dropFirst()) {
      guard let cast = cast.as(UnresolvedAsExprSyntax.self), cast.questionOrExclamationMark == nil,
        let member = value.as(MemberAccessExprSyntax.self), member.declName.baseName.text != "rawValue",
        member.base?.trimmedDescription == "FileProtectionType"
      else { continue }
      edits.insert(".rawValue", at: value.contentRange.upperBound)
    }
  }

  private func isFetchRequest(_ type: TypeSyntax) -> Bool {
    if let name = type.as(IdentifierTypeSyntax.self) {
      return name.name.text == "NSFetchRequest" && name.genericArgumentClause != nil
    }
    if let member = type.as(MemberTypeSyntax.self) { return member.name.text == "NSFetchRequest" }
    return false
  }
}
