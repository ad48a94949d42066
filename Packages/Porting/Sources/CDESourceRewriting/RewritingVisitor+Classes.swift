internal import SwiftSyntax

// What the Objective-C runtime knows about a managed class, and Swift's does not.
extension RewritingVisitor {
  /// Classes of this package that are `Sendable`, which Swift asks each subclass to say again.
  private static let sendable: Set<String> = [
    "NSPersistentContainer", "NSPersistentCloudKitContainer", "NSManagedObjectContext",
    "NSPersistentStoreCoordinator",
    "NSMergePolicy", "NSPersistentStoreDescription", "NSManagedObjectModel", "NSEntityDescription",
    "NSAttributeDescription", "NSRelationshipDescription", "NSPropertyDescription", "NSPersistentStore",
    "NSFetchRequest", "NSPersistentStoreRequest", "NSBatchUpdateRequest", "NSBatchDeleteRequest",
    "NSBatchInsertRequest", "NSAsynchronousFetchRequest",
  ]

  /// Core Data's fetch that subclasses override has no type for its results, while the one that is called has. The runtime gives
  /// them two names.
  func renameOverriddenFetch(_ node: FunctionDeclSyntax) {
    guard ["fetch", "count"].contains(node.name.text), isContext,
      node.modifiers.contains(where: { $0.name.text == "override" }), node.genericParameterClause == nil,
      node.signature.parameterClause.parameters.count == 1
    else { return }
    edits.replace(node.name, with: "_cd\(node.name.text.capitalized)")
  }

  func renameOverriddenFetch(_ node: MemberAccessExprSyntax) {
    let name = node.declName.baseName.text
    guard ["fetch", "count"].contains(name), node.base?.is(SuperExprSyntax.self) == true, isContext else {
      return
    }
    edits.replace(node.declName.baseName, with: "_cd\(name.capitalized)")
  }

  /// Whether the class around the place is one of contexts.
  private var isContext: Bool {
    let names = index.lineage(of: scope.name)?.names ?? []
    return names.last.flatMap { index.classes[$0]?.superclass }?.hasSuffix("NSManagedObjectContext") == true
  }

  private func restateSendable(_ node: ClassDeclSyntax) {
    guard let clause = node.inheritanceClause, let first = clause.inheritedTypes.first else { return }
    let isStated = clause.inheritedTypes.contains { $0.type.trimmedDescription.hasSuffix("Sendable") }
    let names = index.lineage(of: scope.name)?.names ?? []
    let root = names.last.flatMap { index.classes[$0]?.superclass } ?? first.type.trimmedDescription
    let name = root.prefix { $0 != "<" }
    let isSendable = Self.sendable.contains(name.split(separator: ".").last.map(String.init) ?? root)
    if isSendable || ["Operation", "BlockOperation"].contains(name), !isStated {
      edits.insert(", @unchecked Sendable", at: clause.contentRange.upperBound)
    }
    let isKnown = isSendable || isStated && index.isManaged(scope.name)
    // A class that says so may inherit from one of another target, about which nothing is known here.
    let isPossible = isStated && name != "NSObject" && !name.hasSuffix("Sendable")
    if isKnown || isPossible { freeLazyVariables(of: node, isKnown: isKnown) }
  }

  func describeClass(_ node: ClassDeclSyntax) {
    restateSendable(node)
    rewriteObserver(node)
    restateInitializer(node)
    let lifted = liftedMembers()
    guard index.isManaged(scope.name) else {
      insert(lifted, in: node)
      return
    }
    var members = lifted
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
    members += keysOfHiddenClass(node)
    members += keyValueFunctions() + validationFunctions() + affectingKeys()
    insert(members, in: node)
  }

  private func insert(_ members: [String], in node: ClassDeclSyntax) {
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

  /// The names of the properties of a class that the target's table can't name, for Swift's key paths.
  private func keysOfHiddenClass(_ node: ClassDeclSyntax) -> [String] {
    guard let facts = index.classes[scope.name], !facts.isVisible, node.genericParameterClause == nil,
      facts.superclass?.hasSuffix("NSManagedObject") == true, let clause = node.inheritanceClause
    else { return [] }
    edits.insert(", _CDKeyPathNaming", at: clause.contentRange.upperBound)
    needsImport = true
    let paths = facts.properties.keys.filter { !facts.hidden.contains($0) }.sorted().map {
      "\\\(node.name.text).\($0): \"\(facts.keys[$0] ?? $0.filter { $0 != "`" })\""
    }
    return [
      "nonisolated(unsafe) private static let _cdKeys: [AnyKeyPath: String] = [\(paths.isEmpty ? ":" : paths.joined(separator: ", "))]",
      "public static func predicateKey(for keyPath: AnyKeyPath) -> String? { _cdKeys[keyPath] ?? _cdName(of: keyPath) }",
    ]
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

  /// What makes the class's members `keyPathsForValuesAffecting<Key>` known to the runtime.
  private func affectingKeys() -> [String] {
    let cases = (index.classes[scope.name]?.affecting ?? []).map { call in
      let key = String(call.dropFirst("keyPathsForValuesAffecting".count).prefix { $0 != "(" })
      return "case \"\(key.prefix(1).lowercased() + key.dropFirst())\", \"\(key)\": return \(call)"
    }
    guard !cases.isEmpty else { return [] }
    return [
      "public override class func _cdKeyPathsAffecting(_ key: String) -> Set<String>? { switch key { "
        + cases.joined(separator: "; ") + "; default: return super._cdKeyPathsAffecting(key) } }"
    ]
  }

  /// Calling the class's own accessors, and functions that are keys, by key-value coding.
  private func keyValueFunctions() -> [String] {
    let accessors = index.accessors(of: scope.name)
    if accessors.isEmpty { return [] }
    let keys = accessors.map { "\"\($0.key)\"" }.joined(separator: ", ")
    var getters = accessors.map { "case \"\($0.key)\": return .some(self.\($0.accessor.getter))" }
    for accessor in accessors {
      let others = index.otherKeys(of: accessor, in: scope.name).map { "\"\($0)\"" }
      if others.isEmpty { continue }
      getters.append(
        "case \(others.joined(separator: ", ")): return .some(self.\(accessor.accessor.getter))")
    }
    let setters = accessors.filter(\.accessor.isSettable).map {
      "case \"\($0.key)\": return _cdAssign(value, forKey: key) { self.\($0.accessor.name) = $0 }"
    }
    var functions = [
      "public override class var _cdAccessorKeys: Set<String> { super._cdAccessorKeys.union([\(keys)]) }",
      "public override func _cdComputedValue(forKey key: String) -> Any?? { switch key { "
        + getters.joined(separator: "; ") + "; default: return super._cdComputedValue(forKey: key) } }",
    ]
    if !setters.isEmpty {
      functions.append(
        "public override func _cdSetComputedValue(_ value: Any?, forKey key: String) -> Bool { switch key { "
          + setters.joined(separator: "; ")
          + "; default: return super._cdSetComputedValue(value, forKey: key) } }")
    }
    return functions
  }
}
