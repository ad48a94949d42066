@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEStore
internal import Foundation

/// The rows of a batch insertion. Each is packed when it is added.
///
/// Many rows are in a temporary file. Their memory does not grow then, and the store is not locked while the request's handler makes
/// them.
final class BatchRows {
  // Guard: one request has the rows, on one thread.
  private let binding: EntityBinding
  @exclusivity(unchecked) private var builder: RowBatchBuilder
  /// The values of the row that is added.
  @exclusivity(unchecked) private var row: [(info: PropertyInfo, value: _PropertyValue)] = []
  /// Full batches, until they are in the file.
  private var batches: [RowBatch] = []
  private var bytes = 0
  private var file: RowFile?
  private let now = Date()
  @exclusivity(unchecked) private(set) var count = 0
  /// The properties that were given for each row, as runs of rows with the same ones. Empty if the entity has no unique values.
  private var given: [(properties: PropertySet, rows: Int)] = []
  private let hasUniqueValues: Bool
  @exclusivity(unchecked) private var infos: [String: PropertyInfo] = [:]
  /// Properties that every row must have.
  private let required: [PropertyInfo]
  /// Those without a default.
  private let mandatory: [PropertyInfo]
  /// The progress that was current on the thread gets the rows that are written as a part.
  private let progress: Progress?

  /// More bytes of rows are written to a file.
  private static let memoryLimit = 16 << 20

  init(_ binding: EntityBinding) {
    self.binding = binding
    builder = RowBatchBuilder(layout: binding.layout)
    progress = Progress.current().map { _ in Progress(totalUnitCount: -1) }
    // A constraint of an entity in the same table counts as well.
    hasUniqueValues = binding.model.schema.entities.contains {
      $0.root == binding.root && !$0.source.uniquenessConstraints.isEmpty
    }
    required = binding.properties.filter {
      !$0.isOptional && !$0.isTransient && !$0.isToMany && $0.derivation == nil
    }
    mandatory = required.filter { $0.cells.allSatisfy { binding.defaults.isNull(0, $0) } }
  }

  func add(_ values: [String: Any]) throws {
    row.removeAll(keepingCapacity: true)
    for (name, value) in values {
      let info: PropertyInfo
      if let known = infos[name] {
        info = known
      } else {
        info = try BatchValues.attribute(name, of: binding)
        infos[name] = info
      }
      row.append((info, try BatchValues.value(value, info, of: binding)))
    }
    try writeRow()
  }

  /// Adds the values of an object that differ from the defaults.
  func add(_ object: NSManagedObject) throws {
    try object.validateProblems()
    row.removeAll(keepingCapacity: true)
    for slot in object.changedSlots {
      let info = binding.properties[slot]
      if info.isTransient { continue }
      if info.isRelationship || info.derivation != nil {
        _ = try BatchValues.attribute(info.name, of: binding)
      }
      let value = object._overlay!.values[slot]
      if let unfit = value.unfitness(for: info) { throw unfit.error(for: info, of: binding.name) }
      try value.keepEncoding(info, of: binding)
      row.append((info, value))
    }
    try writeRow()
  }

  /// Whether no required property lacks a value.
  private var isRowComplete: Bool {
    for (info, value) in row where !info.isOptional {
      if case .null = value { return false }
    }
    return mandatory.allSatisfy { info in row.contains { $0.info === info } }
  }

  /// - Returns: the first property that lacks a value, in the order of the entity's properties.
  private func missingProperty() -> PropertyInfo? {
    required.first { info in
      guard let given = row.first(where: { $0.info === info }) else {
        return mandatory.contains { $0 === info }
      }
      if case .null = given.value { return true }
      return false
    }
  }

  private func writeRow() throws {
    if !isRowComplete, let info = missingProperty() {
      throw BatchValues.missing(info, of: binding, row: count)
    }
    count += 1
    if hasUniqueValues { noteRow() }
    if builder.count >= RowBuilders.rowLimit || builder.arenaCount >= RowBuilders.arenaLimit {
      try closeBatch()
    }
    builder.beginRow(copying: binding.defaults, 0, key: -Int64(count), version: 1)
    for (info, value) in row { builder.set(value, of: info) }
    for info in binding.savedDerivations {
      guard let source = info.derivation?.sourceAttribute else {
        builder.set(.real(now.timeIntervalSinceReferenceDate), of: info)
        continue
      }
      let value =
        row.first { $0.info.name == source }?.value ?? binding.property(source)?.defaultValue ?? .null
      builder.set(info.derivation!.value(of: value), of: info)
    }
  }

  private func noteRow() {
    let properties = givenSlots
    if given.last?.properties == properties {
      given[given.count - 1].rows += 1
    } else {
      given.append((properties, 1))
    }
  }

  /// The slots of given values, and of those derived from them.
  private var givenSlots: PropertySet {
    var slots = PropertySet(row.lazy.map(\.info.slot))
    for info in binding.savedDerivations {
      guard let source = info.derivation?.sourceAttribute.flatMap({ binding.property($0)?.slot }) else {
        slots.insert(info.slot)
        continue
      }
      if slots.contains(source) { slots.insert(info.slot) }
    }
    return slots
  }

  // MARK: Batches

  private func closeBatch() throws {
    var full = RowBatchBuilder(
      layout: binding.layout, rows: RowBuilders.rowLimit,
      arenaBytes: builder.arenaCount + builder.arenaCount / 8)
    swap(&full, &builder)
    let batch = full.finish()
    do throws(StoreError) {
      try checkCancellation()
      try keep(batch)
    } catch { throw ManagedObjectError.store(error) }
  }

  /// Keeps a batch in memory, or in the file.
  private func keep(_ batch: RowBatch) throws(StoreError) {
    bytes += batch.byteCount
    if file == nil, bytes > Self.memoryLimit {
      let made = try RowFile(binding.layout)
      for batch in batches { try made.append(batch) }
      batches = []
      file = made
    }
    if let file { try file.append(batch) } else { batches.append(batch) }
  }

  /// Ends the rows.
  func finish() throws {
    if builder.count > 0 { try closeBatch() }
    progress?.totalUnitCount = Int64(max(count, 1))
    if count == 0 { progress?.completedUnitCount = 1 }
  }

  /// Calls a body with all rows, batch by batch. Precondition: the rows are ended.
  func forEachBatch(_ body: (RowBatch) throws(StoreError) -> Void) throws(StoreError) {
    progress?.completedUnitCount = 0
    func write(_ batch: RowBatch) throws(StoreError) {
      try checkCancellation()
      try body(batch)
      if let progress { progress.completedUnitCount += Int64(batch.count) }
    }
    for batch in batches { try write(batch) }
    try file?.forEachBatch { (batch) throws(StoreError) in try write(batch) }
  }

  /// All rows in memory, with the properties that were given for each.
  func inMemory() throws(StoreError) -> (batches: [RowBatch], given: [PropertySet]) {
    var all: [RowBatch] = []
    try forEachBatch { all.append($0) }
    return (all, given.flatMap { repeatElement($0.properties, count: $0.rows) })
  }

  private func checkCancellation() throws(StoreError) {
    // Few rows take no time worth cancelling.
    if count > RowBuilders.rowLimit, Task.isCancelled || progress?.isCancelled == true {
      throw StoreError(.cancelled, "The batch insertion was cancelled. Nothing was saved.")
    }
  }
}
