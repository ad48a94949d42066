internal import Foundation

/// A collection as a property of its own, which is stored as an archive.
///
/// Arrays of texts stand as property lists in the archives of Apple's files. How other elements stand is not known: those that
/// property lists have stand as themselves, and all others make the collection JSON, as bytes in the archive.
protocol ArchivedCollection {
  /// Whether the elements, and theirs, are values of property lists.
  static var isPropertyList: Bool { get }
  /// The collection as a value of a property list, for elements that are.
  var propertyList: Any { get }
  /// The collection of a property list's value; nil if that is of another type.
  init?(propertyList: Any)
}

/// What an element of a collection is in a property list.
private enum ListValue {
  static func isPropertyList(_ type: Any.Type) -> Bool {
    if let collection = type as? any ArchivedCollection.Type { return collection.isPropertyList }
    return switch (type as? any StoredScalar.Type)?.kind {
    case .decimal, .uuid, .uri, nil: false
    default: true
    }
  }

  static func make(_ value: Any) -> Any {
    if let collection = value as? any ArchivedCollection { return collection.propertyList }
    return (value as? any StoredScalar)?.stored ?? value
  }

  static func read<T>(_ value: Any, as type: T.Type) -> T? {
    if let collection = type as? any ArchivedCollection.Type {
      return collection.init(propertyList: value) as? T
    }
    return (type as? any StoredScalar.Type)?.init(stored: value) as? T
  }

  static func readAll<T>(_ values: some Sequence<Any>, as type: T.Type) -> [T]? {
    var result: [T] = []
    for value in values {
      guard let element = read(value, as: type) else { return nil }
      result.append(element)
    }
    return result
  }
}

extension Array: ArchivedCollection {
  static var isPropertyList: Bool { ListValue.isPropertyList(Element.self) }
  var propertyList: Any { map { ListValue.make($0) } }
  init?(propertyList: Any) {
    guard let values = propertyList as? [Any], let result = ListValue.readAll(values, as: Element.self) else {
      return nil
    }
    self = result
  }
}

extension Set: ArchivedCollection {
  static var isPropertyList: Bool { ListValue.isPropertyList(Element.self) }
  var propertyList: Any { NSSet(array: map { ListValue.make($0) }) }
  init?(propertyList: Any) {
    let values: [Any]? = (propertyList as? NSSet)?.allObjects ?? (propertyList as? [Any])
    guard let values, let result = ListValue.readAll(values, as: Element.self) else { return nil }
    self = Set(result)
  }
}

extension Dictionary: ArchivedCollection {
  static var isPropertyList: Bool { Key.self == String.self && ListValue.isPropertyList(Value.self) }
  var propertyList: Any {
    var result: [String: Any] = [:]
    for (key, value) in self { result["\(key)"] = ListValue.make(value) }
    return result
  }
  init?(propertyList: Any) {
    guard let values = propertyList as? [String: Any] else { return nil }
    self = [:]
    for (key, stored) in values {
      guard let key = key as? Key, let value = ListValue.read(stored, as: Value.self) else { return nil }
      self[key] = value
    }
  }
}
