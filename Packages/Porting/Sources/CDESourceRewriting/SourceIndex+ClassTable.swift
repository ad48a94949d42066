extension SourceIndex {
  /// A source file that lists the target's managed classes by the names that models use for them.
  ///
  /// The runtime finds it by the target's name. On Apple's platforms the Objective-C runtime has such a list.
  public func classTable() -> String {
    guard modules.contains("CDECoreData") else {
      return "// This target does not depend on CDECoreData, so it has no managed classes.\n"
    }
    var lines: [String] = []
    for (name, type) in classes.sorted(by: { $0.key < $1.key }) where type.isVisible && isManaged(name) {
      let bare = name.split(separator: ".").last.map(String.init) ?? name
      lines.append("    (\"\(type.objectiveCName ?? bare)\", \(name).self),")
    }
    var paths: [String] = []
    var roots: [String] = []
    for (name, type) in classes.sorted(by: { $0.key < $1.key }) where type.isVisible && isManaged(name) {
      for (property, key) in visibleProperties(of: name) {
        paths.append("    \\\(name).\(property): \"\(key)\",")
      }
      if type.superclass?.hasSuffix("NSManagedObject") == true {
        roots.append(naming(name))
      }
    }
    // Other classes are not in models; key-value coding knows their variables with `@objc`.
    for (name, type) in classes.sorted(by: { $0.key < $1.key })
    where type.isVisible && !isManaged(name) && type.superclass == "NSObject" {
      let variables = type.computed.filter { $0.isExposed && !$0.isOverride && $0.function == nil }
      if variables.isEmpty { continue }
      for variable in variables where !type.hidden.contains(variable.name) {
        paths.append("    \\\(name).\(variable.name): \"\(type.keys[variable.name] ?? variable.name)\",")
      }
      roots.append(naming(name))
    }
    // Only names that the Objective-C runtime would know: Swift's finds a class by its own name.
    let others = classes.sorted(by: { $0.key < $1.key }).compactMap { name, type in
      type.isVisible && !isManaged(name) && type.superclass != nil
        ? type.objectiveCName.map { "    (\"\($0)\", \(name).self)," } : nil
    }
    let imported = imports.sorted().filter {
      ImportedModules.absent[$0] == nil && ImportedModules.replaced[$0] == nil
    }
    return """
      public import CDECoreData

      /// The managed classes of this target, by the names that models use for them.
      nonisolated public final class _CDEPortedClasses: CDPortedClasses {
        public static var classes: [(name: String, type: NSManagedObject.Type)] {
          [
        \(lines.joined(separator: "\n  "))
          ]
        }

        public static var others: [(name: String, type: AnyClass)] {
          [
        \(others.joined(separator: "\n  "))
          ]
        }

        public static var modules: [String] {
          [\(imported.map { "\"\($0)\"" }.joined(separator: ", "))]
        }

        /// The names of properties, for Swift's key paths.
        nonisolated(unsafe) static let keys: [AnyKeyPath: String] = [
      \(paths.isEmpty ? "    :" : paths.joined(separator: "\n"))
        ]
      }

      \(roots.joined(separator: "\n"))
      \(keyValuePublisher())
      \(combineOperators())

      """
  }

  private func naming(_ name: String) -> String {
    """
    nonisolated extension \(name): _CDKeyPathNaming {
      public static func predicateKey(for keyPath: AnyKeyPath) -> String? {
        _CDEPortedClasses.keys[keyPath] ?? _cdName(of: keyPath)
      }
    }
    """
  }

  /// The properties of a class and its superclasses that a key path in another file can lead to, with their keys.
  private func visibleProperties(of name: String) -> [(property: String, key: String)] {
    var found: [String: String] = [:]
    for type in lineage(of: name)?.names ?? [] {
      guard let facts = classes[type] else { continue }
      for property in facts.properties.keys where !facts.hidden.contains(property) && found[property] == nil {
        found[property] = facts.keys[property] ?? property.filter { $0 != "`" }
      }
    }
    return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
