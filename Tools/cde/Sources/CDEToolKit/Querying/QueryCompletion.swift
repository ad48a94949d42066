import CDEManagedModel
import CDEPredicates

extension QuerySession {
  /// What the last word of a line may become, sorted.
  ///
  /// - Parameter text: the line up to the cursor.
  /// - Returns: whole words that begin with the last one.
  public func completions(of text: String) -> [String] {
    let tokens = QueryLine.tokens(of: text)
    let isBetween = text.last?.isWhitespace != false
    let words = tokens.map { String(text[$0.range]) }
    let before = isBetween ? words : Array(words.dropLast())
    // Brackets and commas stand before a name without a blank.
    let last =
      isBetween
      ? "" : String(words.last!.split(omittingEmptySubsequences: false) { "(,{[!".contains($0) }.last!)
    let prefix = isBetween ? "" : String(words.last!.dropLast(last.count))
    return choices(before, last).filter { Self.completes($0, last) }.sorted().map { prefix + $0 }
  }

  private func choices(_ before: [String], _ word: String) -> [String] {
    let entities = store.model.entities.compactMap(\.name)
    guard let head = before.first else { return entities + Self.commands }
    let takesEntity = ["count", "explain"].contains(head.lowercased())
    if takesEntity, before.count == 1 { return entities }
    if head.lowercased() == "mode" { return OutputMode.allCases.map(\.rawValue) }
    let name = takesEntity ? before[1] : head
    guard let entity = try? store.entity(named: name) else { return [] }
    let parts = QueryLine.Part.allCases.map(\.rawValue)
    let current = before.lazy.reversed().compactMap { QueryLine.Part(rawValue: $0.lowercased()) }.first
    let unused = parts.filter { !before.map { $0.lowercased() }.contains($0) }
    switch current {
    case nil: return unused
    case .condition:
      return Self.keyPaths(of: entity, word, inPredicate: true) + Self.predicateWords + unused
    case .sort:
      let isDescending = word.hasPrefix("-")
      let paths = Self.keyPaths(of: entity, isDescending ? String(word.dropFirst()) : word)
      return paths.map { isDescending ? "-" + $0 : $0 } + unused
    case .columns: return entity.propertiesByName.keys + unused
    case .limit, .offset: return unused
    }
  }

  static let predicateWords = [
    "AND", "OR", "NOT", "BEGINSWITH", "CONTAINS", "ENDSWITH", "LIKE", "MATCHES", "IN", "BETWEEN", "ANY",
    "ALL", "NONE", "SELF", "NULL",
    "TRUE", "FALSE", "SUBQUERY(", "CAST(", "now()",
  ]

  /// The paths that go on from a word such as `owner.na`: names of the entity that its relationships lead to.
  ///
  /// - Parameter inPredicate: whether a name that is also a word of predicates gets a number sign, as it is written there.
  static func keyPaths(of entity: NSEntityDescription, _ word: String, inPredicate: Bool = false) -> [String]
  {
    var steps = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    _ = steps.popLast()
    var names: [String] = Array(entity.propertiesByName.keys)
    var isToMany = false
    var here: NSEntityDescription? = entity
    for step in steps {
      let step = step.hasPrefix("#") ? String(step.dropFirst()) : step
      let property = here?.propertiesByName[step]
      here = (property as? NSRelationshipDescription)?.destinationEntity
      isToMany = (property as? NSRelationshipDescription)?.isToMany == true
      if let here {
        names = Array(here.propertiesByName.keys)
      } else {
        names = (property as? NSCompositeAttributeDescription)?.elements.map(\.name) ?? []
      }
    }
    if isToMany { names += ["@count", "@sum", "@avg", "@min", "@max"] }
    return names.map { name in
      let isKey = inPredicate && !name.hasPrefix("@")
      return (steps + [isKey ? ExpressionTree.keyPath([name]).predicateFormat : name]).joined(separator: ".")
    }
  }

  /// Whether a choice begins with what was typed, whatever the case of its letters and with or without number signs.
  static func completes(_ choice: String, _ typed: String) -> Bool {
    func plain(_ text: String) -> String { text.lowercased().filter { $0 != "#" } }
    return plain(choice).hasPrefix(plain(typed))
  }
}
