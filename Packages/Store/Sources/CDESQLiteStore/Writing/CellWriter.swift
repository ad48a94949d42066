@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore

/// Gives the cells of rows to SQLite as they are stored.
final class CellWriter {
  // Guard: one transaction uses the writer, on one thread. No access runs other code before it ends.
  private let plans: SchemaPlans
  private let connection: Connection
  /// The location of large values; nil in memory.
  private let externals: ExternalStorage?
  /// For each index of a root entity, the last key assigned before.
  @exclusivity(unchecked) var keyBase: IndexedArray<RootIndex, Int64>
  /// The external files that were written.
  private(set) var writtenFiles: [String] = []

  init(_ plans: SchemaPlans, _ connection: Connection, _ externals: ExternalStorage?) {
    self.plans = plans
    self.connection = connection
    self.externals = externals
    keyBase = IndexedArray(repeating: 0, count: plans.schema.entities.count)
  }

  @inline(__always)
  func permanent(_ key: Int64, root: RootIndex) -> Int64 { key < 0 ? keyBase[root] &- key : key }

  /// Binds cells directly from the batch's memory, which outlives the step.
  @inline(__always)
  func bind(
    _ batch: RowBatch, _ row: Int, _ steps: [BindStep], to statement: OpaquePointer, from first: Int32
  ) throws(StoreError) {
    var parameter = first
    for step in steps {
      let code = try give(batch, row, step, to: StatementParameter(statement: statement, index: parameter))
      guard code == SQLITE_OK else {
        throw connection.error(code, while: "Saving a row of \(batch.layout.entityName)")
      }
      parameter &+= 1
    }
  }

  /// Gives a cell to SQLite as it is stored.
  @inline(__always)
  func give(
    _ batch: RowBatch, _ row: Int, _ step: BindStep, to target: some CellTarget
  ) throws(StoreError) -> Int32 {
    let cell = step.cell.index
    if batch.isNull(row, cell) { return target.takeNull() }
    switch step.kind {
    case .integer: return target.take(Int64(bitPattern: batch.word(row, cell)))
    case .real: return target.take(Double(bitPattern: batch.word(row, cell)))
    case .key: return target.take(permanent(Int64(bitPattern: batch.word(row, cell)), root: step.root.index))
    case .entity:
      return target.take(plans.physical.numbers[EntityIndex(Int(truncatingIfNeeded: batch.word(row, cell)))])
    case .text: return target.take(text: batch.bytes(row, cell))
    case .blob: return target.take(blob: batch.bytes(row, cell))
    case .external: return try giveExternal(batch.bytes(row, cell), to: target)
    }
  }

  private func giveExternal(
    _ bytes: UnsafeRawBufferPointer, to target: some CellTarget
  ) throws(StoreError) -> Int32 {
    guard let externals, bytes.first == 1, bytes.count > ExternalStorage.inlineLimit + 1 else {
      return target.take(blob: bytes)
    }
    let name = try externals.write(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    writtenFiles.append(name)
    // Core Data ends the name with a zero.
    return target.take(copying: [2] + Array(name.utf8) + [0])
  }
}
