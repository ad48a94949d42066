/// The rows of the benchmark, by the names they have in reports.
enum RowID: String, CaseIterable {
  case a, b, c, c1
  case c2Faults = "c2-faults"
  case c2Refetch = "c2-refetch"
  case d, e
  case e1Single = "e1-single"
  case e1Batch = "e1-batch"
  case f
  case gCold = "g-cold"
  case gPrefetched = "g-prefetched"
  case gWarm = "g-warm"
  case h
  case references
  case referencesDeleted = "references-deleted"
  case i
  case jWrite = "j-write"
  case jRead = "j-read"
  case hopActor = "hop-actor"
  case hopPerform = "hop-perform"
  case observeRead = "observe-read"
  case observeWrite = "observe-write"
  case observeReadRaw = "observe-read-raw"
  case observeWriteRaw = "observe-write-raw"
  case merge, wake
  case observeLoad = "observe-load"
  case observeBytes = "observe-bytes"
  case dbHop = "db-hop"
  case dbRead = "db-read"
  case dbWrite = "db-write"
  case build

  /// What the row must not exceed.
  enum Target {
    /// Ours divided by raw SQLite, or by the baseline that the row's title names.
    case ratio(Double)
    /// Ours divided by GRDB.
    case ratioToGRDB(Double)
    /// Our figure, in the row's unit.
    case value(Double)
    /// Our figure in nanoseconds, set on a machine where raw takes so many.
    case time(Double, whereRawTakes: Double)

    var number: Double {
      switch self {
      case .ratio(let number), .ratioToGRDB(let number), .value(let number), .time(let number, _): number
      }
    }
  }

  var title: String {
    switch self {
    case .a: "insert all, one save"
    case .b: "insert all in saves of 100"
    case .c: "fetch all, nothing read"
    case .c1: "fetch all on the main actor, every property read once, observed"
    case .c2Faults: "fetch all as faults"
    case .c2Refetch: "fetch all again, objects registered"
    case .d: "fetch a category's items by index, cold"
    case .e: "object(with:), registered"
    case .e1Single: "fire faults one by one"
    case .e1Batch: "fire faults in batches of 100"
    case .f: "change one property of a tenth, save"
    case .gCold: "to-many, owner by owner, cold"
    case .gPrefetched: "to-many, prefetched (raw: scan and group)"
    case .gWarm: "to-many, loaded before"
    case .h: "delete a tenth"
    case .references: "insert at the store, references looked up (raw: not looked up)"
    case .referencesDeleted: "delete at the store, references looked for (raw: not looked for)"
    case .i: "memory of a registered, unread object"
    case .jWrite: "10 updates and a save, beside a reader"
    case .jRead: "fetch of a category's items, beside a writer"
    case .hopActor: "call of a model actor (raw: default actor)"
    case .hopPerform: "await context.perform (raw: default actor)"
    case .observeRead: "observed read outside tracking (raw: @Observable)"
    case .observeWrite: "observed write without tracking, beyond an unobserved one"
    case .observeReadRaw: "the same of an enumeration kept by its raw text"
    case .observeWriteRaw: "observed write of such an enumeration, beyond an unobserved one"
    case .merge: "merge of 100 objects, all registered (raw: only the 100 registered)"
    case .wake: "wake one reader among 10,000 (raw: @Observable, alone)"
    case .observeLoad: "all observed, 1,000 saves a second: from the last save to its reader"
    case .observeBytes: "memory of tracking a registered object (raw: of an @Observable object)"
    case .dbHop: "empty read of a database"
    case .dbRead: "values of one object through a database"
    case .dbWrite: "change of one object through a database, saved"
    case .build: "clean debug build of the umbrella"
    }
  }

  var unit: String {
    switch self {
    case .i, .observeBytes: "bytes"
    case .build: "s"
    default: "ns"
    }
  }

  /// Ceilings all: where more is better (rows j) the figure is the time of one, and the target the
  /// inverse of the rate's.
  var target: Target {
    switch self {
    case .a: .ratio(1.35)
    case .b: .ratio(1.15)
    case .c: .ratio(1.0)
    case .c1: .ratio(2.0)
    case .c2Faults: .ratio(0.3)
    case .c2Refetch: .ratio(0.7)
    case .d: .ratio(0.8)
    case .e: .time(100, whereRawTakes: 1_855)
    case .e1Single: .ratio(1.3)
    case .e1Batch: .ratio(0.9)
    case .f: .ratio(1.0)
    case .gCold: .ratio(1.1)
    case .gPrefetched: .ratio(1.3)
    case .gWarm: .ratio(0.05)
    case .h: .ratio(0.85)
    case .references, .referencesDeleted: .ratio(1.15)
    case .i: .value(300)
    case .jWrite: .ratio(1 / 0.9)
    case .jRead: .ratio(1 / 0.95)
    case .hopActor, .hopPerform: .ratio(1.25)
    case .observeRead, .observeReadRaw: .time(35, whereRawTakes: 15)
    case .observeWrite, .observeWriteRaw: .value(10)
    case .merge: .ratio(1.5)
    case .wake: .time(700, whereRawTakes: 620)
    case .observeLoad: .value(10_000_000)
    case .observeBytes: .ratio(1.5)
    case .dbHop: .ratioToGRDB(0.1)
    case .dbRead: .ratioToGRDB(0.2)
    case .dbWrite: .ratioToGRDB(0.5)
    case .build: .value(180)
    }
  }

  var isRequired: Bool {
    switch self {
    case .c, .c1, .d, .e, .f, .h, .i, .jWrite, .jRead, .hopActor, .hopPerform: true
    default: false
    }
  }
}
