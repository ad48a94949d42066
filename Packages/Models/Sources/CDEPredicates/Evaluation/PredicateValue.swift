internal import Foundation

/// The value of an object's key when a predicate is evaluated in memory.
public enum PredicateValue {
  case constant(PredicateConstant)
  /// A related object, or a composite value whose leaves are keys.
  case object(any PredicateValueProviding)
  /// A to-many relationship, or an attribute whose value is a collection.
  case collection([PredicateValue])

  /// The value of a property without a value.
  public static var null: PredicateValue { .constant(.null) }
}

/// An object with which predicates can be evaluated. It returns values by key.
///
/// Managed objects conform, and so do dictionaries with string keys. `NSPredicate.evaluate(with:)` reads
/// other values by reflection, which is slower.
nonisolated public protocol PredicateValueProviding {
  /// The value of one property.
  ///
  /// - Throws: When there is no such key. The evaluation then fails.
  func predicateValue(forKey key: String) throws -> PredicateValue

  /// The reference by which the object is compared. With nil, instances of classes are compared by identity,
  /// and other values are never equal.
  var predicateReference: PredicateObject? { get }

  /// Whether each property has one type, as in a managed object. A comparison of values of different kinds
  /// can then be true for no object, so it throws. For other objects it is false. The default is false.
  var predicateValuesHaveTypes: Bool { get }
}

extension PredicateValueProviding {
  /// False, because a property may have values of several kinds, for example in a dictionary.
  public var predicateValuesHaveTypes: Bool { false }

  /// The object ID of a ``PredicateObjectConvertible``, such as a managed object; nil for all other types.
  public var predicateReference: PredicateObject? { ObjectClasses.reference(self) }
}

extension Dictionary: PredicateValueProviding where Key == String {
  /// A missing key is nil, as in key-value coding of dictionaries.
  public func predicateValue(forKey key: String) throws -> PredicateValue {
    try PredicateValue(self[key])
  }
}

extension PredicateValue {
  /// The value for an untyped Swift or Foundation value: a constant, an object, a dictionary as an object, a
  /// collection of these, or another value as an object that is read by reflection.
  public init(_ value: Any?) throws {
    if let object = value as? any PredicateValueProviding {
      self = .object(object)
      return
    }
    guard let value = PredicateConstant.unwrapped(value) else {
      self = .null
      return
    }
    switch value {
    case let value as PredicateValue: self = value
    case let dictionary as [String: Any]: self = .object(dictionary)
    default:
      if let members = PredicateConstant.members(of: value) {
        self = .collection(try members.map { try PredicateValue($0) })
      } else if let constant = PredicateConstant(value) {
        self = .constant(constant)
      } else {
        self = .object(ReflectedObject(subject: value))
      }
    }
  }
}

/// Returns the stored properties of any Swift value by their names.
struct ReflectedObject: PredicateValueProviding {
  let subject: Any

  func predicateValue(forKey key: String) throws -> PredicateValue {
    var mirror: Mirror? = Mirror(reflecting: subject)
    while let current = mirror {
      if let child = current.children.first(where: { $0.label == key }) {
        return try PredicateValue(child.value)
      }
      mirror = current.superclassMirror
    }
    if let raw = (subject as? any RawRepresentable)?.rawValue, key == "rawValue" {
      return try PredicateValue(raw)
    }
    throw PredicateTreeError(
      .unknownKey, construct: key,
      "\(type(of: subject)) has no stored property \(key); check the key's spelling")
  }
}

extension PredicateValue {
  /// The value of a path of keys. After nil it is nil. After a collection it contains the flattened values of
  /// all members.
  func value(at path: [String]) throws -> PredicateValue {
    if path.count == 1, case .object(let object) = self { return try object.predicateValue(forKey: path[0]) }
    return try value(at: path[...])
  }

  private func value(at path: ArraySlice<String>) throws -> PredicateValue {
    guard let key = path.first else { return self }
    let rest = path.dropFirst()
    switch self {
    case .object(let object):
      return try object.predicateValue(forKey: key).value(at: rest)
    case .constant(.null): return .null
    case .collection(let members):
      var result: [PredicateValue] = []
      for member in members {
        switch try member.value(at: path) {
        case .collection(let inner): result += inner
        case .constant(.list(let inner)): result += inner.map { .constant($0) }
        case let single: result.append(single)
        }
      }
      return .collection(result)
    case .constant(.list(let members)):
      return try PredicateValue.collection(members.map { .constant($0) }).value(at: path)
    // As in Core Data, a text has the key `length`.
    case .constant(.string(let text)) where key == "length":
      return try PredicateValue.constant(.integer(Int64(text.unicodeScalars.count))).value(at: rest)
    case .constant(.object):
      throw PredicateTreeError(
        .operands, construct: key,
        "\(key) can't be read from an object of which only the ID is known; fetch the object first")
    case .constant:
      throw PredicateTreeError(
        .unknownKey, construct: key, "\(key) can't be read from a value that has no keys")
    }
  }

  /// The members, if the value is a collection or list.
  var members: [PredicateValue]? {
    switch self {
    case .collection(let members): members
    case .constant(.list(let members)): members.map { .constant($0) }
    default: nil
    }
  }

  var isNull: Bool {
    if case .constant(.null) = self { return true }
    return false
  }
}
