/// What a row must not exceed.
package enum Target: Sendable {
  /// Ours divided by raw*: SQLite with the pragmas of our engine.
  case ratioToRaw(Double)
  /// Ours divided by GRDB.
  case ratioToGRDB(Double)
  /// Ours divided by the row's own reference.
  case ratioToReference(Double)
  /// Our figure, in the row's unit.
  case value(Double)

  package var number: Double {
    switch self {
    case .ratioToRaw(let number), .ratioToGRDB(let number), .ratioToReference(let number), .value(let number):
      number
    }
  }

  /// The JSON report's word for it.
  var kind: String {
    switch self {
    case .ratioToRaw: "ratioToRawWithOurPragmas"
    case .ratioToGRDB: "ratioToGRDB"
    case .ratioToReference: "ratioToReference"
    case .value: "value"
    }
  }
}

extension RowID {
  /// Ceilings all: in the rows of a writer beside a reader, where more is better, the figure is the time of one.
  package var target: Target {
    switch self {
    case .a: .ratioToRaw(2.0)
    case .b: .ratioToRaw(1.2)
    case .c: .ratioToRaw(0.75)
    case .c1: .ratioToRaw(1.25)
    case .c2Faults: .ratioToRaw(0.32)
    case .c2Refetch: .ratioToRaw(0.7)
    case .d: .ratioToRaw(1.0)
    case .e: .value(100)
    case .e1Single: .ratioToRaw(1.85)
    case .e1Batch: .ratioToRaw(1.3)
    case .f: .ratioToRaw(1.5)
    case .gCold: .ratioToRaw(1.65)
    case .gPrefetched: .ratioToRaw(1.3)
    case .gWarm: .ratioToRaw(0.08)
    case .h: .ratioToRaw(1.2)
    case .i: .value(300)
    case .aggregates: .ratioToRaw(1.2)
    case .jWrite: .ratioToRaw(1.75)
    case .jRead: .ratioToRaw(1.05)
    case .dbHop: .ratioToGRDB(0.1)
    case .dbRead: .ratioToGRDB(0.2)
    case .dbWrite: .ratioToGRDB(0.45)
    case .references, .referencesDeleted: .ratioToReference(1.15)
    case .hopActor, .hopPerform: .ratioToReference(1.25)
    case .observeRead, .observeReadRaw: .value(35)
    case .observeWrite, .observeWriteRaw: .value(10)
    case .merge: .ratioToReference(1.5)
    case .wake: .ratioToReference(1.1)
    case .observeLoad: .value(10_000_000)
    case .observeBytes: .ratioToReference(1.5)
    case .namedTextRead, .namedTextWrite, .namedNumberRead, .namedNumberWrite, .namedObjectRead,
      .namedObjectWrite:
      .ratioToReference(1.1)
    case .modelNumberRead, .modelNumberWrite, .modelTextRead, .modelTextWrite, .modelDetachedRead,
      .modelDetachedWrite, .modelInsert:
      .ratioToReference(1.3)
    case .modelHop: .ratioToReference(1.1)
    case .modelFetch: .ratioToReference(1.25)
    case .modelAppend: .ratioToReference(2)
    case .modelBytes: .value(450)
    case .modelCompile: .ratioToReference(1.5)
    case .loadModel: .value(10)
    case .childSave, .findOrCreate: .ratioToReference(1.5)
    case .profile: .ratioToReference(1.02)
    case .pagedBytes: .value(150)
    case .streamedBytes: .value(10)
    case .migrate: .ratioToReference(1.3)
    case .openLarge: .value(20)
    case .historySave: .ratioToReference(1.15)
    case .historyInsert: .ratioToReference(1.25)
    case .historyMerge: .ratioToReference(1.5)
    case .historyPurge: .value(50)
    case .remoteWake: .value(5_000_000)
    case .oneWriter, .twoWriters, .fourWriters, .eightWriters, .sixteenWriters: .ratioToReference(1.2)
    case .importBatch: .ratioToReference(2)
    case .importSaves: .ratioToReference(4)
    case .importBytes: .value(128)
    case .build: .value(180)
    case .rewriteAll: .value(4)
    case .rewriteOne: .value(100)
    }
  }

  package var isRequired: Bool {
    switch self {
    case .c, .c1, .d, .e, .f, .h, .i, .jWrite, .jRead, .hopActor, .hopPerform: true
    default: false
    }
  }
}

/// What a row's figures say about its target.
package enum Verdict: String, Sendable {
  case met, missed
  /// What ours is compared with took too different times from round to round.
  case unsettled

  /// The spread of a reference from which on nothing is said.
  static let largestSpread = 0.1

  init(_ measured: Double, atMost target: Double, spread: Double?) {
    if let spread, spread > Self.largestSpread {
      self = .unsettled
    } else {
      self = measured <= target ? .met : .missed
    }
  }
}
