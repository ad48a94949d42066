@_spi(CDE) internal import CDEPredicates
internal import CDEStore

/// The meaning of a predicate's expression in a query.
indirect enum QueryOperand {
  /// Never a list, which is ``members(_:)``.
  case constant(PredicateConstant)
  case row(QueryRow)
  /// The entity of an object, or the entity's name.
  case entity(QueryRow, isName: Bool)
  /// A composite attribute, or a composite within one.
  case composite(QueryComposite)
  case value(QueryValue)
  case members(QueryMembers)
}

/// An object: a scope's row, or the row that to-one hops from there lead to.
struct QueryRow: Equatable {
  var scope: Int
  var hops: [SlotIndex]
  /// The declared entity of the object.
  var entity: EntityIndex

  /// The path to the object.
  var path: StorePath { StorePath(scope: scope, hops: hops, end: .object) }

  var object: StoreExpression { .path(path) }

  /// A value of the object.
  func value(_ slot: SlotIndex, leaf: Int) -> StoreExpression {
    .path(StorePath(scope: scope, hops: hops, end: .property(slot: slot, leaf: leaf)))
  }
}

struct QueryComposite {
  var row: QueryRow
  var slot: SlotIndex
  var attribute: StoreAttribute
  /// Index of the first leaf among the cells of the whole attribute.
  var firstLeaf: Int
  /// Entity and keys, for messages.
  var name: String

  /// The values of all leaves.
  var leaves: [StoreExpression] {
    attribute.leaves.indices.map { row.value(slot, leaf: firstLeaf + $0) }
  }
}

/// A single value and the facts known about it.
struct QueryValue {
  var expression: StoreExpression
  var kind: QueryKind
  /// Entity and keys or the function's name, for messages.
  var name: String
}

/// The kinds of values. Only values of one kind can be equal or ordered.
enum QueryKind: Equatable {
  case number(Number)
  case text
  case date
  case data
  case uuid
  case url
  /// The root of the entity's tree, within which keys are unique.
  case object(root: RootIndex)
  /// A column whose contents a query can only compare with nil. The text gives the reason.
  case opaque(String)

  enum Number: Equatable {
    case integer
    case real
    /// A store may store a whole decimal as an integer.
    case decimal
  }

  func isComparable(with other: QueryKind) -> Bool {
    if case .number = self, case .number = other { return true }
    return self == other
  }

  static let archived = QueryKind.opaque("is transformable, and the store has only its archived bytes")

  init(_ attribute: StoreAttribute) {
    if attribute.allowsExternalStorage {
      self = .opaque("may be kept outside the store's rows")
      return
    }
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean: self = .number(.integer)
    case .double, .float: self = .number(.real)
    case .decimal: self = .number(.decimal)
    case .string: self = .text
    case .date: self = .date
    case .binary: self = .data
    case .uuid: self = .uuid
    case .uri: self = .url
    case .transformable: self = .archived
    case .undefined, .objectID, .composite:
      self = .opaque("is of type \(attribute.type.rawValue), which a store cannot compare")
    }
  }

  /// - Returns: nil for nil, lists and objects.
  init?(_ constant: PredicateConstant) {
    switch constant {
    case .bool, .integer: self = .number(.integer)
    case .double: self = .number(.real)
    case .decimal: self = .number(.decimal)
    case .string: self = .text
    case .date: self = .date
    case .data: self = .data
    case .uuid: self = .uuid
    case .url: self = .url
    case .null, .object, .list: return nil
    }
  }

  /// The type of attributes of the kind in a dictionary.
  var type: StoreAttributeType {
    switch self {
    case .number(.integer): .integer64
    case .number(.real): .double
    case .number(.decimal): .decimal
    case .date: .date
    case .text: .string
    case .data: .binary
    case .uuid: .uuid
    case .url: .uri
    case .object: .objectID
    case .opaque: .undefined
    }
  }

  /// The other types in which a dictionary may have a value of the kind.
  var otherTypes: [StoreAttributeType] {
    switch self {
    case .number, .date: [.integer16, .integer32, .integer64, .boolean, .double, .float, .decimal, .date]
    case .url: [.string]
    default: []
    }
  }

  /// The name of the kind, for messages.
  var noun: String {
    switch self {
    case .number: "a number"
    case .text: "text"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .object: "an object"
    case .opaque: "an opaque value"
    }
  }
}

/// A collection, described by how its members are found.
indirect enum QueryMembers {
  case list([QueryOperand])
  /// The to-many relationship in a slot.
  case relationship(QueryRow, slot: SlotIndex)
  /// The values of a key path from each member. Values of inner collections are members themselves.
  case projected(QueryMembers, [String])
  /// The members for which the predicate is true, with the variable bound to the member.
  case filtered(QueryMembers, variable: String, PredicateTree, [String: QueryBinding])

  /// The row from which the collection is reached; nil for lists.
  var owner: QueryRow? {
    switch self {
    case .list: nil
    case .relationship(let row, _): row
    case .projected(let base, _), .filtered(let base, _, _, _): base.owner
    }
  }

  func appending(_ keys: [String]) -> QueryMembers {
    if keys.isEmpty { return self }
    if case .projected(let base, let path) = self { return .projected(base, path + keys) }
    return .projected(self, keys)
  }
}

/// The value of a subquery's variable, and the depth at which it was made.
struct QueryBinding {
  var operand: QueryOperand
  var depth: Int
}
