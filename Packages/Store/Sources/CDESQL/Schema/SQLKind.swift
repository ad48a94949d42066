public import CDEStore

/// The kind of a value, for databases that compare values of one type only.
@_spi(CDE) public enum SQLKind: UInt8, Sendable {
  case integer, boolean, real, decimal, text, uuid, bytes

  /// The kind of an attribute's values.
  public init(_ type: StoreAttributeType) {
    self =
      switch type {
      case .integer16, .integer32, .integer64: .integer
      case .boolean: .boolean
      case .double, .float, .date: .real
      case .decimal: .decimal
      case .string, .uri, .undefined, .objectID: .text
      case .uuid: .uuid
      case .binary, .transformable, .composite: .bytes
      }
  }
}

extension StoreAttributeType {
  /// The number of classes of columns.
  static let columnClasses = 8

  /// The class of the type's columns. Columns have the order of their classes, and within a class of entity and property.
  var columnClass: Int {
    switch self {
    // Relationships follow the attributes of this class.
    case .integer16, .integer32, .integer64, .boolean: 0
    case .double, .float, .date: 1
    case .decimal: 2
    case .string, .undefined, .objectID: 3
    case .uri: 4
    case .uuid: 5
    case .transformable: 6
    case .binary, .composite: 7
    }
  }
}
