@_spi(CDE) internal import CDEStore
internal import Foundation

/// Makes rows of the objects of a save.
///
/// Afterwards, unsaved values that equal the stored ones do not count as changes. The objects do not change
/// otherwise.
///
/// A class, because its functions call each other from closures. A structure would be copied for each object.
final class SaveBuilder {
  // Guard: one call of `build` uses the builder, on one thread. No access runs other code before it ends.
  let objects: CollectedSave
  @exclusivity(unchecked) var transaction = StoreTransaction()
  @exclusivity(unchecked) var touched: Set<CommittedTransaction.Touch> = []
  /// The time of the save, for attributes derived from it.
  let now = Date()

  @exclusivity(unchecked) private var insertedRows: [RowReference] = []
  /// Updated objects with a row to write, ordered by key, with their rows and the slots that these rows change.
  @exclusivity(unchecked) private var rewritten: [NSManagedObject] = []
  @exclusivity(unchecked) private var rewrittenRows: [RowReference] = []
  @exclusivity(unchecked) private var rewrittenSlots: [PropertySet] = []
  /// Updated objects without a row to write: only to-many relationships changed, or no stored value.
  @exclusivity(unchecked) private var unwritten: [NSManagedObject] = []
  /// Positions in ordered to-many relationships, for members whose position changed.
  @exclusivity(unchecked) private var orders: [ObjectIdentifier: [CellIndex: Int64]] = [:]
  /// Slots that are written although the object did not change them, because its position in an order
  /// changed.
  @exclusivity(unchecked) private var extraSlots: [ObjectIdentifier: PropertySet] = [:]
  @exclusivity(unchecked) private var moved: [NSManagedObject] = []
  /// Objects with a row to write that get another one-to-one partner.
  @exclusivity(unchecked) private var related: [NSManagedObject] = []

  private init(_ objects: CollectedSave, author: String?, contextName: String?) {
    self.objects = objects
    transaction.author = author
    transaction.contextName = contextName
  }

  static func build(_ objects: CollectedSave, author: String?, contextName: String?) -> BuiltSave {
    let builder = SaveBuilder(objects, author: author, contextName: contextName)
    builder.collectOrders()
    builder.collectRewritten()
    builder.buildInserted()
    builder.buildUpdated()
    builder.buildDeleted()
    builder.buildLinks()
    if !builder.related.isEmpty { builder.checkPartners() }
    return BuiltSave(
      objects: objects, transaction: builder.transaction, insertedRows: builder.insertedRows,
      rewritten: builder.rewritten, rewrittenRows: builder.rewrittenRows,
      rewrittenSlots: builder.rewrittenSlots, unwritten: builder.unwritten, touched: builder.touched)
  }

  /// Gives the members of changed ordered relationships their positions.
  ///
  /// As many numbers as possible are kept, because each new one writes a row, which may be in conflict with another writer.
  private func collectOrders() {
    objects.visitChanged({ $0.ordered }) { owner, slots in
      for slot in slots {
        let info = owner._binding.properties[slot]
        let inverse = info.inverseSlot!
        let name = owner._binding.model.entities[info.destination].properties[inverse].name
        let members = owner.loadedMembers(slot).objects.filter { !$0.isDeletedOrGone }
        owner._registry?.context?.fireAll(members)
        let places = members.map { member -> (slot: SlotIndex, cell: CellIndex, now: Int64?) in
          let theirs = member._binding.property(name)!
          let cell = theirs.orderCell(in: member._binding.layout)!
          return (theirs.slot, cell, storedPlace(of: member, through: theirs, cell, in: owner))
        }
        let numbered = zip(members, places).map { OrderNumbers.Member(number: $1.now, key: $0._key) }
        for change in OrderNumbers.changes(to: numbered) {
          let (member, place) = (members[change.index], places[change.index])
          orders[ObjectIdentifier(member), default: [:]][place.cell] = change.number
          extraSlots[ObjectIdentifier(member), default: PropertySet()].insert(place.slot)
          moved.append(member)
        }
      }
    }
  }

  /// The number that a member's row has in the order of an owner; nil if the row has another owner.
  private func storedPlace(
    of member: NSManagedObject, through reference: PropertyInfo, _ cell: CellIndex, in owner: NSManagedObject
  ) -> Int64? {
    guard member.isStored else { return nil }
    if member.changedSlots.contains(reference.slot) {
      // The reference may have been set back.
      let key = reference.cells.first.flatMap { member._batch.integer(Int(member._row), $0) }
      guard owner.isStored, key == owner._key else { return nil }
    }
    return member._batch.integer(Int(member._row), cell)
  }

  private func collectRewritten() {
    var seen = Set<ObjectIdentifier>()
    let updated = objects.updated
    let candidates = moved.isEmpty ? updated : updated + moved
    // Each object is read once. Sorting moves numbers only.
    var order: [(entity: EntityIndex, key: Int64, place: Int)] = []
    var written: [PropertySet] = []
    order.reserveCapacity(candidates.count)
    written.reserveCapacity(candidates.count)
    var place = -1
    candidates[...].forEachBorrowed { object in
      place += 1
      // Includes members that only moved in an order, and values that validation set.
      if object.hasProblems { object.countSilentValues() }
      dropUnchangedMembers(of: object)
      let slots = writtenSlots(object)
      written.append(slots)
      guard !slots.isEmpty else {
        if place < updated.count { unwritten.append(object) }
        return
      }
      guard object.isStored, !object.isMarkedDeleted else { return }
      if !moved.isEmpty, !seen.insert(ObjectIdentifier(object)).inserted { return }
      order.append((object._binding.index, object._key, place))
    }
    order.sort { $0.entity != $1.entity ? $0.entity < $1.entity : $0.key < $1.key }
    rewritten = order.map { candidates[$0.place] }
    rewrittenSlots = order.map { written[$0.place] }
  }

  /// The changed slots that have columns, without derived ones.
  private func writtenSlots(_ object: NSManagedObject) -> PropertySet {
    var slots = object.changedSlots
    if !extraSlots.isEmpty, let extra = extraSlots[ObjectIdentifier(object)] { slots.formUnion(extra) }
    return withoutDerived(slots.intersection(object._binding.savedSlots.withCells), of: object._binding)
  }

  /// Drops changes of to-many relationships whose members equal the stored ones again.
  private func dropUnchangedMembers(of object: NSManagedObject) {
    guard object.isStored, !object.isGone else { return }
    let slots = object.withBinding(\.savedSlots.toMany).intersection(object.changedSlots)
    for slot in slots where !object.hasChangedMembers(slot) {
      object.keepUnchanged(slot)
      object._overlay?.members(slot)?.clearChanges()
    }
  }

  /// The version of a deleted row that is written again. No other context must take it for a version of the
  /// old row.
  private func firstVersion(of object: NSManagedObject) -> Int64 {
    guard object.hasPermanentKey else { return 1 }
    let known = object._batch.version(Int(object._row))
    return known == 0 ? 1 : known &+ Self.versionsBeyondDeletion
  }

  /// More updates than a row is expected to get between a read and its deletion.
  private static let versionsBeyondDeletion: Int64 = 1 << 16

  private func buildInserted() {
    var builders = RowBuilders()
    objects.inserted[...].forEachBorrowed { object in
      object.withBinding { binding in
        builders.add(binding, key: object.keyInSave, version: firstVersion(of: object)) { builder in
          for column in binding.savedSlots.plain { write(column, of: object, into: &builder) }
          for slot in binding.savedSlots.others {
            object.withProperty(slot) { write($0, of: object, into: &builder) }
          }
        }
        touchOwners(of: object, binding)
        if object.changedSlots.intersects(binding.savedSlots.oneToOne) { related.append(object) }
      }
    }
    transaction.inserted = builders.finish()
    insertedRows = builders.rows
  }

  /// Setting an equal value is no change. Such a row is not written, gets no new version, and causes no
  /// conflict for another writer.
  private func buildUpdated() {
    var builders = RowBuilders()
    let candidates = rewritten
    let candidateSlots = rewrittenSlots
    rewritten.removeAll(keepingCapacity: true)
    rewrittenSlots.removeAll(keepingCapacity: true)
    for (object, slots) in zip(candidates, candidateSlots) {
      if object.isFault { object.fire() }
      var written = PropertySet()
      let row = RowReference(batch: object._batch, row: Int(object._row))
      // An object without a row to compare with is written with all its values.
      let isKnown = !object.isGone && row.batch !== object._binding.defaults
      let isWritten = builders.addIfChanged(object._binding, copying: row, key: object._key) { builder in
        for slot in slots {
          let info = object._binding.properties[slot]
          write(info, of: object, into: &builder)
          if isKnown, builder.lastRowEquals(row.batch, row.row, cells: info.cells) { continue }
          if isKnown, info.allowsExternalStorage, object.equalsFile(info, builder) {
            // The row still names the file of the value.
            builder.setBytes(info.cells.lowerBound, row.batch.bytes(row.row, info.cells.lowerBound))
            continue
          }
          written.insert(slot)
        }
        if written.isEmpty { return false }
        for slot in derivedSlots(following: written, of: object._binding) {
          write(object._binding.properties[slot], of: object, into: &builder)
          written.insert(slot)
        }
        return true
      }
      if !slots.isSubset(of: written), let overlay = object._overlay {
        overlay.changed = overlay.changed.subtracting(slots.subtracting(written))
      }
      guard isWritten else {
        unwritten.append(object)
        continue
      }
      rewritten.append(object)
      rewrittenSlots.append(written)
      if written.intersects(object.withBinding(\.savedSlots.oneToOne)) { related.append(object) }
      touchOwners(of: object, object._binding)
    }
    let batches = builders.finish().filter { $0.count > 0 }
    rewrittenRows = builders.rows
    var changed: [ObjectIdentifier: [PropertySet]] = [:]
    for (row, slots) in zip(rewrittenRows, rewrittenSlots) {
      changed[ObjectIdentifier(row.batch), default: []].append(slots)
    }
    transaction.updated = batches.map { RowUpdate(batch: $0, changed: changed[ObjectIdentifier($0)]!) }
  }

  /// Adds the rows to be checked of partners whose side of a one-to-one relationship is not written, because their row has it already.
  ///
  /// Another process may have changed that row since. The save would then write one side only.
  private func checkPartners() {
    var partners: [NSManagedObject] = []
    for object in related {
      for slot in object.withBinding(\.savedSlots.oneToOne).intersection(object.changedSlots) {
        let info = object._binding.properties[slot]
        guard case .toOne(let partner)? = object._overlay?.values[slot], partner.isStored,
          partner._batch !== partner._binding.defaults, !partner.isMarkedDeleted, !partner.isGone,
          !partner.changedSlots.contains(partner.slot(of: info, info.inverseSlot!))
        else { continue }
        partners.append(partner)
      }
    }
    if partners.isEmpty { return }
    var written = Set(rewritten.map(ObjectIdentifier.init))
    for partner in partners where written.insert(ObjectIdentifier(partner)).inserted {
      transaction.checked.append(partner.rowCheck)
    }
  }

  /// Writes a value of a new object.
  private func write(
    _ column: SavedSlots.PlainColumn, of object: NSManagedObject, into builder: inout RowBatchBuilder
  ) {
    let isWritten = object.withOverlay { overlay in
      overlay.withValue(column.slot) { held in
        switch held {
        case .null: return true
        case .integer(let value):
          column.isReal
            ? builder.setReal(column.cell, Double(value)) : builder.setInteger(column.cell, value)
          return true
        case .real(let value):
          builder.setReal(column.cell, value)
          return true
        case .text(let value):
          builder.setString(column.cell, value)
          return true
        default: return false
        }
      }
    }
    if isWritten != true { object.withProperty(column.slot) { write($0, of: object, into: &builder) } }
  }

  /// Writes one property's cells in their stored form.
  private func write(_ info: PropertyInfo, of object: NSManagedObject, into builder: inout RowBatchBuilder) {
    guard info.kind == .toOne else {
      if let derivation = info.derivation, !derivation.isKeptByStore {
        builder.set(value(of: derivation, for: object), of: info)
      } else if let overlay = object._overlay, !overlay.values[info.slot].isUnset {
        builder.set(overlay.values[info.slot], of: info)
      } else if object.isInserted {
        builder.set(info.defaultValue, of: info)
      }
      return
    }
    let layout = object._binding.layout
    // A destination without a row after the save, saved or pending, counts as nil.
    let destination = object.toOne(info.slot).flatMap { $0.hasRowAfterSave && !$0.isMarkedDeleted ? $0 : nil }
    for cell in info.cells {
      switch layout.cells[cell].role {
      case .key:
        if let destination { builder.setInteger(cell, destination.keyInSave) } else { builder.setNull(cell) }
      case .entity:
        if let destination {
          builder.setEntity(cell, destination._binding.index)
        } else {
          builder.setNull(cell)
        }
      case .order:
        if let place = orders[ObjectIdentifier(object)]?[cell] {
          builder.setInteger(cell, place)
        } else if destination == nil {
          builder.setNull(cell)
        }
      case .value: break
      }
    }
  }

  private func buildDeleted() {
    transaction.deleted.reserveCapacity(objects.deleted.count)
    objects.deleted[...].forEachBorrowed { object in
      object.withBinding { binding in
        transaction.deleted.append(
          RowDeletion(
            entity: binding.index, key: object._key, version: object._batch.version(Int(object._row)),
            emptied: binding.savedSlots.emptied, kept: binding.savedSlots.kept))
        // Owners whose to-many relationships contain a deleted object, whether they are in memory or not.
        for slot in binding.savedSlots.owned {
          object.withProperty(slot) { info in
            guard let cell = info.cells.first, let key = object._batch.integer(Int(object._row), cell),
              let inverse = info.inverseSlot
            else { return }
            touched.insert(.init(entity: info.destination, key: key, slot: inverse))
          }
        }
      }
    }
    transaction.deleted.sort { $0.entity != $1.entity ? $0.entity < $1.entity : $0.key < $1.key }
  }
}

extension NSManagedObject {
  /// The row as it was read, for a save that does not write it.
  final var rowCheck: RowCheck {
    RowCheck(entity: _binding.index, key: _key, version: _batch.version(Int(_row)))
  }
}
