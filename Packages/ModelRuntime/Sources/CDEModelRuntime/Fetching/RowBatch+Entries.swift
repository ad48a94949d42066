internal import CDEStore

extension RowBatch {
  /// The keys of the rows, with their entity, in the order of the batch.
  var entries: [FetchedRows.Entry] {
    let entity = NarrowIndex(layout.entity)
    return (0..<count).map { FetchedRows.Entry(key: key($0), entity: entity) }
  }
}
