@_spi(CDE) internal import CDEExecutors
internal import CDEStore

/// The parent context as the source of a child's rows.
///
/// Each call waits for the parent's executor. Code of the parent that waits for the child at that time does not cause
/// a cycle, see `ContextExecutor.runNestedAndWait(_:)`.
///
/// On the way back the child takes the keys that objects of the parent have got meanwhile. Rows and objects of the child
/// then agree on them.
final class ParentSource: RowSource {
  let parent: NSManagedObjectContext
  let member: ChildContexts.Member
  // Not counted, because the context owns the source. Used on the child's executor, or while the child waits.
  private let child: UncountedContext

  private struct UncountedContext: @unchecked Sendable {
    // Guard: immutable; the child's executor uses the context.
    unowned(unsafe) let context: NSManagedObjectContext
  }

  init(_ parent: NSManagedObjectContext, of child: NSManagedObjectContext) {
    self.parent = parent
    self.child = UncountedContext(context: child)
    member = ChildContexts.Member(child.inbox) { [executor = child.executor, weak child] in
      // A child on the executor of its parent has the keys when the parent's save returns.
      if executor.isCurrent {
        child?.takeNewKeys()
      } else {
        executor.enqueue { [weak child] in child?.takeNewKeys() }
      }
    }
    parent.children.add(member)
  }

  /// Ends the membership. The child's deinit calls this.
  func leave() { parent.children.remove(member) }

  /// Runs a body on the parent's executor while the child waits.
  func onParent<Value>(
    _ body: (NSManagedObjectContext) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    let parent = parent
    let value = try parent.executor.runNestedAndWait { () throws(StoreError) -> Value in
      guard parent.registry != nil else {
        throw StoreError(.closed, "The parent context has no persistentStoreCoordinator.")
      }
      return try body(parent)
    }
    child.context.takeNewKeys()
    return value
  }

  var hasUnsavedRows: Bool { true }

  func handle(for entity: EntityBinding) -> StoreHandle? {
    parent.persistentStoreCoordinator?.handle(for: entity)
  }

  func store(of handle: StoreHandle) throws(StoreError) -> any Store {
    if let source = parent.rowSource { return try source.store(of: handle) }
    return handle.store
  }

  func handles(for entity: EntityBinding) -> [StoreHandle] {
    parent.persistentStoreCoordinator?.handles(for: entity) ?? []
  }

  func handle(for entity: EntityBinding, key: Int64) -> StoreHandle? {
    parent.persistentStoreCoordinator?.handle(for: entity, key: key)
  }

  func removedHandle(for entity: EntityBinding, key: Int64) -> StoreHandle? {
    parent.persistentStoreCoordinator?.removedHandle(for: entity, key: key)
  }

  func requiredHandle(for entity: EntityBinding) throws -> StoreHandle {
    try parent.coordinator().requiredHandle(for: entity)
  }

  func row(of entity: EntityBinding, key: Int64, for fault: FiredFault?) throws(StoreError) -> RowReference? {
    try onParent { parent throws(StoreError) in try parent.childRow(of: entity, key: key, for: fault) }
  }

  func rows(of root: EntityBinding, keys: [Int64]) throws(StoreError) -> FetchedRows {
    try onParent { parent throws(StoreError) in try parent.childRows(of: root, keys: keys) }
  }

  func related(
    to owners: [Int64], of entity: EntityBinding, slot: SlotIndex,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?, for fault: FiredFault?
  ) throws(StoreError) -> RelatedRows {
    try onParent { parent throws(StoreError) in
      try parent.childRelated(to: owners, of: entity, slot: slot, isKnown: isKnown, for: fault)
    }
  }

  func fetch(
    _ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    try onParent { parent throws(StoreError) in
      try parent.childFetch(query, of: entity, in: stores, isKnown: isKnown)
    }
  }

  func count(_ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?) throws(StoreError)
    -> Int
  {
    try onParent { parent throws(StoreError) in try parent.childCount(query, of: entity, in: stores) }
  }

  func storedCount(
    _ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?
  ) throws(StoreError) -> Int {
    try onParent { parent throws(StoreError) in
      try parent.readableSource().storedCount(query, of: entity, in: stores)
    }
  }

  func project(
    _ projection: StoreProjection, of entity: EntityBinding, in stores: [StoreHandle]?
  ) throws(StoreError) -> ProjectedRows {
    try onParent { parent throws(StoreError) in
      try parent.readableSource().project(projection, of: entity, in: stores)
    }
  }

  func externalValue(_ value: ExternalValue, of entity: EntityBinding) throws(StoreError) -> [UInt8] {
    try onParent { parent throws(StoreError) in
      try parent.readableSource().externalValue(value, of: entity)
    }
  }

  func allocateKeys(
    _ count: Int, of root: EntityBinding, in handle: StoreHandle
  ) throws(StoreError) -> Int64 {
    try onParent { parent throws(StoreError) in
      try parent.readableSource().allocateKeys(count, of: root, in: handle)
    }
  }
}

extension ParentSource {
  /// Gives objects of the parent permanent keys, and the child's objects with them.
  func obtainPermanentKeys(of rows: [RowKey]) throws {
    if rows.isEmpty { return }
    try onParentThrowing { parent in
      try parent.makePermanentIDs(for: rows.compactMap { parent.registeredForChild($0) })
    }
    child.context.takeNewKeys()
  }

  /// The same as ``onParent(_:)``, for errors of any type.
  func onParentThrowing<Value>(_ body: (NSManagedObjectContext) throws -> Value) throws -> Value {
    let parent = parent
    return try parent.executor.runNestedAndWait { try body(parent) }
  }
}
