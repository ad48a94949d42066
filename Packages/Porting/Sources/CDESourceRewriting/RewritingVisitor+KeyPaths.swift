internal import SwiftSyntax

// `#keyPath(Item.title)` becomes the string that it means.
extension RewritingVisitor {
  /// Properties that every managed object has.
  private static let inherited: Set<String> = [
    "objectID", "entity", "managedObjectContext", "isInserted", "isUpdated", "isDeleted", "isFault",
    "hasChanges",
    "hasPersistentChangedValues", "faultingState", "description", "debugDescription", "hash", "self",
  ]

  func rewriteKeyPath(_ node: MacroExpansionExprSyntax) {
    guard node.arguments.count == 1, let written = node.arguments.first?.expression.trimmedDescription else {
      return
    }
    let parts = written.split { $0 == "." || $0.isWhitespace || $0 == "?" || $0 == "!" || $0 == "`" }
      .map(String.init)
    let (type, path) = split(parts)
    var keys: [String] = []
    var current = type
    for name in path {
      guard let known = current else {
        keys.append(name)
        continue
      }
      if let property = index.property(name, of: known) {
        keys.append(property.key)
        current = index.fullName(of: element(of: property.type))
        continue
      }
      if index.isManaged(known), !Self.inherited.contains(name), name != "Type" {
        report(
          .error, at: node,
          "#keyPath: the class \(known) has no property \(name). \(suggestion(name, known))")
      }
      keys.append(name)
      current = nil
    }
    edits.replace(node, with: "\"\(keys.joined(separator: "."))\"")
  }

  /// The type at the start of a path, and the names behind it. Without a type, the path starts at the type
  /// around it.
  private func split(_ parts: [String]) -> (type: String?, path: [String]) {
    var last: (type: String, count: Int)?
    for count in stride(from: parts.count - 1, through: 1, by: -1) {
      let name = parts[..<count].joined(separator: ".")
      if let found = index.fullName(of: name) {
        last = (found, count)
        break
      }
    }
    if let last { return (last.type, Array(parts[last.count...])) }
    // Types begin with a capital letter. One that is not in the target's sources is not checked.
    let names = parts.prefix { $0.first?.isUppercase == true }
    if !names.isEmpty, names.count < parts.count {
      if names == ["Self"] { return (index.fullName(of: scope.name), Array(parts.dropFirst())) }
      return (nil, Array(parts[names.count...]))
    }
    return (index.fullName(of: scope.name), parts)
  }

  /// The class that a property leads to, as written: `Set<Item>?` leads to `Item`.
  private func element(of type: String) -> String {
    var name = type.filter { !"?! ".contains($0) }
    for wrapper in ["Set<", "Array<", "["] where name.hasPrefix(wrapper) {
      name = String(name.dropFirst(wrapper.count).dropLast())
    }
    return name
  }

  private func suggestion(_ name: String, _ type: String) -> String {
    let names = (index.lineage(of: type)?.names ?? []).flatMap {
      index.classes[$0]?.properties.keys.sorted() ?? []
    }
    if let near = names.first(where: { $0.lowercased() == name.lowercased() }) {
      return "Did you mean \(near)?"
    }
    return names.isEmpty
      ? "Declare it with @NSManaged." : "Its properties are \(names.sorted().joined(separator: ", "))."
  }
}
