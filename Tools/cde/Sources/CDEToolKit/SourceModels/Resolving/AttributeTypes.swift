import CDEManagedModel

/// The types of attributes by the names of Xcode's editor, and the Swift types of each.
enum AttributeTypes {
  /// The Swift types that an attribute has without a storage method; the first one is the default.
  static let swiftTypes: [String: [String]] = [
    "Integer 16": ["Int16"], "Integer 32": ["Int32"], "Integer 64": ["Int", "Int64"], "Decimal": ["Decimal"],
    "Double": ["Double"], "Float": ["Float"], "String": ["String"], "Boolean": ["Bool"], "Date": ["Date"],
    "Binary Data": ["Data"], "UUID": ["UUID"], "URI": ["URL"],
  ]

  static var names: [String] { swiftTypes.keys.sorted() }

  /// The name of the editor for one of its names or that of the file's format.
  static func canonicalName(_ name: String) -> String? {
    let canonical = name == "Binary" ? "Binary Data" : name
    return swiftTypes[canonical] == nil ? nil : canonical
  }

  /// The types that a raw value may have.
  static let rawTypes: Set<NSAttributeType> = [
    .stringAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
  ]

  /// The attribute type of a Swift type; nil for one that is stored in another way.
  static func name(forSwiftType type: String) -> String? {
    swiftTypes.first { $0.value.contains(type) }?.key
  }
}
