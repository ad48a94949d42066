/// The rows over a PostgreSQL server. Each compares this library with libpq's C functions, called by hand.
package enum ServerRow: String, CaseIterable, Sendable {
  case fetch = "pg-fetch"
  case fetchObjects = "pg-fetch-objects"
  case insert = "pg-insert"
  case insertObjects = "pg-insert-objects"
  case lookUp = "pg-look-up"
  case save = "pg-save"
  case saveDurably = "pg-save-fsync"
  case wake = "pg-wake"
  case importBatch = "pg-import"
  case writers = "pg-writers"

  package var name: String {
    switch self {
    case .fetch: "fetch of all rows, into values"
    case .fetchObjects: "fetch of all objects"
    case .insert: "insert of all rows, one commit"
    case .insertObjects: "insert of all objects, one save"
    case .lookUp: "row of one fault, by its key"
    case .save: "save of one change"
    case .saveDurably: "save of one change, on the disk"
    case .wake: "save of another connection to its reader"
    case .importBatch: "import by a batch request with a closure"
    case .writers: "save of one change, by several writers"
    }
  }

  /// What ours divided by libpq must not exceed; for ``wake`` nanoseconds. Nil for a row that is only told.
  package var target: Double? {
    switch self {
    case .fetch: 1.15
    case .insert: 1.25
    case .insertObjects: 1.8
    case .lookUp, .saveDurably: 1.2
    case .save: 1.6
    case .importBatch: 2
    case .wake: 2_000_000
    case .fetchObjects, .writers: nil
    }
  }

  package var isRatio: Bool { self != .wake }

  /// The numbers of writers of ``writers``.
  package static let writerCounts = [1, 2, 4, 8, 16]
}

/// What came out for one row over a server.
package struct ServerResult: Sendable {
  package let row: ServerRow
  /// Of ``ServerRow/writers``.
  package var writers: Int?
  package var rounds: Rounds

  package init(_ row: ServerRow, writers: Int? = nil, _ rounds: Rounds) {
    (self.row, self.writers, self.rounds) = (row, writers, rounds)
  }

  /// Nanoseconds of one object, call or save.
  package var ours: Double? { rounds.median(.ours) }
  package var byHand: Double? { rounds.median(.raw) }
  package var ratio: Double? { rounds.ratio(.ours, to: .raw) }

  package var verdict: Verdict? {
    guard let target = row.target, let measured = row.isRatio ? ratio : ours else { return nil }
    return Verdict(measured, atMost: target, spread: rounds.spread(row.isRatio ? .raw : .ours))
  }
}
