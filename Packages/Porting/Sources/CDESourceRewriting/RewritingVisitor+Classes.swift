internal import SwiftSyntax

// What the Objective-C runtime knows about a managed class, and Swift's does not.
extension RewritingVisitor {
  /// Classes of this package that are `Sendable`, which Swift asks each subclass to say again.
  private static let sendable: Set<String> = [
    "NSPersistentContainer", "NSPersistentCloudKitContainer", "NSManagedObjectContext",
    "NSPersistentStoreCoordinator",
    "NSMergePolicy", "NSPersistentStoreDescription", "NSManagedObjectModel", "NSEntityDescription",
    "NSAttributeDescription", "NSRelationshipDescription", "NSPropertyDescription", "NSPersistentStore",
  ]

  private func restateSendable(_ node: ClassDeclSyntax) {
    guard let clause = node.inheritanceClause, let first = clause.inheritedTypes.first,
      !clause.inheritedTypes.contains(where: { $0.type.trimmedDescription.hasSuffix("Sendable") })
    else { return }
    let names = index.lineage(of: scope.name)?.names ?? []
    let root = names.last.flatMap { index.classes[$0]?.superclass } ?? first.type.trimmedDescription
    guard Self.sendable.contains(root.split(separator: ".").last.map(String.init) ?? root) else { return }
    edits.insert(", @unchecked Sendable", at: clause.contentRange.upperBound)
  }

  func describeClass(_ node: ClassDeclSyntax) {
    restateSendable(node)
    rewriteObserver(node)
    guard index.isManaged(scope.name) else { return }
    var members: [String] = []
    // Without a name of its own a class would inherit its parent's.
    let name = node.attributes.objectiveCName.map { "\"\($0)\"" } ?? "nil"
    if name != "nil" || index.classes[scope.name]?.superclass != "NSManagedObject" {
      members.append("public override class var _cdObjectiveCName: String? { \(name) }")
    }
    if !overridesInitializer(node), node.genericParameterClause == nil {
      // Contexts copy fetched objects of a class without initialisers of its own.
      members.append(
        "public override class var __cdPlainClass: NSManagedObject.Type? { \(node.name.text).self }")
    }
    members += keyValueFunctions(node) + validationFunctions()
    guard !members.isEmpty else { return }
    edits.insert(
      " \(members.joined(separator: "; "));", at: node.memberBlock.leftBrace.contentRange.upperBound)
  }

  private func overridesInitializer(_ node: ClassDeclSyntax) -> Bool {
    node.memberBlock.members.contains { member in
      if member.decl.is(IfConfigDeclSyntax.self) { return true }
      guard let initializer = member.decl.as(InitializerDeclSyntax.self) else { return false }
      return !initializer.modifiers.contains { $0.name.text == "convenience" }
    }
  }

  /// What makes the class's functions `validate<Key>` known to the runtime.
  ///
  /// A function's name does not tell whether its key begins with a small letter.
  private func validationFunctions() -> [String] {
    let functions = (index.classes[scope.name]?.validators ?? []).map { name in
      let key = String(name.dropFirst("validate".count))
      return (name: name, keys: "\"\(key.prefix(1).lowercased() + key.dropFirst())\", \"\(key)\"")
    }
    guard !functions.isEmpty else { return [] }
    let cases = functions.map { "case \($0.keys): try \($0.name)(value)" }.joined(separator: "; ")
    return [
      "public override class var _cdValidatedKeys: [String] { super._cdValidatedKeys + "
        + "[\(functions.map(\.keys).joined(separator: ", "))] }",
      "public override func _cdValidate(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws { "
        + "switch key { \(cases); default: try super._cdValidate(value, forKey: key) } }",
    ]
  }

  /// Key-value coding for variables with `@objc` that are no properties of the model.
  private func keyValueFunctions(_ node: ClassDeclSyntax) -> [String] {
    let computed = index.classes[scope.name]?.computed ?? []
    let overrides = node.memberBlock.members.contains { member in
      member.decl.as(FunctionDeclSyntax.self)?.signature.trimmedDescription.contains("forUndefinedKey")
        == true
    }
    guard !computed.isEmpty, !overrides else { return [] }
    let keys = index.classes[scope.name]?.keys ?? [:]
    let cases = computed.map { "case \"\(keys[$0.name] ?? $0.name)\": return self.\($0.name)" }
    var functions = [
      "public override func value(forUndefinedKey key: String) -> Any? { switch key { "
        + cases.joined(separator: "; ") + "; default: return super.value(forUndefinedKey: key) } }"
    ]
    let setters = computed.compactMap { variable in
      variable.settable.map { type in
        "case \"\(keys[variable.name] ?? variable.name)\": if let value = value as? \(type.hasSuffix("!") ? "\(type.dropLast())?" : type) "
          + "{ self.\(variable.name) = value }"
      }
    }
    if !setters.isEmpty {
      functions.append(
        "public override func setValue(_ value: Any?, forUndefinedKey key: String) { switch key { "
          + setters.joined(separator: "; ") + "; default: super.setValue(value, forUndefinedKey: key) } }")
    }
    return functions
  }
}
