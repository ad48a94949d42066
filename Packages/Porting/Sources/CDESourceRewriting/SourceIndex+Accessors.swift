/// The accessors of classes that key-value coding calls.
extension SourceIndex {
  /// An accessor with the key by which it is found.
  struct KeyedAccessor {
    var key: String
    var accessor: FileFacts.TypeFacts.Computed
  }

  /// The accessors of a class's own that key-value coding calls, each key once. Those of superclasses are theirs.
  func accessors(of name: String) -> [KeyedAccessor] {
    // The functions that call them have no isolation.
    guard let type = classes[name], !type.isOnMainActor else { return [] }
    var known: Set<String> = []
    return type.computed.compactMap { accessor in
      guard let key = key(of: accessor, in: name), known.insert(key).inserted else { return nil }
      return KeyedAccessor(key: key, accessor: accessor)
    }
  }

  /// The keys by which key-value coding also reads an accessor: `done` for `isDone`, and `title` for a function `getTitle()`.
  ///
  /// A name does not tell whether its key begins with a small letter.
  func otherKeys(of accessor: KeyedAccessor, in name: String) -> [String] {
    let prefixes = accessor.accessor.function == nil ? ["is"] : ["is", "get"]
    guard let prefix = prefixes.first(where: { accessor.key.hasPrefix($0) }) else { return [] }
    let rest = accessor.key.dropFirst(prefix.count)
    guard rest.first?.isUppercase == true else { return [] }
    return [rest.prefix(1).lowercased() + rest.dropFirst(), String(rest)].filter { key in
      (lineage(of: name)?.names ?? []).allSatisfy { type in
        classes[type]?.properties[key] == nil && !accessors(of: type).contains { $0.key == key }
      }
    }
  }

  /// The key of an accessor; nil for one that Objective-C does not know, and for one that a superclass calls.
  private func key(of accessor: FileFacts.TypeFacts.Computed, in name: String) -> String? {
    guard accessor.isOverride else {
      guard accessor.isExposed || isExposed(name) else { return nil }
      return accessor.function ?? classes[name].map { key(of: accessor.name, in: $0) }
    }
    // The superclass of a variable with accessors knows it. One with `@NSManaged` has none there.
    for parent in (lineage(of: name)?.names ?? []).dropFirst() {
      guard let type = classes[parent], type.properties[accessor.name] != nil else { continue }
      if type.managed.contains(accessor.name) { return key(of: accessor.name, in: type) }
      guard type.computed.contains(where: { $0.name == accessor.name && $0.isOverride && $0.function == nil })
      else { return nil }
    }
    return nil
  }

  private func key(of variable: String, in type: Class) -> String {
    type.keys[variable] ?? variable.filter { $0 != "`" }
  }

  /// Whether the class or a superclass has `@objcMembers`.
  private func isExposed(_ name: String) -> Bool {
    lineage(of: name)?.names.contains { classes[$0]?.isExposed == true } == true
  }
}
