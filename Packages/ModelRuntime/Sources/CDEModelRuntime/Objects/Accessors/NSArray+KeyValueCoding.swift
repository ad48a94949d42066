public import Foundation

// Key-value coding of Foundation's collections, which Foundation has on Apple's platforms only. A key is applied to each member. Keys that
// begin with @ are operators, such as `@count`.

extension NSArray {
  /// The members' values for a key, with `NSNull` for nil.
  ///
  /// - Parameter key: a key of the members, or an operator.
  public func value(forKey key: String) -> Any {
    if key.hasPrefix("@") { return CollectedValues.value(of: self, along: key) ?? NSNull() }
    return NSArray(array: map { CollectedValues.value(of: $0, along: key) ?? NSNull() })
  }

  /// The value at the end of a path, such as `@sum.price` or `owner.name`. Values that are nil are left out.
  ///
  /// - Parameter keyPath: keys and operators, separated by points.
  public func value(forKeyPath keyPath: String) -> Any? {
    keyPath.contains(".") ? CollectedValues.value(of: self, along: keyPath) : value(forKey: keyPath)
  }

  /// Sets a property of each member that is a managed object.
  ///
  /// - Parameters:
  ///   - value: a value that the members' `setValue(_:forKey:)` accepts.
  ///   - key: a key of the members.
  public func setValue(_ value: Any?, forKey key: String) {
    for case let object as NSManagedObject in self { object.setValue(value, forKey: key) }
  }
}

extension NSSet {
  /// The set of the members' values for a key. Values that are nil are left out.
  ///
  /// - Parameter key: a key of the members, or an operator.
  public func value(forKey key: String) -> Any { CollectedValues.value(of: self, along: key) ?? NSNull() }

  /// The value at the end of a path, such as `@sum.price` or `owner.name`. Values that are nil are left out.
  ///
  /// - Parameter keyPath: keys and operators, separated by points.
  public func value(forKeyPath keyPath: String) -> Any? { CollectedValues.value(of: self, along: keyPath) }

  /// Sets a property of each member that is a managed object.
  ///
  /// - Parameters:
  ///   - value: a value that the members' `setValue(_:forKey:)` accepts.
  ///   - key: a key of the members.
  public func setValue(_ value: Any?, forKey key: String) {
    for case let object as NSManagedObject in self { object.setValue(value, forKey: key) }
  }
}

extension NSOrderedSet {
  /// The ordered set of the members' values for a key. Values that are nil are left out.
  ///
  /// - Parameter key: a key of the members, or an operator.
  public func value(forKey key: String) -> Any { CollectedValues.value(of: self, along: key) ?? NSNull() }

  /// The value at the end of a path, such as `@sum.price` or `owner.name`. Values that are nil are left out.
  ///
  /// - Parameter keyPath: keys and operators, separated by points.
  public func value(forKeyPath keyPath: String) -> Any? { CollectedValues.value(of: self, along: keyPath) }

  /// Sets a property of each member that is a managed object.
  ///
  /// - Parameters:
  ///   - value: a value that the members' `setValue(_:forKey:)` accepts.
  ///   - key: a key of the members.
  public func setValue(_ value: Any?, forKey key: String) {
    for case let object as NSManagedObject in self { object.setValue(value, forKey: key) }
  }
}
