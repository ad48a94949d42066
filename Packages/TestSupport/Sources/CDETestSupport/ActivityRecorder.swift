@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEModelRuntime
@_spi(CDE) internal import CDEStore

/// Writes down what a store is asked; stands behind ``StoreActivity``.
final class ActivityRecorder: StoreActivityObserver {
  /// What budgets and rules count. Only grows, so that the difference of two is what came between.
  struct Tally: Sendable {
    /// Reads and batch requests, by their statements.
    var queries: [String: Int] = [:]
    /// Faults that fired by themselves.
    var faults: [FiredFault: Int] = [:]

    var queryCount: Int { queries.values.reduce(0, +) }

    func since(_ earlier: Tally) -> Tally {
      Tally(
        queries: Self.difference(queries, earlier.queries), faults: Self.difference(faults, earlier.faults))
    }

    private static func difference<Key>(_ now: [Key: Int], _ then: [Key: Int]) -> [Key: Int] {
      now.reduce(into: [:]) { result, entry in
        let count = entry.value - (then[entry.key] ?? 0)
        if count > 0 { result[entry.key] = count }
      }
    }
  }

  private struct State {
    var recent: [ObservedRequest] = []
    var count = 0
    var tally = Tally()
    /// The tally when the record was cleared. Rules that count from earlier on go on counting.
    var cleared = Tally()
  }

  let wantsValues: Bool
  private let state = Lock(State())

  /// A case that runs wild shall not fill memory; the end of what it did says most.
  private static let limit = 1_000

  init(wantsValues: Bool) { self.wantsValues = wantsValues }

  static func of(_ container: NSPersistentContainer) throws -> ActivityRecorder {
    let observers = container.persistentStoreCoordinator.persistentStores.map(\.observer)
    for case let recorder as ActivityRecorder in observers { return recorder }
    throw TestSupportError(
      .notRecorded,
      "No recorder observes the requests to the store of \"\(container.name)\". Take the container from .store, "
        + "withTestStore or makeTest, or call record(in:) on its description before loading it.")
  }

  func didRun(_ request: ObservedRequest) {
    state.withLock { state in
      state.count += 1
      if state.recent.count == 2 * Self.limit { state.recent.removeFirst(Self.limit) }
      state.recent.append(request)
      if request.kind == .read || request.kind == .batch {
        let text =
          request.statements.count == 1
          ? request.statements[0].sql : request.statements.map(\.sql).joined(separator: "; ")
        state.tally.queries[text, default: 0] += 1
      }
    }
  }

  func didFire(_ fault: FiredFault) { state.withLock { $0.tally.faults[fault, default: 0] += 1 } }

  func tally() -> Tally { state.withLock { $0.tally } }

  func tallySinceCleared() -> Tally { state.withLock { $0.tally.since($0.cleared) } }

  func clear() {
    state.withLock { state in
      state.recent = []
      state.count = 0
      state.cleared = state.tally
    }
  }

  /// The latest requests, and how many there were in all.
  var requests: (kept: [StoreActivity.Request], count: Int) {
    let (recent, count) = state.withLock { ($0.recent, $0.count) }
    return (recent.suffix(Self.limit).map(StoreActivity.Request.init), count)
  }
}

extension StoreActivity.Request {
  fileprivate init(_ request: ObservedRequest) {
    kind =
      switch request.kind {
      case .read: .read
      case .save: .save
      case .batch: .batch
      case .upkeep: .upkeep
      }
    statements = request.statements.map { StoreActivity.Statement(sql: $0.sql, runs: $0.runs) }
  }
}
