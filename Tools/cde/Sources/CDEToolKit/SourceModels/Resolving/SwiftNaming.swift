/// What may be a name in Swift, and what a name of a model becomes.
enum SwiftNaming {
  static func isName(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, first == "_" || first.properties.isXIDStart else {
      return false
    }
    return text.unicodeScalars.allSatisfy(isNamePart)
  }

  static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.properties.isXIDContinue
  }

  /// The name as code spells it.
  static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

  private static let keywords: Set<String> = [
    "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func",
    "guard",
    "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup",
    "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript",
    "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// The name of a property for a persistent name: another one for the members of every managed object.
  static func property(_ persistentName: String) -> String {
    let isTaken =
      objectMembers.contains(persistentName) || ["init", "self", "Self", "Type"].contains(persistentName)
    guard isTaken else { return persistentName }
    let name = persistentName + "Value"
    return objectMembers.contains(name) ? persistentName + "Property" : name
  }

  /// Members of every managed object, which `@PersistentModel` refuses as names of properties.
  private static let objectMembers: Set<String> = [
    "debugDescription", "description", "entity", "faultingState", "hasChanges", "hasPersistentChangedValues",
    "hash", "hashValue", "isDeleted", "isFault", "isInserted", "isUpdated", "managedObjectContext",
    "objectID",
  ]

  /// The name of a class: another one where the name would hide a type that generated code names, or is no
  /// name of a class.
  static func type(_ name: String) -> String {
    let isTaken = takenTypes.contains(name) || keywords.contains(name)
    return isTaken ? name + "Model" : name
  }

  private static let takenTypes: Set<String> = [
    "Any", "Array", "Attribute", "Bool", "Composition", "CompositionField", "Data", "Date", "Decimal",
    "Dictionary", "Double", "Float", "Handle", "Hashable", "Ignore", "Int", "Int16", "Int32", "Int64", "Keys",
    "NSManagedObject", "NSObject", "Never", "Optional", "PathRoot", "Paths", "PersistentModel", "Protocol",
    "Relationship", "Self", "Sendable", "Set", "Snapshot", "String", "Type", "URL", "UUID", "Void",
  ]

  /// A name for a raw value's case: `in progress` becomes `inProgress`.
  static func caseName(_ value: String) -> String {
    let words = value.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    guard let first = words.first else { return "empty" }
    let rest = words.dropFirst().map(capitalized).joined()
    if first.first?.isNumber == true { return "value" + first + rest }
    let start =
      first == first.uppercased() ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()
    let name = start + rest
    return isName(name) ? name : "value"
  }
}
