internal import SwiftSyntax

// `observeValue(forKeyPath:of:change:context:)`, which overrides a function of `NSObject` on Apple's platforms.
extension RewritingVisitor {
  static func isObserving(_ node: FunctionDeclSyntax) -> Bool {
    node.name.text == "observeValue"
      && node.signature.parameterClause.parameters.map(\.firstName.text)
        == ["forKeyPath", "of", "change", "context"]
  }

  /// The topmost class that has the function conforms to a protocol instead of overriding.
  func rewriteObserver(_ node: ClassDeclSyntax) {
    guard
      let function = node.memberBlock.members.lazy.compactMap({ $0.decl.as(FunctionDeclSyntax.self) }).first(
        where: Self.isObserving),
      let override = function.modifiers.first(where: { $0.name.text == "override" }),
      let parents = index.lineage(of: scope.name)?.names.dropFirst(),
      !parents.contains(where: { index.classes[$0]?.isObserving == true })
    else { return }
    edits.remove(override, in: bytes)
    needsImport = true
    if let clause = node.inheritanceClause {
      edits.insert(", _CDKeyValueObserver", at: clause.contentRange.upperBound)
    }
  }
}
