import CDEManagedModel
import CDEModelRuntime
import Foundation

extension Studio {
  /// The last commits that the history tells, the newest first; `history` is false for a store that keeps none.
  public func commits(limit: Int = 100) throws -> JSONValue {
    let state = try state()
    if state.store.historyToken == nil { return .object([.init("history", .bool(false))]) }
    let known = try state.store.transactions(resultType: .transactionsOnly)
    var commits: [WatchedCommit] = []
    if let first = known.suffix(limit).first {
      // By numbers, because a clock may have gone back.
      commits = try state.store.transactions(after: first.transactionNumber - 1).map(WatchedCommit.init)
    }
    return .object([
      .init("history", .bool(true)), .init("state", .int(state.number)), .init("total", .int(known.count)),
      .init("commits", .array(commits.suffix(limit).reversed().map(\.json))),
    ])
  }

  /// The changes of one commit.
  public func commit(_ number: Int) throws -> JSONValue {
    let known = try state().store.transactions(after: Int64(number) - 1)
    guard let transaction = known.first(where: { $0.transactionNumber == Int64(number) }) else {
      throw StudioFailure(.missing, "The history has no transaction \(number). It may have been purged.")
    }
    let changes = transaction.changes ?? []
    return .object([
      .init("transaction", .int(number)), .init("total", .int(changes.count)),
      .init(
        "changes",
        .array(
          changes.prefix(500).map { change in
            .object([
              .init("id", .string(ShortID.text(change.changedObjectID))),
              .init(
                "kind",
                .string(
                  change.changeType == .insert
                    ? "inserted" : change.changeType == .delete ? "deleted" : "updated")),
              .init(
                "properties",
                .array((change.updatedProperties ?? []).map(\.name).sorted().map { .string($0) })),
            ])
          })),
    ])
  }

  /// Calls a closure after each commit, with the number of the store's new state and the commits that the history tells. Ends when the
  /// task is cancelled, or when the closure throws.
  public func follow(_ body: (JSONValue) async throws -> Void) async throws {
    var last: (number: Int, token: NSPersistentHistoryToken?)
    do {
      let state = try await Self.blocking { try self.state() }
      last = (state.number, await Self.blocking { state.store.historyToken })
      try await body(.object([.init("state", .int(state.number)), .init("commits", .array([]))]))
    }
    while true {
      try await Task.sleep(for: .milliseconds(200))
      let known = last
      let next = await Self.blocking { () -> (Int, NSPersistentHistoryToken?, [WatchedCommit])? in
        // A file that is replaced or locked at this moment is looked at again.
        guard let state = try? self.state(), state.number != known.number else { return nil }
        let token = state.store.historyToken
        let commits = known.token.flatMap { try? state.store.commits(.fetchHistory(after: $0)) } ?? []
        return (state.number, token, commits)
      }
      guard let next else { continue }
      last = (next.0, next.1)
      try await body(
        .object([.init("state", .int(next.0)), .init("commits", .array(next.2.suffix(50).map(\.json)))]))
    }
  }

  /// Runs a function that waits for the store, on a thread where waiting stops no task.
  public static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws
    -> Value
  {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global(qos: .userInitiated).async { continuation.resume(with: Result(catching: body)) }
    }
  }

  private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .userInitiated).async { continuation.resume(returning: body()) }
    }
  }
}

extension OpenedStore {
  /// The place of the last commit in the history; nil for a store without one.
  var historyToken: NSPersistentHistoryToken? { coordinator.currentPersistentHistoryToken(fromStores: nil) }

  func commits(_ request: NSPersistentHistoryChangeRequest) throws -> [WatchedCommit] {
    request.resultType = .transactionsAndChanges
    return try readAnew { context in
      let result = try context.execute(request) as? NSPersistentHistoryResult
      return (result?.result as? [NSPersistentHistoryTransaction] ?? []).map(WatchedCommit.init)
    }
  }
}
