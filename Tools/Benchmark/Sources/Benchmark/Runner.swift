/// Measures rows, one after the other.
@MainActor
final class Runner {
  let workspace: Workspace
  let rounds: Int
  private let isAlone: Bool
  /// Rows j are measured together, when the first of them is asked for.
  private var race: (write: Rounds, read: Rounds)?
  /// Made when the first row of growth is asked for: its store takes longer than any row.
  private var growthRows: GrowthRows?

  init(workspace: Workspace, rounds: Int, isAlone: Bool = false) {
    self.workspace = workspace
    self.rounds = rounds
    self.isAlone = isAlone
  }

  private var samples: Samples { workspace.samples }

  func run(_ row: RowID) async throws -> RowResult {
    switch row {
    case .a: try await compare(row, InsertRows(workspace: workspace, batch: samples.itemCount).contenders)
    case .b: try await compare(row, InsertRows(workspace: workspace, batch: 100).contenders)
    case .c: try await compare(row, FetchRows(workspace).fetchAll)
    case .c1: try await compare(row, FetchRows(workspace).fetchAllAndRead)
    case .c2Faults: try await compare(row, FetchRows(workspace).fetchFaults)
    case .c2Refetch: try await compare(row, FetchRows(workspace).refetch)
    case .d:
      try await compare(
        row, FetchRows(workspace).fetchByCategory, per: FetchRows(workspace).chosenItemCount)
    case .e: try await compare(row, LookupRows(workspace).registered)
    case .e1Single: try await compare(row, LookupRows(workspace).firingSingly)
    case .e1Batch: try await compare(row, LookupRows(workspace).firingInBatches)
    case .f: try await compare(row, ChangeRows(workspace: workspace).update, per: samples.distinctKeys.count)
    case .h: try await compare(row, ChangeRows(workspace: workspace).delete, per: samples.distinctKeys.count)
    case .references: try await compare(row, ReferenceRows(workspace: workspace).inserted)
    case .referencesDeleted: try await compare(row, ReferenceRows(workspace: workspace).deleted)
    case .gCold: try await compare(row, RelationshipRows(workspace).cold, per: samples.filedCount)
    case .gPrefetched: try await compare(row, RelationshipRows(workspace).prefetched, per: samples.filedCount)
    case .gWarm: try await compare(row, RelationshipRows(workspace).warm, per: samples.filedCount)
    case .i: try await compare(row, MemoryRow.contenders(workspace))
    case .aggregates: try await compare(row, AggregateRow(workspace: workspace).contenders)
    case .jWrite: RowResult(row, try await raceOnce().write)
    case .jRead: RowResult(row, try await raceOnce().read)
    case .hopActor: try await hop(row) { $0.modelActor }
    case .hopPerform: try await hop(row) { $0.perform }
    case .observeRead: try await observe(row) { try $0.read }
    case .observeWrite: try await observe(row) { try $0.write }
    case .observeReadRaw: try await observe(row) { try $0.readRaw }
    case .observeWriteRaw: try await observe(row) { try $0.writeRaw }
    case .merge: try await compare(row, ObservationRows(workspace).merge, per: ObservationRows.mergedCount)
    case .wake: try await compare(row, ObservationRows(workspace).wake, per: ObservationRows.wakes)
    case .observeLoad:
      try await compare(row, ObservationLoadRow(workspace: workspace).contenders, per: 1)
    case .observeBytes: try await compare(row, MemoryRow.tracking(workspace))
    case .dbHop: try await database(row) { try $0.hop }
    case .dbRead: try await database(row) { try $0.read }
    case .dbWrite: try await database(row) { try $0.write }
    case .namedTextRead: try await named(row) { $0.textRead }
    case .namedTextWrite: try await named(row) { $0.textWrite }
    case .namedNumberRead: try await named(row) { $0.numberRead }
    case .namedNumberWrite: try await named(row) { $0.numberWrite }
    case .namedObjectRead: try await named(row) { $0.objectRead }
    case .namedObjectWrite: try await named(row) { $0.objectWrite }
    case .modelNumberRead: try await accessed(row) { try $0.numberRead }
    case .modelNumberWrite: try await accessed(row) { try $0.numberWrite }
    case .modelTextRead: try await accessed(row) { try $0.textRead }
    case .modelTextWrite: try await accessed(row) { try $0.textWrite }
    case .modelDetachedRead: try await accessed(row) { $0.detachedRead }
    case .modelDetachedWrite: try await accessed(row) { $0.detachedWrite }
    case .modelHop: try await hop(row) { try $0.swiftDataActor(workspace.pieces()) }
    case .modelFetch: try await compare(row, SwiftDataRows(workspace).fetch)
    case .modelInsert: try await compare(row, SwiftDataRows(workspace).insert)
    case .modelAppend:
      try await compare(row, SwiftDataRows(workspace).append, per: SwiftDataRows.appended(workspace))
    case .modelBytes: try await compare(row, SwiftDataRows.memory(workspace))
    case .modelCompile: try await compare(row, ModelCompilingRow(workspace).contenders, per: 1)
    case .loadModel: try await compare(row, ModelLoadingRow(workspace: workspace).contenders(), per: 1)
    case .childSave:
      try await compare(
        row, ChildSaveRow(workspace: workspace).contenders, per: ChildSaveRow.count(workspace))
    case .profile: try await compare(row, LookupRows(workspace).firingProfiled)
    case .findOrCreate:
      try await compare(
        row, FindOrCreateRow(workspace: workspace).contenders, per: FindOrCreateRow.count(workspace))
    case .pagedBytes:
      try await compare(row, PagesRow(workspace).contenders(.paged), per: PagesRow.count(workspace))
    case .streamedBytes:
      try await compare(row, PagesRow(workspace).contenders(.streamed), per: PagesRow.count(workspace))
    case .migrate:
      try await compare(
        row, StoreRows(workspace: workspace).migration, per: StoreRows.migratedCount(workspace))
    case .openLarge: try await compare(row, StoreRows(workspace: workspace).opening, per: 1)
    case .historySave:
      try await compare(row, HistoryRows(workspace: workspace).save, per: HistoryRows.saves(workspace))
    case .historyInsert: try await compare(row, HistoryRows(workspace: workspace).insert)
    case .historyMerge:
      try await compare(row, HistoryRows(workspace: workspace).merge, per: HistoryRows.merged(workspace))
    case .historyPurge: try await compare(row, HistoryRows(workspace: workspace).purge, per: 1)
    case .remoteWake:
      try await compare(
        row, RemoteWakeRow(workspace: workspace).contenders, per: RemoteWakeRow.wakes(workspace))
    case .oneWriter: try await compare(row, WriterRows(workspace: workspace, count: 1).contenders, per: 1)
    case .twoWriters: try await compare(row, WriterRows(workspace: workspace, count: 2).contenders, per: 1)
    case .fourWriters: try await compare(row, WriterRows(workspace: workspace, count: 4).contenders, per: 1)
    case .eightWriters: try await compare(row, WriterRows(workspace: workspace, count: 8).contenders, per: 1)
    case .sixteenWriters:
      try await compare(row, WriterRows(workspace: workspace, count: 16).contenders, per: 1)
    case .importBatch:
      try await compare(row, ImportRows(workspace: workspace).batch, per: workspace.importCount)
    case .importSaves:
      try await compare(row, ImportRows(workspace: workspace).saves, per: workspace.importCount)
    case .importBytes:
      try await compare(row, ImportRows(workspace: workspace).memory, per: 1_000_000)
    case .build:
      try await compare(row, [Contender(.ours) { try BuildRow.seconds() }], per: 1, rounds: 1)
    case .rewriteAll: try await compare(row, RewritingRows(workspace).all, per: 1)
    case .rewriteOne: try await compare(row, RewritingRows(workspace).one(), per: 1)
    }
  }

  /// - Parameter sizes: the sizes of all rows of growth that will be asked for.
  func run(_ operation: GrowthOperation, _ chosen: Set<GrowthSize>, of sizes: Set<GrowthSize>) throws
    -> GrowthResult
  {
    let rows = try growthRows ?? GrowthRows(workspace, sizes: sizes.sorted())
    growthRows = rows
    return GrowthResult(operation, try rows.measure(operation, chosen.sorted(), rounds: rounds))
  }

  private func raceOnce() async throws -> (write: Rounds, read: Rounds) {
    if let race { return race }
    let made = try await ConcurrencyRows(workspace: workspace).measure(rounds: rounds, isAlone: isAlone)
    race = made
    return made
  }

  private func hop(_ row: RowID, _ contenders: (HopRows) throws -> [Contender]) async throws -> RowResult {
    let rows = try HopRows(workspace)
    return try await compare(row, contenders(rows), per: rows.calls)
  }

  private func database(
    _ row: RowID, _ contenders: (DatabaseRows) throws -> [Contender]
  ) async throws -> RowResult {
    let rows = DatabaseRows(workspace)
    return try await compare(row, contenders(rows), per: rows.count)
  }

  private func named(_ row: RowID, _ contenders: (NamedAccessRows) -> [Contender]) async throws -> RowResult {
    let rows = try NamedAccessRows(workspace)
    return try await compare(row, contenders(rows), per: rows.repetitions)
  }

  private func accessed(_ row: RowID, _ contenders: (SwiftDataRows) throws -> [Contender]) async throws
    -> RowResult
  {
    try await compare(row, contenders(SwiftDataRows(workspace)), per: SwiftDataRows.accesses(workspace))
  }

  private func observe(
    _ row: RowID, _ contenders: (ObservationRows) throws -> [Contender]
  ) async throws -> RowResult {
    let rows = try ObservationRows(workspace)
    return try await compare(row, contenders(rows), per: rows.repetitions)
  }

  /// - Parameter count: how many objects a run handles; all items unless given.
  private func compare(
    _ row: RowID, _ contenders: [Contender], per count: Int? = nil, rounds: Int? = nil
  ) async throws -> RowResult {
    RowResult(
      row,
      try await Rounds.measure(
        isAlone ? contenders.filter { $0.side == .ours } : contenders, rounds: rounds ?? self.rounds,
        per: count ?? samples.itemCount))
  }
}
