@_spi(CDE) internal import CDEStore

// Rows that an object takes: from a read, a merge or a save.
extension NSManagedObject {
  /// Adopts a row that another writer may have changed. The object keeps its unsaved values.
  ///
  /// Values that equal the former row's are no changes. They must not become changes relative to the new row. A reference that
  /// the new row has as well is no change any more, on either side.
  final func takeNews(_ batch: RowBatch, _ row: Int) {
    if isMarkedUpdated, !isFault {
      dropEqualValues()
      endReferences(equalTo: RowReference(batch: batch, row: row))
    }
    take(batch, row)
  }

  /// Adopts the current row of an object about to be saved. Unsaved values of one-to-one relationships stay, even if they equal the
  /// former row's: the partner's row, which is saved as well, may have another value.
  final func takeAgain(_ batch: RowBatch, _ row: Int) {
    if isMarkedUpdated { dropEqualValues(but: withBinding(\.savedSlots.oneToOne)) }
    take(batch, row)
  }

  /// Adopts a row. The object is not a fault afterwards.
  final func take(_ batch: RowBatch, _ row: Int) {
    noteWritten()
    _batch = batch
    _row = Int32(truncatingIfNeeded: row)
    becomeRealized()
    _readBefore = 0
    _overlay?.dropKeptAttributes()
  }

  /// Marks the changes as saved. `row` is the object's new row, if one was written.
  final func takeSaved(_ row: RowReference?) {
    noteWritten()
    unmarkUpdated()
    if let row {
      _batch = row.batch
      _row = Int32(truncatingIfNeeded: row.row)
      _flags.remove(.fault)
    }
    let transient = withBinding(\.savedSlots.transient)
    if withOverlay({ $0.markSaved(but: transient) }) == true { dropOverlay() }
  }
}

extension NSManagedObject {
  /// Takes a row, but the derived values of another, newer row of the same object.
  final func take(_ row: RowReference, derivedFrom newer: RowReference) {
    guard row.batch.layout === _binding.layout, newer.batch.layout === _binding.layout else { return }
    var builder = RowBatchBuilder(layout: _binding.layout, rows: 1)
    builder.beginRow(copying: row.batch, row.row, key: row.key, version: row.version)
    for slot in _binding.storedDerivations {
      for cell in _binding.properties[slot].cells {
        if newer.batch.isNull(newer.row, cell) {
          builder.setNull(cell)
          continue
        }
        switch _binding.layout.cells[cell].kind {
        case .integer, .real: builder.setWord(cell, newer.batch.word(newer.row, cell))
        case .text, .blob: builder.setBytes(cell, newer.batch.bytes(newer.row, cell))
        }
      }
    }
    let batch = builder.finish()
    batch.asOf = newer.batch.asOf
    takeNews(batch, 0)
  }
}
