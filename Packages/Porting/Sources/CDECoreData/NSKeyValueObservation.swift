@_spi(CDE) internal import CDEModelRuntime
public import Foundation

// Key-value observing of managed objects. Of other objects, only migrations have some on Linux.

/// What an observer of a key is told, and when.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  /// The new value.
  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  /// The former value.
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  /// The observer is called once when it is added, too.
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
  /// The observer is called before each change, too.
  @available(*, unavailable, message: "Observers are called after changes only. Use the option old.")
  public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// The keys of what an observer is told.
public struct NSKeyValueChangeKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The kind of the change: ``NSKeyValueChange/setting`` as a number.
  public static let kindKey = NSKeyValueChangeKey(rawValue: "kind")
  /// The new value, if the options ask for it; `NSNull` for nil.
  public static let newKey = NSKeyValueChangeKey(rawValue: "new")
  /// The former value, if the options ask for it; `NSNull` for nil.
  public static let oldKey = NSKeyValueChangeKey(rawValue: "old")
  /// Where members were inserted or removed. Observers here are told whole values, so no change has it.
  public static let indexesKey = NSKeyValueChangeKey(rawValue: "indexes")
  /// Whether the change is still to come. No change has it, because `NSKeyValueObservingOptions.prior` is not supported.
  public static let notificationIsPriorKey = NSKeyValueChangeKey(rawValue: "notificationIsPrior")
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
  /// The kinds of changes.
  public typealias Kind = NSKeyValueChange
  /// The kind: always ``NSKeyValueChange/setting``. Core Data names insertions and removals for relationships.
  public let kind: Kind
  /// The new value, if the options ask for it.
  public let newValue: Value?
  /// The former value, if the options ask for it.
  public let oldValue: Value?
  /// Always nil. Core Data has the indexes of changed members of an ordered relationship.
  public let indexes: IndexSet?
  /// Always false: observers are called after changes only.
  public let isPrior: Bool

  init(from old: Value?, to new: Value, _ options: NSKeyValueObservingOptions) {
    kind = .setting
    newValue = options.contains(.new) ? new : nil
    oldValue = options.contains(.old) ? old : nil
    indexes = nil
    isPrior = false
  }
}

/// An observation of a property. It ends when this object is released.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
  // Guard: immutable. An observer of an object may be cancelled on any thread, one of a migration where the migration runs.
  private let cancel: () -> Void

  init(cancelledBy cancel: @escaping () -> Void) { self.cancel = cancel }

  deinit { cancel() }

  /// Ends the observation.
  public func invalidate() { cancel() }
}

/// What has properties that can be observed by Swift key paths.
public protocol _KeyValueCodingAndObserving {}
extension NSManagedObject: _KeyValueCodingAndObserving {}

extension _KeyValueCodingAndObserving where Self: NSManagedObject {
  /// Calls a closure after each change of a property: by a setter, key-value coding, the other side of a relationship, a merge,
  /// a refresh or a rollback.
  ///
  /// The call is on the context's isolation, before the function that made the change returns. A variable that the class computes
  /// changes with the keys that `keyPathsForValuesAffectingValue(forKey:)` or `keyPathsForValuesAffecting<Key>` names. The rows on the
  /// path are read now, and read again whenever one of their objects is turned into a fault. Core Data also calls observers before changes.
  ///
  /// - Parameters:
  ///   - keyPath: a property of the model, a variable that the class computes, or a path over to-one relationships to one of these,
  ///     which is written at the call, as in `\.owner?.lastName`. Another key path traps.
  ///   - options: which values the closure gets, and whether it is called at once.
  ///   - changeHandler: gets the object and the change.
  /// - Returns: the observation, which ends when it is released.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    var last: Value?
    let name = _CDNamedKeyPaths.name(of: keyPath) ?? Self.observedKey(of: keyPath)
    let observer = observeKey(name, value: { ($0 as! Self)[keyPath: keyPath] }) { object, _, _ in
      let object = object as! Self
      let new = object[keyPath: keyPath]
      let told = NSKeyValueObservedChange(from: last, to: new, options)
      last = new
      changeHandler(object, told)
    }
    // Read after the key path has been checked.
    last = self[keyPath: keyPath]
    if options.contains(.initial) {
      changeHandler(self, NSKeyValueObservedChange(from: nil, to: self[keyPath: keyPath], options))
    }
    return NSKeyValueObservation { observer.cancel() }
  }
}

/// A class that overrides `observeValue(forKeyPath:of:change:context:)` on Apple's platforms. The rewriting adds the conformance.
public protocol _CDKeyValueObserver: AnyObject {
  /// Called after a change of an observed property.
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?)
}

/// What `super` has for classes that override `observeValue(forKeyPath:of:change:context:)`.
public protocol _CDKeyValueObserverParent {}
extension NSObject: _CDKeyValueObserverParent {}

extension _CDKeyValueObserverParent {
  /// Does nothing. On Apple's platforms it raises an exception.
  public func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}

extension NSManagedObject {
  /// Calls an observer's `observeValue(forKeyPath:of:change:context:)` after each change of a property, as `observe(_:)` calls its
  /// closure.
  ///
  /// - Parameters:
  ///   - observer: an object of a class that overrides the function. It is not retained. Any other object is never called.
  ///   - keyPath: a property of the model, a variable that the class computes, or a path over to-one relationships to one of these.
  ///     Another one traps.
  ///   - options: which values the observer gets, and whether it is called at once.
  ///   - context: what the observer gets to tell its observations apart.
  public func addObserver(
    _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer?
  ) {
    weak let receiver = observer as? any _CDKeyValueObserver
    func tell(_ object: NSManagedObject, _ old: Any??, _ new: Any?) {
      var change: [NSKeyValueChangeKey: Any] = [.kindKey: NSNumber(value: NSKeyValueChange.setting.rawValue)]
      if options.contains(.new) { change[.newKey] = new ?? NSNull() }
      if options.contains(.old), let old { change[.oldKey] = old ?? NSNull() }
      receiver?.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
    let origin = KeyObserver.Origin(observer, keyPath, context)
    _ = observeKey(keyPath, origin: origin) { object, old, new in tell(object, .some(old), new) }
    if options.contains(.initial) { tell(self, nil, value(forKey: keyPath)) }
  }

  /// Ends an observation that `addObserver(_:forKeyPath:options:context:)` began. Traps if there is none.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - keyPath: what is observed.
  public func removeObserver(_ observer: NSObject, forKeyPath keyPath: String) {
    removeKeyObserver(observer, keyPath, context: nil)
  }

  /// Ends an observation that `addObserver(_:forKeyPath:options:context:)` began. Traps if there is none.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - keyPath: what is observed.
  ///   - context: what the observation was begun with.
  public func removeObserver(
    _ observer: NSObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
  ) {
    removeKeyObserver(observer, keyPath, context: .some(context))
  }
}
