@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEStore
internal import Foundation

/// The values of one object at one moment: an immutable row that may be passed to any isolation.
///
/// A snapshot points at the same row as the object, so making a snapshot copies nothing. Values are decoded
/// when they are read. The snapshot has the properties of the model:
///
/// ```swift
/// let snapshot = try item.snapshot()
/// let title = await render(snapshot.title, snapshot.category)
/// ```
///
/// To-one relationships are handles. To-many relationships are lists of handles, if they were requested when
/// the snapshot was made. Snapshots are equal when they are of the same row and have the same stored values.
@dynamicMemberLookup
public struct ModelSnapshot<Item: PersistentEntity>: Sendable {
  /// In the store's own keys, so that snapshots of several coordinators can be compared.
  let row: RowReference
  let model: ModelBinding
  let store: StoreHandle
  /// State that only some snapshots have. It is one reference, so that the others stay small.
  let extras: SnapshotExtras?

  init(row: RowReference, model: ModelBinding, store: StoreHandle, extras: SnapshotExtras? = nil) {
    self.row = store.shift.ownRow(row)
    self.model = model
    self.store = store
    self.extras = store.shift.offset == 0 ? extras : extras?.ownKeys(of: store)
  }

  var binding: EntityBinding { model.entities[row.batch.layout.entity] }

  /// The handle of the object that the snapshot was made of.
  public var handle: ModelHandle<Item> {
    ModelHandle(store: store.identifier, entity: binding.name, key: row.key)
  }

  /// The number of times that the row had been written when the snapshot was made; 1 after the first save.
  public var version: Int64 { row.version }
}

/// Lists of related objects, and the slots to encode.
final class SnapshotExtras: Sendable {
  struct Member: Sendable, Hashable {
    let entity: EntityIndex
    let key: Int64
  }

  let members: [SlotIndex: [Member]]
  /// Slots to encode; nil for all.
  let encoded: PropertySet?

  init(members: [SlotIndex: [Member]] = [:], encoded: PropertySet? = nil) {
    self.members = members
    self.encoded = encoded
  }

  fileprivate func ownKeys(of store: StoreHandle) -> SnapshotExtras {
    let own = members.mapValues { $0.map { Member(entity: $0.entity, key: store.ownKey($0.key)) } }
    return SnapshotExtras(members: own, encoded: encoded)
  }
}

extension ModelSnapshot: Hashable {
  public static func == (left: Self, right: Self) -> Bool {
    let (a, b) = (left.row, right.row)
    if a.batch === b.batch, a.row == b.row { return true }
    guard a.batch.layout === b.batch.layout, a.key == b.key,
      left.store.identifier == right.store.identifier
    else { return false }
    return a.batch.sameValues(a.row, as: b.batch, b.row, cells: a.batch.layout.cells.indices)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(row.key)
    let batch = row.batch
    for (cell, description) in zip(batch.layout.cells.indices, batch.layout.cells) {
      guard !batch.isNull(row.row, cell) else {
        hasher.combine(cell)
        continue
      }
      switch description.kind {
      case .integer, .real: hasher.combine(batch.word(row.row, cell))
      case .text, .blob: hasher.combine(bytes: batch.bytes(row.row, cell))
      }
    }
  }
}

extension ModelSnapshot: CustomStringConvertible {
  public var description: String {
    "\(binding.name) \(handle.uriRepresentation.absoluteString) version \(version)"
  }
}

extension PersistentEntity {
  /// The values of an object of this model at one moment.
  public typealias Snapshot = ModelSnapshot<Self>

  /// The object's current values, for any isolation.
  ///
  /// Without unsaved changes this is the row that the object points at, and nothing is copied. Otherwise a
  /// new row with the changes is made.
  ///
  /// - Throws: ``ManagedObjectError``: `.unsavedObject` before the first save and when the object refers to
  ///   an object that was never saved, `.objectNotFound` when its row does not exist, `.invalidValue` for an
  ///   unsaved value that its transformer can't encode.
  public func snapshot() throws -> ModelSnapshot<Self> {
    let row = try currentRow(refersToUnsaved: false)
    return ModelSnapshot(row: row, model: _binding.model, store: try snapshotStore())
  }

  /// The same, with the handles of the objects in to-many relationships. Relationships that were not loaded
  /// are read.
  ///
  /// - Throws: the errors of ``snapshot()``; `.unsavedObject` also for a member that was never saved.
  public func snapshot<each Target>(
    handlesOf paths: repeat CDToManyRelationPath<Self, each Target>
  ) throws -> ModelSnapshot<Self> {
    let row = try currentRow(refersToUnsaved: false)
    var members: [SlotIndex: [SnapshotExtras.Member]] = [:]
    for path in repeat each paths {
      let info = _binding.relationship(path.persistentPath)
      members[info.slot] = try loadedMembers(info.slot).objects.filter { !$0.isDeletedOrGone }.map { member in
        if member.isUnsaved { throw member.unsavedError("handle") }
        return SnapshotExtras.Member(entity: member._binding.index, key: member._key)
      }
    }
    return ModelSnapshot(
      row: row, model: _binding.model, store: try snapshotStore(), extras: SnapshotExtras(members: members))
  }
}

extension EntityBinding {
  /// - Precondition: the path is one of this entity's own to-many relationships.
  func relationship(_ path: [String]) -> PropertyInfo {
    guard path.count == 1, let info = property(path[0]), info.isToMany else {
      failPrecondition(
        "\(name) has no to-many relationship \(path.joined(separator: ".")). Take the path from the model's own "
          + "`path`, and load a model that is made from the class.")
    }
    return info
  }
}

extension NSManagedObject {
  /// The object's values as one row: its own, or a new one if there are unsaved changes.
  ///
  /// - Parameter refersToUnsaved: whether a to-one relationship to an object that was never saved is kept, by
  ///   its temporary key. Otherwise it is an error.
  final func currentRow(refersToUnsaved: Bool) throws -> RowReference {
    if isUnsaved { throw unsavedError("snapshot") }
    willAccess()
    guard _batch !== _binding.defaults else {
      throw ManagedObjectError(
        .objectNotFound,
        "The row of \(objectID.uriRepresentation().absoluteString) is gone or could not be read, so there is "
          + "nothing to make a snapshot of.", entity: _binding.name, objectID: objectID)
    }
    let row = RowReference(batch: _batch, row: Int(_row))
    let changed = changedSlots.filter { !_binding.properties[$0].cells.isEmpty }
    if changed.isEmpty { return row }
    var builder = RowBatchBuilder(layout: _binding.layout, rows: 1)
    builder.beginRow(copying: row.batch, row.row, key: _key, version: row.version)
    for slot in changed {
      let info = _binding.properties[slot]
      if info.kind == .toOne {
        try setReference(info, refersToUnsaved, in: &builder)
      } else {
        // A value that can't be stored causes the same error as in a save.
        try overlay.values[slot].keepEncoding(info, of: _binding)
        builder.set(overlay.values[slot], of: info)
      }
    }
    return RowReference(batch: builder.finish(), row: 0)
  }

  private func setReference(
    _ info: PropertyInfo, _ refersToUnsaved: Bool, in builder: inout RowBatchBuilder
  ) throws {
    let destination = toOne(info.slot)
    if let destination, destination.isUnsaved, !refersToUnsaved { throw destination.unsavedError("handle") }
    write(destination, as: info, into: &builder)
  }

  final func snapshotStore() throws -> StoreHandle {
    if let store = objectID.store { return store }
    throw ManagedObjectError(
      .noStore, "The object's store is no longer loaded, so no snapshot of it can be made.",
      entity: _binding.name, objectID: objectID)
  }
}
