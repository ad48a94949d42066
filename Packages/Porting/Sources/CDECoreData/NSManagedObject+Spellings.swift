public import Foundation

/// How a set changes, for announcements of changes.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// Objects are added.
  case union = 1
  /// Objects are removed.
  case minus = 2
  /// Other objects are removed.
  case intersect = 3
  /// All objects are replaced.
  case set = 4
}

/// How an ordered collection changes, for announcements of changes.
public enum NSKeyValueChange: UInt, Sendable {
  /// The value is replaced.
  case setting = 1
  /// Objects are added.
  case insertion = 2
  /// Objects are removed.
  case removal = 3
  /// Objects are replaced.
  case replacement = 4
}

extension NSObject {
  /// The name of the class with its module. A managed class has the name that `@objc` gives.
  public class func description() -> String {
    (self as? NSManagedObject.Type).map { NSStringFromClass($0) } ?? String(reflecting: self)
  }
}

extension _CDKeyPathNaming where Self: NSManagedObject {
  /// Announces that a property is about to change. Properties without `@NSManaged` and `@objc` have no key: nothing happens.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    if let key = keyPath._cdKeyPathString { willChangeValue(forKey: key) }
  }

  /// Announces that a property has changed. Properties without `@NSManaged` and `@objc` have no key: nothing happens.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    if let key = keyPath._cdKeyPathString { didChangeValue(forKey: key) }
  }
}

extension NSManagedObject {
  /// Announces that a to-many relationship's set is about to change.
  public func willChangeValue(
    forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind,
    using objects: Set<AnyHashable>
  ) { willChangeValue(forKey: key) }

  /// Announces that a to-many relationship's set has changed.
  public func didChangeValue(
    forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind,
    using objects: Set<AnyHashable>
  ) { didChangeValue(forKey: key) }

  /// Announces that an ordered relationship is about to change.
  public func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
    willChangeValue(forKey: key)
  }

  /// Announces that an ordered relationship has changed.
  public func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
    didChangeValue(forKey: key)
  }

  /// 1 for a fault, otherwise 0.
  public var faultingState: Int { isFault ? 1 : 0 }
}
