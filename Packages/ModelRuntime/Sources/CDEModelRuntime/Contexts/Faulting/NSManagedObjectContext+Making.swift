internal import CDEManagedModel
@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Synchronization

// Making the objects of rows, and the keys of new ones.
extension NSManagedObjectContext {
  /// The row of the object being initialised; nil when the object is new.
  func takeMaterialization(of entity: NSEntityDescription) -> Materialization? {
    // An initialiser of a subclass may make other objects before this one.
    guard let row = materialization, row.binding.description === entity else { return nil }
    materialization = nil
    return row
  }

  var baseFlags: NSManagedObject.Flags { isChecked ? .checked : [] }

  func materialize(
    _ binding: EntityBinding, _ type: NSManagedObject.Type, key: Int64, batch: RowBatch, row: Int32,
    flags: NSManagedObject.Flags
  ) -> NSManagedObject {
    materialization = Materialization(binding: binding, batch: batch, row: row, key: key, flags: flags)
    let object = type.make(binding.description, in: self)
    checkPrecondition(
      materialization == nil,
      "\(type).init(entity:insertInto:) must hand its entity and its context to super unchanged: it is called for fetched objects "
        + "as well as for new ones.")
    return object
  }

  /// The object for a row: the registered one, or a fault.
  func object(entity: EntityIndex, key: Int64) -> NSManagedObject {
    let binding = registry.model.entities[entity]
    if let known = registry.object(root: binding.root, key: key) { return known }
    let made = materialize(
      binding, binding.objectClass, key: key, batch: binding.defaults, row: 0,
      flags: baseFlags.union(.fault))
    registry.register(made)
    recent.keep(made)
    return made
  }

  func nextTemporaryKey() -> Int64 {
    if temporaryKeys.isEmpty {
      let block = Self.temporaryKeyBlocks.wrappingAdd(1, ordering: .relaxed).newValue
      temporaryKeys = -(block * 4096)..<(-(block - 1) * 4096)
    }
    defer { temporaryKeys = temporaryKeys.lowerBound..<(temporaryKeys.upperBound - 1) }
    return temporaryKeys.upperBound - 1
  }

  // Unique in the process, so that temporary IDs of different contexts differ.
  private static let temporaryKeyBlocks = Atomic<Int64>(0)
}
