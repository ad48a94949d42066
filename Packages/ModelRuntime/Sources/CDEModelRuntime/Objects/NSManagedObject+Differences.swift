internal import CDEStore

// Decides which unsaved values are changes: those whose stored form differs from the row.
extension NSManagedObject {
  /// Whether the stored form of an unsaved value would have other bits or bytes than the row.
  final func differsFromRow(_ slot: SlotIndex) -> Bool {
    guard let overlay = _overlay, overlay.changed.contains(slot) else { return false }
    // There is no stored value to compare with.
    if !isStored || isGone { return true }
    let info = _binding.properties[slot]
    if info.isTransient { return true }
    if info.isToMany { return hasChangedMembers(slot) }
    if isFault { fire() }
    if !isRealized || _batch === _binding.defaults { return true }
    guard info.kind != .toOne else { return destinationDiffers(info, overlay.values[slot]) }
    // The slot is unset but marked as changed. Something inside a value without an unsaved copy changed.
    if info.cells.isEmpty || overlay.values[slot].isUnset { return false }
    var builder = RowBatchBuilder(layout: _binding.layout, rows: 1)
    builder.beginRow(key: _key, version: 1)
    builder.set(overlay.values[slot], of: info)
    if builder.lastRowEquals(_batch, Int(_row), cells: info.cells) { return false }
    return !(info.allowsExternalStorage && equalsFile(info, builder))
  }

  /// Whether an unsaved external value has the bytes of the file that the row names.
  ///
  /// Reads the file only if the object read it before, so setting a value alone loads no file. A file that
  /// can't be read counts as another value, which the save then writes.
  ///
  /// - Parameter builder: its last row holds the unsaved value.
  @inline(never)
  final func equalsFile(_ info: PropertyInfo, _ builder: borrowing RowBatchBuilder) -> Bool {
    let cell = info.cells.lowerBound
    guard _overlay?.loadedFiles.contains(info.slot) == true, !_batch.isNull(Int(_row), cell),
      let stored = ExternalValue(cell: _batch.bytes(Int(_row), cell)), case .file = stored,
      let bytes = builder.lastRowBytes(cell)
    else { return false }
    do {
      // The value follows the byte that names its location.
      let value = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
      return try externalData(stored).withUnsafeBytes { $0.elementsEqual(value) }
    } catch {
      return false
    }
  }

  /// Unmarks unsaved values that equal the row's.
  ///
  /// - Parameter kept: properties whose values stay.
  @inline(never)
  final func dropEqualValues(but kept: PropertySet = PropertySet()) {
    guard let overlay = _overlay else { return }
    for slot in overlay.changed.subtracting(kept) {
      let info = _binding.properties[slot]
      if info.cells.isEmpty || differsFromRow(slot) { continue }
      if info.kind == .toOne { endReference(info) } else { keepUnchanged(slot) }
    }
  }

  /// Ends unsaved references that a new row has as well. The caller gives the object the row.
  ///
  /// - Precondition: the row has the object's layout.
  final func endReferences(equalTo row: RowReference) {
    guard let overlay = _overlay else { return }
    for slot in overlay.changed {
      let info = _binding.properties[slot]
      guard info.kind == .toOne, info.inverseSlot != nil, !info.cells.isEmpty,
        !destinationDiffers(info, overlay.values[slot], from: row)
      else { continue }
      endReference(info)
    }
  }

  private func destinationDiffers(_ info: PropertyInfo, _ value: _PropertyValue) -> Bool {
    destinationDiffers(info, value, from: RowReference(batch: _batch, row: Int(_row)))
  }

  private func destinationDiffers(
    _ info: PropertyInfo, _ value: _PropertyValue, from row: RowReference
  ) -> Bool {
    let stored = info.cells.first.flatMap { row.batch.integer(row.row, $0) }
    switch value {
    case .unset: return false
    case .toOne(let object):
      return object._key != stored || object._binding.index != storedEntity(info, in: row)
    default: return stored != nil
    }
  }

  /// Whether the members of a to-many relationship differ from the stored ones, or have another order.
  ///
  /// Members count as changed if they were not loaded and no row contains their pairs. Only a query could
  /// compare them.
  final func hasChangedMembers(_ slot: SlotIndex) -> Bool {
    guard let members = withOverlay({ $0.members(slot) }) ?? nil, members.hasChanges else { return false }
    let info = _binding.properties[slot]
    guard !members.isReordered, !info.usesLinks, let inverse = info.inverseSlot else { return true }
    func isStored(_ member: NSManagedObject) -> Bool? {
      if member.isInserted { return false }
      if !member.isRealized || member._batch === member._binding.defaults {
        return nil
      }
      let theirs = member._binding.properties[member.slot(of: info, inverse)]
      return theirs.cells.first.flatMap { member._batch.integer(Int(member._row), $0) } == _key
    }
    return members.added.contains { isStored($0) != true }
      || members.removed.contains { isStored($0) != false }
  }

  /// The properties whose values differ between two rows of the object.
  final func slotsThatDiffer(_ row: RowReference, _ other: RowReference) -> PropertySet {
    var slots = PropertySet()
    for info in _binding.properties where !info.cells.isEmpty {
      let last = info.orderCell(in: _binding.layout) ?? info.cells.upperBound
      // The position in an owner's order does not count, because it belongs to the owner.
      let cells = info.cells.lowerBound..<last
      if !row.batch.sameValues(row.row, as: other.batch, other.row, cells: cells) { slots.insert(info.slot) }
    }
    return slots
  }
}
