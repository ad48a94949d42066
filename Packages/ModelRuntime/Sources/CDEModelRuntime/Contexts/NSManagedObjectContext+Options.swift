@_spi(CDE) public import CDEExecutors
internal import CDEStore
internal import Foundation

// Members of contexts that few applications use.
extension NSManagedObjectContext {
  /// Whether the context retains all its objects; false at first, as in Core Data.
  ///
  /// If true, an object stays registered until it is deleted and saved, the context is reset or freed, or this is set to
  /// false. If false, the context retains objects with unsaved changes only.
  public var retainsRegisteredObjects: Bool {
    get {
      preconditionIsolated("retainsRegisteredObjects")
      return retainsObjects
    }
    set {
      preconditionIsolated("retainsRegisteredObjects")
      retainsObjects = newValue
      registry?.retainsAll = newValue
    }
  }

  /// Whether delete rules are applied with the deletion; true at first, as in Core Data. If false, the next save applies
  /// them, before its hooks and its validation.
  ///
  /// If true, the rules are applied at once, while Core Data does it at the end of the event, when changes are announced.
  /// The rules of an object that was never saved are always applied at once, because the object leaves the context.
  public var propagatesDeletesAtEndOfEvent: Bool {
    get { configuration.withLock { $0.propagatesDeletes } }
    set { configuration.withLock { $0.propagatesDeletes = newValue } }
  }

  /// Makes saves check that another writer has not changed an object since this context read it, although the saves do not
  /// change it. A change is a conflict, which the ``mergePolicy`` resolves as other conflicts. As in Core Data.
  ///
  /// The next save to the object's store checks it, inside its transaction. A successful save, a rollback and a reset end
  /// the check. A fault, and an object without a row, has no values to check. The save of a child context passes the request
  /// on to the parent context. A save that writes nothing checks nothing.
  ///
  /// - Parameter object: an object of this context.
  public func detectConflicts(for object: NSManagedObject) {
    preconditionIsolated("detectConflicts(for:)")
    guard object._registry === registry, object.isStored else { return }
    if !detected.contains(where: { $0 === object }) { detected.append(object) }
  }

  // MARK: Detecting conflicts

  /// The rows that a save checks in addition to those that it writes.
  func rowChecks(besides saves: [BuiltSave], in handle: StoreHandle) -> [RowCheck] {
    if detected.isEmpty { return [] }
    let written = Set(saves.flatMap { $0.rewritten + $0.objects.deleted }.map(ObjectIdentifier.init))
    return detected.filter { object in
      object.isStored && object.isRealized && object._batch !== object._binding.defaults
        && storeHandle(for: object._binding, key: object._key) === handle
        && !written.contains(ObjectIdentifier(object))
    }.map(\.rowCheck)
  }

  /// Forgets the objects that a successful save has checked.
  func forgetDetected(in handle: StoreHandle) {
    if !detected.isEmpty { detected.removeAll { storeHandle(for: $0._binding, key: $0._key) === handle } }
  }

  /// Makes the next save check objects that a child context names.
  func detectConflicts(ofChild rows: [(entity: EntityIndex, row: RowKey)]) {
    for (entity, row) in rows {
      let object = registeredForChild(row) ?? object(entity: entity, key: children.presentKey(of: row))
      if object.isFault { object.fire() }
      detectConflicts(for: object)
    }
  }

  /// Leaves the isolation of objects and calls to a layer whose types the compiler keeps in one isolation. Called before the
  /// context is used.
  @_spi(CDE) public final func leaveUnchecked() { isChecked = false }

  /// Lets the class of the objects answer uses outside of the isolation, instead of ending the program: see
  /// `NSManagedObject._cdStandIn(for:)`. Called before the context has objects.
  @_spi(CDE) public final func answerOutside() {
    isChecked = true
    answersOutside = true
  }

  /// Whether the caller is outside of the isolation, and the context answers such callers.
  @_spi(CDE) public final var isUsedOutside: Bool {
    answersOutside && (concurrencyType == .mainQueue || executor.wasEntered) && !executor.isCurrent
  }

  /// Announces changes on another executor than the context's own: on that of the code that made the context, and keeps it.
  @_spi(CDE) public final func announce(on executor: ContextExecutor?) { announcing.elsewhere = executor }

  // MARK: Isolation

  /// Whether the caller is on the context's isolation. Until a private context is entered, it belongs to its creator.
  var isIsolatedHere: Bool {
    (concurrencyType == .privateQueue && !executor.wasEntered) || executor.isCurrent
  }

  /// Traps when the caller is not on the context's isolation.
  @inline(__always)
  func preconditionIsolated(_ what: @autoclosure () -> String) {
    if isChecked { checkIsolation(what) }
  }

  @inline(never)
  private func checkIsolation(_ what: () -> String) {
    if answersOutside || isIsolatedHere { return }
    // The program may have used none of its classes yet.
    PortedClasses.loadProgram()
    if OutsideReports.takes(what()) { return }
    executor.preconditionCurrent(
      "\(what()) was used outside its context\(name.map { " \"\($0)\"" } ?? ""). Use it inside perform { }, performAndWait { } "
        + "or the model actor that owns the context\(concurrencyType == .mainQueue ? "; this one belongs to the main actor" : "")."
    )
  }
}
