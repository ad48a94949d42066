@_spi(CDE) internal import CDEModelRuntime
public import Foundation

// Key-value observing of a migration's progress, which Core Data recommends for showing it.

extension NSMigrationManager: _KeyValueCodingAndObserving {}

extension _KeyValueCodingAndObserving where Self: NSMigrationManager {
  /// Calls a closure after each step of a migration, on the thread that migrates.
  ///
  /// - Parameters:
  ///   - keyPath: `\.migrationProgress`. A closure that observes another property is called after each step, too.
  ///   - options: which values the closure gets, and whether it is called at once.
  ///   - changeHandler: gets the manager and the change.
  /// - Returns: the observation, which ends when it is released.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    var last = self[keyPath: keyPath]
    let tell = { [unowned self] (old: Value?) in
      let new = self[keyPath: keyPath]
      last = new
      changeHandler(self, NSKeyValueObservedChange(from: old, to: new, options))
    }
    let number = addProgressObserver { tell(last) }
    if options.contains(.initial) { tell(nil) }
    return NSKeyValueObservation { [weak self] in self?.progressObservers[number] = nil }
  }
}

extension NSMigrationManager {
  fileprivate func addProgressObserver(_ tell: @escaping () -> Void) -> Int {
    let number = (progressObservers.keys.max() ?? 0) + 1
    progressObservers[number] = tell
    return number
  }

  /// The number of an observer that is an object: negative, so that it differs from those of closures.
  private static func number(of observer: NSObject) -> Int {
    -Int(bitPattern: Unmanaged.passUnretained(observer).toOpaque())
  }

  /// Calls an observer's `observeValue(forKeyPath:of:change:context:)` after each step of a migration, on the thread that migrates.
  ///
  /// - Parameters:
  ///   - observer: an object of a class that overrides the function. It is not retained.
  ///   - keyPath: `migrationProgress`, the only key that changes.
  ///   - options: which values the observer gets, and whether it is called at once.
  ///   - context: what the observer gets to tell its observations apart.
  public func addObserver(
    _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer?
  ) {
    weak let receiver = observer as? any _CDKeyValueObserver
    var last: Float?
    let tell = { [unowned self] in
      let new = migrationProgress
      var change: [NSKeyValueChangeKey: Any] = [.kindKey: NSNumber(value: NSKeyValueChange.setting.rawValue)]
      if options.contains(.new) { change[.newKey] = NSNumber(value: new) }
      if options.contains(.old), let last { change[.oldKey] = NSNumber(value: last) }
      last = new
      receiver?.observeValue(forKeyPath: keyPath, of: self, change: change, context: context)
    }
    if options.contains(.initial) { tell() }
    last = migrationProgress
    progressObservers[Self.number(of: observer)] = tell
  }

  /// Ends an observation that `addObserver(_:forKeyPath:options:context:)` began.
  public func removeObserver(_ observer: NSObject, forKeyPath keyPath: String) {
    progressObservers[Self.number(of: observer)] = nil
  }

  /// Ends an observation that `addObserver(_:forKeyPath:options:context:)` began.
  public func removeObserver(
    _ observer: NSObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
  ) {
    removeObserver(observer, forKeyPath: keyPath)
  }
}
