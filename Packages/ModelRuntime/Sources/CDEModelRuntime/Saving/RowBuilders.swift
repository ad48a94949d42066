internal import CDEStore

/// One growing batch for each entity. A batch is closed when it is large enough.
struct RowBuilders {
  private var open: [EntityIndex: Int] = [:]
  private var builders: [BuilderBox] = []
  private var places: [(builder: Int, row: Int)] = []
  // Most rows of one entity are consecutive.
  private var last: (entity: EntityIndex, builder: Int) = (-1, -1)
  private(set) var rows: [RowReference] = []

  /// All rows of a batch live as long as any of them. Therefore a large save makes several batches.
  static let rowLimit = 512
  static let arenaLimit = 1 << 20

  private final class BuilderBox {
    // Used by one save, on one thread.
    @exclusivity(unchecked) var builder: RowBatchBuilder
    init(_ layout: RowLayout, rows: Int, arenaBytes: Int) {
      builder = RowBatchBuilder(layout: layout, rows: rows, arenaBytes: arenaBytes)
    }
    func finish() -> RowBatch {
      let layout = builder.layout
      var taken = RowBatchBuilder(layout: layout, rows: 1, arenaBytes: 16)
      swap(&taken, &builder)
      return taken.finish()
    }
  }

  private mutating func index(for binding: EntityBinding) -> Int {
    if let index = last.entity == binding.index ? last.builder : open[binding.index],
      builders[index].builder.count < Self.rowLimit, builders[index].builder.arenaCount < Self.arenaLimit
    {
      last = (binding.index, index)
      return index
    }
    // An entity that has filled a batch probably fills another one of the same size.
    let full = open[binding.index].map { builders[$0] }
    builders.append(
      BuilderBox(
        binding.layout, rows: full == nil ? 16 : Self.rowLimit,
        arenaBytes: full.map { $0.builder.arenaCount + $0.builder.arenaCount / 8 } ?? 256))
    open[binding.index] = builders.count - 1
    last = (binding.index, builders.count - 1)
    return last.builder
  }

  mutating func add(
    _ binding: EntityBinding, key: Int64, version: Int64, fill: (inout RowBatchBuilder) -> Void
  ) {
    let index = index(for: binding)
    Borrowed(builders[index]).with { open in
      places.append((index, open.builder.count))
      open.builder.beginRow(key: key, version: version)
      fill(&open.builder)
    }
  }

  /// Adds a copy of another row, in which `fill` sets other values.
  mutating func add(
    _ binding: EntityBinding, copying row: RowReference, key: Int64, fill: (inout RowBatchBuilder) -> Void
  ) {
    addIfChanged(binding, copying: row, key: key) { builder in
      fill(&builder)
      return true
    }
  }

  /// Adds a copy of another row with other values. `fill` may discard the copy.
  ///
  /// - Parameter fill: sets the values that differ, and returns whether the row is to be kept.
  /// - Returns: whether the row was kept.
  @discardableResult
  mutating func addIfChanged(
    _ binding: EntityBinding, copying row: RowReference, key: Int64, fill: (inout RowBatchBuilder) -> Bool
  ) -> Bool {
    let index = index(for: binding)
    let open = builders[index]
    let (count, bytes) = (open.builder.count, open.builder.arenaCount)
    open.builder.beginRow(copying: row.batch, row.row, key: key, version: row.version &+ 1)
    guard fill(&open.builder) else {
      open.builder.removeLastRow(arenaCount: bytes)
      return false
    }
    places.append((index, count))
    return true
  }

  mutating func finish() -> [RowBatch] {
    let batches = builders.map { $0.finish() }
    rows = places.map { RowReference(batch: batches[$0.builder], row: $0.row) }
    return batches
  }
}
