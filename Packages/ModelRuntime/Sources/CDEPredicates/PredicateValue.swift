internal import Foundation

/// What a key of an object gives when a predicate is evaluated in memory.
public enum PredicateValue {
  case constant(PredicateConstant)
  /// A related object, or a composite value whose leaves are keys.
  case object(any PredicateValueProviding)
  /// A to-many relationship, or an attribute that holds a collection.
  case collection([PredicateValue])

  /// The value of a property that has none.
  public static var null: PredicateValue { .constant(.null) }
}

/// An object that predicates can be evaluated with: it gives values by key.
///
/// Managed objects conform, and so do dictionaries with string keys. Other values are read by reflection
/// when they are given to `NSPredicate.evaluate(with:)`, which is slower.
nonisolated public protocol PredicateValueProviding {
  /// The value of one property.
  ///
  /// - Throws: When there is no such key; evaluation then fails.
  func predicateValue(forKey key: String) throws -> PredicateValue

  /// What the object is compared by; nil compares instances of classes by identity, and other values never
  /// equal.
  var predicateReference: PredicateObject? { get }

  /// Whether every property has one type, as a managed object's has. A comparison of values of different kinds then
  /// throws, since it can hold for no object; of other objects it is false. False unless said otherwise.
  var predicateValuesHaveTypes: Bool { get }
}

extension PredicateValueProviding {
  /// False: a property may hold values of several kinds, as a dictionary's may.
  public var predicateValuesHaveTypes: Bool { false }

  /// The object ID of a ``PredicateObjectConvertible``, such as a managed object; nil for all other types.
  public var predicateReference: PredicateObject? {
    (self as? any PredicateObjectConvertible).map { PredicateObject($0.predicateObjectReference) }
  }
}

extension Dictionary: PredicateValueProviding where Key == String {
  /// A missing key is nil, as in key-value coding of dictionaries.
  public func predicateValue(forKey key: String) throws -> PredicateValue {
    try PredicateValue(self[key])
  }
}

extension PredicateValue {
  /// The value that an untyped Swift or Foundation value stands for: a constant, an object, a dictionary as
  /// an object, a collection of these, or anything else as an object that is read by reflection.
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

/// Gives the stored properties of any Swift value by their names.
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
  /// The value behind a path of keys: nil behind nil, the flattened values of all members behind a
  /// collection.
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
    case .constant(.object):
      throw PredicateTreeError(
        .operands, construct: key,
        "\(key) is asked of an object that is known by its ID alone; fetch the object first")
    case .constant:
      throw PredicateTreeError(.unknownKey, construct: key, "\(key) is asked of a value that has no keys")
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
