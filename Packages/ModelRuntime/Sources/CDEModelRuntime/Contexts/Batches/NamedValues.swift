internal import Foundation

/// The dictionary that the handler of a batch insertion fills for each object.
///
/// Foundation's own turns each key and each value into an object, and back when it is read, which takes three microseconds for two
/// attributes. This one keeps texts as keys, and values as they are.
final class NamedValues: NSMutableDictionary {
  /// The values by the names of attributes.
  private(set) var values: [String: Any] = [:]
  /// Those whose keys are no texts. No attribute is named by them.
  private let others = NSMutableDictionary()

  required convenience init() { self.init(objects: nil, forKeys: nil, count: 0) }

  required init(objects: UnsafePointer<AnyObject>!, forKeys keys: UnsafePointer<NSObject>!, count: Int) {
    super.init(objects: objects, forKeys: keys, count: 0)
    for index in 0..<count { setObject(objects[index], forKey: keys[index]) }
  }

  required convenience init?(coder: NSCoder) { self.init(objects: nil, forKeys: nil, count: 0) }

  /// - Throws: an error of a key that is no text.
  func named(for binding: EntityBinding) throws -> [String: Any] {
    if let key = others.allKeys.first {
      throw ManagedObjectError(
        .unsupportedRequest, "A dictionary of a batch insertion has a key of type \(type(of: key)).",
        entity: binding.name)
    }
    return values
  }

  override var count: Int { values.count + others.count }

  override func object(forKey key: Any) -> Any? {
    if let name = key as? String { return values[name] }
    return others.object(forKey: key)
  }

  override func keyEnumerator() -> NSEnumerator {
    NSArray(array: Array(values.keys) + others.allKeys).objectEnumerator()
  }

  override func setObject(_ value: Any, forKey key: AnyHashable) {
    if let name = key.base as? String { values[name] = value } else { others.setObject(value, forKey: key) }
  }

  override func removeObject(forKey key: Any) {
    if let name = key as? String { values[name] = nil } else { others.removeObject(forKey: key) }
  }

  override func removeAllObjects() {
    values.removeAll(keepingCapacity: true)
    if others.count > 0 { others.removeAllObjects() }
  }
}
