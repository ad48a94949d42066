@_spi(CDE) internal import CDEExecutors
public import CDEStore
internal import Foundation

/// The differences between two snapshots of one object.
///
/// ``old`` and ``new`` contain the values themselves: `changes.new.title`.
public struct ModelChanges<Item: PersistentEntity>: Sendable {
  /// The snapshot that the comparison starts from.
  public let old: ModelSnapshot<Item>
  /// The snapshot that ``old`` is compared with.
  public let new: ModelSnapshot<Item>
  /// The properties that differ, as slots of the entity.
  @_spi(CDE) public let properties: PropertySet

  /// One property that differs.
  public struct Difference: Sendable {
    /// The property's name in code.
    public let name: String
    /// The stored value in the older snapshot, a to-one relationship as its URI; nil for none.
    public let old: (any Sendable)?
    /// The stored value in the newer snapshot, a to-one relationship as its URI; nil for none.
    public let new: (any Sendable)?
  }

  /// Whether no property differs.
  public var isEmpty: Bool { properties.isEmpty }

  /// Whether a property differs: `changes.contains(\.title)`.
  public func contains<Path: CDNamedPath>(_ path: KeyPath<Item.PathRoot, Path>) -> Bool {
    let name = Item.path[keyPath: path].persistentPath.first
    return name.flatMap { old.binding.layout.slot(named: $0) }.map(properties.contains) ?? false
  }

  /// The names in code of the properties that differ, in the order of their declaration.
  public var names: [String] { declared.map(\.name) }

  /// The properties that differ with their stored values, in the order of their declaration.
  public var differences: [Difference] {
    declared.map { name, info in
      Difference(name: name, old: old.plainValue(info), new: new.plainValue(info))
    }
  }

  private var declared: [(name: String, info: PropertyInfo)] {
    let binding = old.binding
    return zip(Item.__cdSwiftNames, Item.__cdPropertyNames).compactMap { name, persistentName in
      guard let info = binding.property(persistentName), properties.contains(info.slot) else { return nil }
      return (name, info)
    }
  }
}

extension ModelSnapshot {
  /// The differences from an earlier snapshot of the same object. Compares the stored values and decodes
  /// none.
  ///
  /// To-many relationships are not part of a row and never differ.
  ///
  /// - Precondition: both are snapshots of one object, in the model of one container.
  public func changes(since older: ModelSnapshot<Item>) -> ModelChanges<Item> {
    checkPrecondition(
      older.row.key == row.key && older.row.batch.layout === row.batch.layout
        && older.store.identifier == store.identifier,
      "changes(since:) compares two snapshots of the same object, not \(self) with \(older). Keep the older "
        + "snapshot by its handle.")
    return ModelChanges(old: older, new: self, properties: differences(from: older.row))
  }

  func differences(from other: RowReference) -> PropertySet {
    var slots = PropertySet()
    if row.batch === other.batch, row.row == other.row { return slots }
    for info in binding.properties where !isSame(info, other) { slots.insert(info.slot) }
    return slots
  }

  private func isSame(_ info: PropertyInfo, _ other: RowReference) -> Bool {
    // The object's position in its owner's order does not count, because it belongs to the owner.
    info.cells.allSatisfy { cell in
      row.batch.layout.cells[cell].role == .order
        || row.batch.sameValues(row.row, as: other.batch, other.row, cells: cell..<(cell + 1))
    }
  }
}

extension NSManagedObjectContext {
  /// Applies changes that other code made to a snapshot's object.
  ///
  /// A property that the object has not changed since ``ModelChanges/old`` takes the new value. A property
  /// that already has the new value does not change. If any property has been changed to another value,
  /// nothing is applied.
  ///
  /// - Returns: the names of the properties that were set.
  /// - Throws: ``ManagedObjectError`` with code `.changeConflict`, which names the property. If there are
  ///   several, `failures` has one error for each. Also the errors of ``PersistentEntity/snapshot()``.
  /// - Precondition: the changes are of this object, which belongs to this context.
  @discardableResult
  public func apply<Item>(_ changes: ModelChanges<Item>, to object: Item) throws -> [String] {
    preconditionIsolated("apply(_:to:)")
    checkPrecondition(
      object.objectID.ownKey == changes.new.row.key && object._binding === changes.new.binding
        && object.managedObjectContext === self
        && storeHandle(for: object._binding, key: object._key)?.identifier == changes.new.store.identifier,
      "apply(_:to:) takes changes of the very object that they are applied to, which belongs to this context. "
        + "Look the object up with object(for: changes.new.handle).")
    let store = storeHandle(for: object._binding, key: object._key)
    let current = ModelSnapshot<Item>(
      row: try object.currentRow(refersToUnsaved: true), model: changes.new.model,
      store: store ?? changes.new.store)
    // The object's changes since then, without changes to the same value.
    let conflicts = changes.properties
      .intersection(current.differences(from: changes.old.row))
      .intersection(current.differences(from: changes.new.row))
    if !conflicts.isEmpty {
      throw conflict(ModelChanges(old: changes.old, new: changes.new, properties: conflicts), object)
    }
    let applied = changes.properties.intersection(current.differences(from: changes.new.row))
    for slot in applied {
      let info = object._binding.properties[slot]
      if info.kind == .toOne {
        object.assignToOne(
          slot,
          changes.new.reference(info).map { reference in
            let key = store?.key(reference.key) ?? reference.key
            return self.object(entity: reference.entity, key: key)
          })
      } else {
        object._setAttribute(slot, changes.new.value(of: info))
      }
    }
    return ModelChanges(old: changes.old, new: changes.new, properties: applied).names
  }

  private func conflict<Item>(_ conflicts: ModelChanges<Item>, _ object: Item) -> ManagedObjectError {
    let names = conflicts.names
    let entity = object._binding.name
    let failures = names.map { name in
      ManagedObjectError(
        .changeConflict, "\(entity).\(name) was changed to something else since the snapshot was made.",
        entity: entity, property: name, objectID: object.objectID)
    }
    return ManagedObjectError(
      .changeConflict,
      "\(names.map { "\(entity).\($0)" }.joined(separator: ", ")) changed in the object since the snapshot was "
        + "made, and the changes have other values. Nothing was applied: make the changes again from a new "
        + "snapshot, or set the properties one by one.",
      entity: entity, property: names.first, objectID: object.objectID,
      failures: failures.count > 1 ? failures : [])
  }
}
