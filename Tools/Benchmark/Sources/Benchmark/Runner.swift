/// Measures rows, one after the other.
@MainActor
struct Runner {
  let workspace: Workspace
  let rounds: Int

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
    case .gCold: try await compare(row, RelationshipRows(workspace).cold, per: samples.filedCount)
    case .gPrefetched: try await compare(row, RelationshipRows(workspace).prefetched, per: samples.filedCount)
    case .gWarm: try await compare(row, RelationshipRows(workspace).warm, per: samples.filedCount)
    default: RowResult(row)
    }
  }

  /// - Parameter count: how many objects a run handles; all items unless given.
  private func compare(_ row: RowID, _ contenders: [Contender], per count: Int? = nil) async throws
    -> RowResult
  {
    RowResult(row, try await Rounds.measure(contenders, rounds: rounds, per: count ?? samples.itemCount))
  }
}
