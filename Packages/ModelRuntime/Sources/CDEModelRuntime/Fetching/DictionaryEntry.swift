internal import CDEStore

/// One key of a request's dictionaries, and how its value is made of a projection's columns.
struct DictionaryEntry {
  enum Reading {
    /// A number, text, date and so on.
    case value(StoreAttributeType)
    /// An attribute whose cell is only a reference to its value, or an archive of it.
    case encoded(PropertyInfo, EntityBinding)
    /// The elements of a composite attribute, whose leaves are in as many columns.
    case composite([StoreAttribute])
    case object
  }

  var name: String
  var reading: Reading
  /// The first of its columns.
  var column: Int
  var columns: [StoreProjection.Column]

  /// Whether the store computes the value. What other programs left in an attribute's column reads as nothing if its type has no place
  /// for it.
  var isComputed: Bool {
    if case .value(.path) = columns.first { false } else { true }
  }
}
