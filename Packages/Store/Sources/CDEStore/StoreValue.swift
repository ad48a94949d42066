import Foundation

/// A value bound to a query.
///
/// Two texts are equal if their bytes are, as in a database. `String` also takes two spellings of a letter for equal, one scalar and
/// a letter with a combining mark.
public enum StoreValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)
  /// The object with this key in the tree of the entity with this index.
  case reference(entity: EntityIndex, key: Int64)
}

extension StoreValue {
  /// Whether both have the same kind and the same value, texts the same bytes.
  public static func == (left: StoreValue, right: StoreValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    case (.blob(let left), .blob(let right)): left == right
    case (.reference(let entity, let key), .reference(let otherEntity, let otherKey)):
      entity == otherEntity && key == otherKey
    default: false
    }
  }

  /// The value in a form that is equal if the values are equal in a database: 1 and 1.0 are.
  @_spi(CDE) public var comparable: StoreValue {
    guard case .real(let value) = self, let whole = Int64(exactly: value) else { return self }
    return .integer(whole)
  }

  /// Feeds the kind and the value, of a text the bytes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value):
      hasher.combine(1)
      hasher.combine(value)
    case .real(let value):
      hasher.combine(2)
      hasher.combine(value)
    case .text(let text):
      hasher.combine(3)
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .blob(let data):
      hasher.combine(4)
      hasher.combine(data)
    case .reference(let entity, let key):
      hasher.combine(5)
      hasher.combine(entity)
      hasher.combine(key)
    }
  }
}
