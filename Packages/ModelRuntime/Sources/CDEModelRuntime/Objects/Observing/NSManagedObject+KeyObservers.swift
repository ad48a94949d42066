@_spi(CDE) internal import CDEExecutors
internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension NSManagedObject {
  /// Calls a closure after each change of a key: by a setter, key-value coding, the other side of a relationship, a merge, a refresh or
  /// a rollback.
  ///
  /// The key is a property of the model, a variable that the class computes, or a path over to-one relationships to one of these. The
  /// last two change when what affects them does, see ``keyPathsForValuesAffectingValue(forKey:)``. The call runs on the context's
  /// isolation, before the function that made the change returns. Both sides of a relationship have changed then. Reads the rows
  /// on the path now, and again if an object of it is turned into a fault.
  ///
  /// - Parameters:
  ///   - path: the key, or the keys of a path with dots between them. One that leads nowhere traps.
  ///   - value: reads the value; nil for `value(forKeyPath:)`.
  ///   - origin: what finds the observer again for ``removeKeyObserver(_:_:context:)``.
  ///   - body: gets the object, the former value and the new value.
  @_spi(CDE) public final func observeKey(
    _ path: String, origin: KeyObserver.Origin? = nil, value: ((NSManagedObject) -> Any?)? = nil,
    _ body: @escaping (NSManagedObject, _ old: Any?, _ new: Any?) -> Void
  ) -> KeyObserver {
    willAccess()
    let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let alone = keys.count == 1 && Self.keyPathsForValuesAffectingValue(forKey: path).isEmpty
    let info = alone ? _binding.property(path) : nil
    let made = KeyObserver(path, slot: info?.slot, origin: origin, value: value, body)
    if info == nil { made.replaceLinks(by: links(along: keys, affecting: made)) }
    made.last = made.value(of: self)
    add(made)
    return made
  }

  /// Enters an observer into the table.
  final func add(_ observer: KeyObserver) {
    KeyObserver.table.withLock { $0[ObjectIdentifier(self), default: []].append(observer) }
    _flags.insert(.keyObserved)
    _home?.with { $0.hasKeyObservers = true }
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

  /// The key of a Swift key path, or its path of keys. Traps for a key path without a name.
  @_spi(CDE) public static func observedKey(of keyPath: AnyKeyPath) -> String {
    let naming = type(of: keyPath).rootType as? any PredicateKeyPathNaming.Type
    guard let key = naming?.predicateKey(for: keyPath), !key.isEmpty else {
      failPrecondition(
        "\(keyPath) can't be observed: it leads to no property that the model gives the object. Observe a property of the "
          + "model, a variable that the class computes of such, or a path to one of these that is written at the call."
      )
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
      tellKeyObservers { $0.slot == slot }
    }
  }

  /// Tells the observers of a key that the class computes, and of which it says itself that it has changed.
  final func computedKeyChanged(_ key: String) {
    if isKeyObserved { tellKeyObservers { $0.slot == nil && $0.path == key && $0.affected != nil } }
  }

  fileprivate func tellKeyObservers(_ isChanged: (KeyObserver) -> Bool) {
    var affected = AffectedObservers()
    for observer in keyObservers where isChanged(observer) && observer.isActive {
      if affected.note(observer) {
        observer.last = observer.value(of: self)
      } else {
        observer.tell(self)
      }
    }
    affected.tell(ifDifferent: false)
  }

  /// Tells the observers of properties that have other values than they were told.
  @inline(never)
  final func tellDifferences() {
    guard !isDeletedOrGone, _registry?.context != nil else { return }
    var affected = AffectedObservers()
    for observer in keyObservers where observer.isActive {
      // A path and a computed key differ if what affects them does.
      guard observer.slot != nil else { continue }
      if observer.affected == nil {
        observer.tell(self, ifDifferent: true)
        continue
      }
      let new = observer.value(of: self)
      if KeyObserver.areEqual(observer.last, new) { continue }
      observer.last = new
      _ = affected.note(observer)
    }
    affected.tell(ifDifferent: true)
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
      for (object, slot) in changes { object.tellKeyObservers { $0.slot == slot } }
    }
  }
}
