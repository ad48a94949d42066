import CDEDiagrams
import CDEManagedModel

/// What may stand at the end of a condition: a name, an operator after a name, a value after an operator.
struct ConditionCompletion {
  struct Choice: Equatable {
    var text: String
    /// What the choice is: a type, `relationship`, `operator`, `value` or `word`.
    var kind: String
  }

  /// The word that a choice replaces.
  private(set) var word = ""
  private(set) var choices: [Choice] = []

  private let entity: NSEntityDescription

  init(_ text: String, _ entity: NSEntityDescription) {
    self.entity = entity
    var (words, isInText) = Self.words(text)
    // Inside a text there is nothing to complete.
    if isInText { return }
    if text.last.map({ !Self.isWordCharacter($0) }) == false { word = words.popLast() ?? "" }
    let all = following(words)
    choices = all.filter { QuerySession.completes($0.text, word) && $0.text != word }
  }

  private static let joining: Set<String> = [
    "and", "or", "not", "&&", "||", "!", "(", "any", "all", "none", "some",
  ]
  private static let comparisons = ["==", "!=", "<", "<=", ">", ">=", "IN", "BETWEEN"]
  private static let textOperators = [
    "BEGINSWITH[cd]", "CONTAINS[cd]", "ENDSWITH[cd]", "LIKE[cd]", "MATCHES",
  ]

  private func following(_ words: [String]) -> [Choice] {
    guard let last = words.last else { return beginnings }
    if Self.joining.contains(last.lowercased()) { return beginnings }
    let operators = Self.comparisons + ["=", "<>"] + Self.textOperators
    let isOperator =
      operators.contains { last.uppercased() == $0 || last.uppercased() + "[CD]" == $0.uppercased() }
      || last.uppercased().hasSuffix("[C]") || last.uppercased().hasSuffix("[CD]")
    if isOperator { return values(of: words.dropLast().last.flatMap(attribute)) }
    let before = words.dropLast().last?.lowercased()
    if before == nil || Self.joining.contains(before!) {
      let type = attribute(last)?.attributeType
      let names = (type == .stringAttributeType ? Self.textOperators : []) + Self.comparisons
      return names.map { Choice(text: $0, kind: "operator") }
    }
    return ["AND", "OR"].map { Choice(text: $0, kind: "word") }
  }

  private var beginnings: [Choice] {
    let paths = QuerySession.keyPaths(of: entity, word, inPredicate: true).sorted().map {
      Choice(text: $0, kind: kind(of: $0))
    }
    let words = ["NOT", "ANY", "ALL", "NONE", "SUBQUERY("].map { Choice(text: $0, kind: "word") }
    return paths + (word.contains(".") ? [] : words)
  }

  private func values(of attribute: NSAttributeDescription?) -> [Choice] {
    var texts = ["nil"]
    switch attribute?.attributeType {
    case .booleanAttributeType: texts = ["TRUE", "FALSE", "nil"]
    case .stringAttributeType: texts = ["\"\"", "nil"]
    case .dateAttributeType: texts = ["now()", "CAST(\"2026-01-31\", \"NSDate\")", "nil"]
    case .UUIDAttributeType: texts = ["CAST(\"\", \"NSUUID\")", "nil"]
    default: break
    }
    let typed = texts.map { Choice(text: $0, kind: "value") }
    return typed
      + QuerySession.keyPaths(of: entity, word, inPredicate: true).sorted().map {
        Choice(text: $0, kind: kind(of: $0))
      }
  }

  // MARK: Names

  private func property(_ path: String) -> NSPropertyDescription? {
    var here: NSEntityDescription? = entity
    var found: NSPropertyDescription?
    for part in path.split(separator: ".") {
      let step = String(part.first == "#" ? part.dropFirst() : part)
      if let composite = found as? NSCompositeAttributeDescription {
        return composite.elements.first { $0.name == step }
      }
      found = here?.propertiesByName[step]
      here = (found as? NSRelationshipDescription)?.destinationEntity
      if found == nil { return nil }
    }
    return found
  }

  private func attribute(_ path: String) -> NSAttributeDescription? {
    property(path) as? NSAttributeDescription
  }

  private func kind(of path: String) -> String {
    switch property(path) {
    case let attribute as NSAttributeDescription: attribute.typeName
    case let relationship as NSRelationshipDescription:
      "→ \(relationship.destinationEntity?.name ?? "")\(relationship.isToMany ? "*" : "")"
    default: "number"
    }
  }

  // MARK: Words

  private static func isWordCharacter(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "._@#[]$".contains(character)
  }

  /// The words, operators, brackets and texts; and whether the text ends within quotation marks.
  static func words(_ text: String) -> ([String], isInText: Bool) {
    var words: [String] = []
    var word = ""
    var quote: Character?
    func isSymbol(_ text: String) -> Bool { text.first.map { "=<>!&|".contains($0) } ?? false }
    func end() {
      if !word.isEmpty { words.append(word) }
      word = ""
    }
    for character in text {
      if let open = quote {
        word.append(character)
        if character == open {
          quote = nil
          end()
        }
      } else if character == "\"" || character == "'" {
        end()
        word = String(character)
        quote = character
      } else if isWordCharacter(character) {
        if isSymbol(word) { end() }
        word.append(character)
      } else if "=<>!&|".contains(character) {
        if !isSymbol(word) { end() }
        word.append(character)
      } else {
        end()
        if character == "(" { words.append("(") }
      }
    }
    end()
    return (words, quote != nil)
  }
}
