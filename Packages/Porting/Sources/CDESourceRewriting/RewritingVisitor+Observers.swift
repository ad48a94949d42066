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

  /// An extension with the function conforms to the protocol.
  func rewriteObserver(_ function: FunctionDeclSyntax, in node: ExtensionDeclSyntax) {
    guard let override = function.modifiers.first(where: { $0.name.text == "override" }) else { return }
    edits.remove(override, in: bytes)
    needsImport = true
    if let clause = node.inheritanceClause {
      edits.insert(", _CDKeyValueObserver", at: clause.contentRange.upperBound)
    } else {
      edits.insert(": _CDKeyValueObserver", at: node.extendedType.contentRange.upperBound)
    }
  }

  /// Writes the keys beside a key path over several properties, because Swift does not tell them on Linux.
  func rewriteObserving(_ node: FunctionCallExprSyntax) {
    let called =
      node.calledExpression.as(MemberAccessExprSyntax.self)?.declName
      ?? node.calledExpression.as(DeclReferenceExprSyntax.self)
    guard let argument = node.arguments.first,
      called?.baseName.text == "observe" && argument.label == nil
        || called?.baseName.text == "publisher" && argument.label?.text == "for",
      let path = argument.expression.as(KeyPathExprSyntax.self)
    else { return }
    writeKeys(of: path)
  }

  /// The same for the arguments of sort descriptors and expressions.
  func rewriteNamedArguments(_ node: FunctionCallExprSyntax) {
    for argument in node.arguments where ["keyPath", "forKeyPath"].contains(argument.label?.text) {
      guard let path = argument.expression.as(KeyPathExprSyntax.self), let root = path.root,
        index.fullName(of: root.trimmedDescription) != nil
          // A class of another target; its properties have the keys that they are written with.
          || ["NSSortDescriptor", "NSExpression"].contains(node.calledExpression.trimmedDescription)
      else { continue }
      writeKeys(of: path)
    }
  }

  /// The same for a key path that is compared, as libraries of typed predicates do, or whose member is used: `(\A.b.c).contains(x)`.
  func rewriteComparedPath(_ path: KeyPathExprSyntax) {
    // A class of another target has the keys that are written, as above. A root that is left out is one of them, too.
    if let root = path.root, index.fullName(of: root.trimmedDescription) == nil,
      root.trimmedDescription.first?.isUppercase != true
    {
      return
    }
    if let list = path.parent?.as(ExprListSyntax.self) {
      let elements = Array(list)
      guard let place = elements.firstIndex(where: { $0.id == ExprSyntax(path).id }) else { return }
      let beside = [place - 1, place + 1].filter(elements.indices.contains).compactMap {
        elements[$0].as(BinaryOperatorExprSyntax.self)?.operator.text
      }
      if beside.contains(where: { ["==", "!=", "<", ">", "<=", ">=", "~="].contains($0) }) {
        writeKeys(of: path)
      }
    } else if let tuple = path.parent?.parent?.parent?.as(TupleExprSyntax.self), tuple.elements.count == 1,
      tuple.parent?.is(MemberAccessExprSyntax.self) == true
    {
      writeKeys(of: path)
    }
  }

  private func writeKeys(of path: KeyPathExprSyntax) {
    guard let names = names(of: path), names.count > 1 else { return }
    var type = path.root.flatMap { index.fullName(of: $0.trimmedDescription) }
    var keys: [String] = []
    for (place, name) in names.enumerated() {
      let property = type.flatMap { index.property(name, of: $0) }
      keys.append(property?.key ?? name)
      // Key-value coding does not lead into values.
      if let property, place + 1 < names.count, Self.isValue(property.type) { return }
      type = property.flatMap { index.fullName(of: $0.type.filter { !"?! ".contains($0) }) }
    }
    needsImport = true
    edits.insert("_cdNamed(", at: path.contentRange.lowerBound)
    edits.insert(", \"\(keys.joined(separator: "."))\")", at: path.contentRange.upperBound)
  }

  /// Whether a written type is one of Swift's values, which have no keys.
  private static func isValue(_ type: String) -> Bool {
    let name = type.filter { !"?! ".contains($0) }
    return ["Set<", "Array<", "Dictionary<", "["].contains(where: name.hasPrefix)
      || [
        "String", "Int", "Int16", "Int32", "Int64", "Double", "Float", "Bool", "Date", "Data", "URL", "UUID",
        "Decimal",
      ].contains(name)
  }

  /// The names in a key path of properties; nil for one with subscripts and the like.
  private func names(of path: KeyPathExprSyntax) -> [String]? {
    var names: [String] = []
    for component in path.components {
      switch component.component {
      case .property(let property): names.append(property.declName.baseName.text.filter { $0 != "`" })
      case .optional: continue
      default: return nil
      }
    }
    return names
  }
}
