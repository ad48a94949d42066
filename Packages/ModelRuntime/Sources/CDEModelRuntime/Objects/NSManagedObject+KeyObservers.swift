@_spi(CDE) internal import CDEExecutors
internal import CDEPredicates
internal import CDEStore
internal import Foundation
internal import Synchronization

/// What is called when one property of one object has changed. Key-value observing is made of it.
@_spi(CDE) public final class KeyObserver: @unchecked Sendable {
  // Guard: the executor of the object's context, except for the atomic `isCancelled`.
  fileprivate let slot: SlotIndex
  /// The value that the observer was told last.
  fileprivate var last: Any?
  fileprivate let tell: (NSManagedObject, _ old: Any?, _ new: Any?) -> Void
  fileprivate let isCancelled = Atomic<Bool>(false)

  /// What `addObserver(_:forKeyPath:options:context:)` was given, and what names the observer when it is removed.
  public struct Origin: Equatable {
    let observer: ObjectIdentifier
    let key: String
    let context: UnsafeMutableRawPointer?

    public init(_ observer: AnyObject, _ key: String, _ context: UnsafeMutableRawPointer?) {
      self.observer = ObjectIdentifier(observer)
      self.key = key
      self.context = context
    }
  }

  fileprivate let origin: Origin?

  fileprivate init(
    _ slot: SlotIndex, _ value: Any?, _ origin: Origin?,
    _ tell: @escaping (NSManagedObject, _ old: Any?, _ new: Any?) -> Void
  ) {
    self.slot = slot
    self.origin = origin
    last = value
    self.tell = tell
  }

  /// Ends the calls. Any thread may do so.
  public func cancel() { isCancelled.store(true, ordering: .releasing) }

  fileprivate var isActive: Bool { !isCancelled.load(ordering: .acquiring) }

  /// The observers of all observed objects. An object without observers has no entry.
  ///
  /// Not a field of the object, because nearly no object has observers.
  static let table = Lock<[ObjectIdentifier: [KeyObserver]]>([:])
}

extension NSManagedObject {
  /// Calls a closure after each change of a property: by a setter, key-value coding, the other side of a relationship, a merge,
  /// a refresh or a rollback.
  ///
  /// The call runs on the context's isolation, before the function that made the change returns. Both sides of a relationship
  /// have changed then. Reads the row now, and again if the object is turned into a fault.
  ///
  /// - Parameters:
  ///   - key: the property's name in the model. An unknown one traps.
  ///   - origin: what finds the observer again for ``removeKeyObserver(_:_:context:)``.
  ///   - body: gets the object, the former value and the new value, as `value(forKey:)` returns them.
  @_spi(CDE) public final func observeKey(
    _ key: String, origin: KeyObserver.Origin? = nil,
    _ body: @escaping (NSManagedObject, _ old: Any?, _ new: Any?) -> Void
  ) -> KeyObserver {
    willAccess()
    guard let info = _binding.property(key) else {
      failPrecondition(
        "\(_binding.name).\(key) can't be observed: the model gives the entity no such property. "
          + Spelling.hint(key, _binding.properties.map(\.name), all: "Its properties are"))
    }
    let made = KeyObserver(info.slot, anyValue(info), origin, body)
    KeyObserver.table.withLock { $0[ObjectIdentifier(self), default: []].append(made) }
    _flags.insert(.keyObserved)
    _home?.with { $0.hasKeyObservers = true }
    return made
  }

  /// Removes the last observer that was added for an object and a key. Traps if there is none, as Core Data raises an exception.
  ///
  /// - Parameters:
  ///   - observer: the object that was added.
  ///   - key: the observed key.
  ///   - context: the context that was given; nil for any.
  @_spi(CDE) public final func removeKeyObserver(
    _ observer: AnyObject, _ key: String, context: UnsafeMutableRawPointer??
  ) {
    let found = keyObservers.last { known in
      guard let origin = known.origin else { return false }
      if let context { return origin == KeyObserver.Origin(observer, key, context) }
      return origin.observer == ObjectIdentifier(observer) && origin.key == key
    }
    guard let found else {
      failPrecondition(
        "\(type(of: observer)) can't be removed as an observer of \(_binding.name).\(key), because it is none. Remove each "
          + "observer once, with the key path and the context that it was added with.")
    }
    found.cancel()
  }

  /// The key of a Swift key path of one property. Traps for a key path that leads elsewhere.
  @_spi(CDE) public static func observedKey(of keyPath: AnyKeyPath) -> String {
    let naming = type(of: keyPath).rootType as? any PredicateKeyPathNaming.Type
    guard let key = naming?.predicateKey(for: keyPath), !key.isEmpty, !key.contains(".") else {
      failPrecondition(
        "\(keyPath) can't be observed: it leads to no property that the model gives the object. Observe a property of the "
          + "model, and the properties of a related object on that object.")
    }
    return key
  }

  final var isKeyObserved: Bool { _flags.contains(.keyObserved) }

  /// Called by the object's deinit.
  final func forgetKeyObservers() {
    let former = KeyObserver.table.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
    withExtendedLifetime(former) {}
  }

  private var keyObservers: [KeyObserver] {
    let known = KeyObserver.table.withLock { $0[ObjectIdentifier(self)] } ?? []
    let active = known.filter(\.isActive)
    if active.isEmpty {
      forgetKeyObservers()
      _flags.remove(.keyObserved)
    } else if active.count < known.count {
      KeyObserver.table.withLock { $0[ObjectIdentifier(self)] = active }
    }
    return active
  }

  /// Tells the observers of a property that was set. If it is a relationship, they are told when both sides are set.
  @inline(never)
  final func keyChanged(_ slot: SlotIndex) {
    if let registry = _registry, _binding.properties[slot].isRelationship {
      if !registry.keyChanges.contains(where: { $0.object === self && $0.slot == slot }) {
        registry.keyChanges.append((self, slot))
      }
    } else {
      tellKeyObservers(of: slot)
    }
  }

  fileprivate func tellKeyObservers(of slot: SlotIndex) {
    for observer in keyObservers where observer.slot == slot && observer.isActive {
      let (old, new) = (observer.last, anyValue(_binding.properties[slot]))
      observer.last = new
      observer.tell(self, old, new)
    }
  }

  /// Tells the observers of properties that have other values than they were told.
  @inline(never)
  final func tellDifferences() {
    guard !isDeletedOrGone, _registry?.context != nil else { return }
    for observer in keyObservers where observer.isActive {
      let (old, new) = (observer.last, anyValue(_binding.properties[observer.slot]))
      if Self.areEqual(old, new) { continue }
      observer.last = new
      observer.tell(self, old, new)
    }
  }

  private static func areEqual(_ one: Any?, _ other: Any?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    guard let first = one as? AnyHashable, let second = other as? AnyHashable else { return false }
    return first == second
  }

  /// Tells the observers of the relationships that a function of the application has changed.
  @inline(__always)
  final func tellRelated() {
    if let home = _home, home.with({ !$0.keyChanges.isEmpty }) { home.object.tellKeyChanges() }
  }
}

extension ObjectRegistry {
  @inline(never)
  final func tellKeyChanges() {
    // An observer may change more.
    while !keyChanges.isEmpty {
      let changes = keyChanges
      keyChanges = []
      for (object, slot) in changes { object.tellKeyObservers(of: slot) }
    }
  }
}
