/// The rows of the benchmark that compare, by their ids. Reports call a row by its name.
package enum RowID: String, CaseIterable, Sendable {
  // Beside SQLite and GRDB.
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
  case h, i, aggregates
  case jWrite = "j-write"
  case jRead = "j-read"
  case dbHop = "db-hop"
  case dbRead = "db-read"
  case dbWrite = "db-write"
  // Beside something else, or alone.
  case references
  case referencesDeleted = "references-deleted"
  case hopActor = "hop-actor"
  case hopPerform = "hop-perform"
  case observeRead = "observe-read"
  case observeWrite = "observe-write"
  case observeReadRaw = "observe-read-raw"
  case observeWriteRaw = "observe-write-raw"
  case merge, wake
  case observeLoad = "observe-load"
  case observeBytes = "observe-bytes"
  case namedTextRead = "named-text-read"
  case namedTextWrite = "named-text-write"
  case namedNumberRead = "named-number-read"
  case namedNumberWrite = "named-number-write"
  case namedObjectRead = "named-object-read"
  case namedObjectWrite = "named-object-write"
  case loadModel = "load-model"
  case childSave = "child-save"
  case findOrCreate = "find-or-create"
  case profile
  case pagedBytes = "paged-bytes"
  case streamedBytes = "streamed-bytes"
  case migrate
  case openLarge = "open-large"
  case historySave = "history-save"
  case historyInsert = "history-insert"
  case historyMerge = "history-merge"
  case historyPurge = "history-purge"
  case remoteWake = "remote-wake"
  case oneWriter = "writers-1"
  case twoWriters = "writers-2"
  case fourWriters = "writers-4"
  case eightWriters = "writers-8"
  case sixteenWriters = "writers-16"
  case importBatch = "import-batch"
  case importSaves = "import-saves"
  case importBytes = "import-bytes"
  case build
  case rewriteAll = "rewrite-all"
  case rewriteOne = "rewrite-one"
  // SwiftData's layer, beside the other models of the library. Last, because other rows need every database closed.
  case modelNumberRead = "model-number-read"
  case modelNumberWrite = "model-number-write"
  case modelTextRead = "model-text-read"
  case modelTextWrite = "model-text-write"
  case modelDetachedRead = "model-detached-read"
  case modelDetachedWrite = "model-detached-write"
  case modelHop = "model-hop"
  case modelFetch = "model-fetch"
  case modelInsert = "model-insert"
  case modelAppend = "model-append"
  case modelBytes = "model-bytes"
  case modelCompile = "model-compile"

  package var name: String {
    switch self {
    case .a: "insert, one save"
    case .b: "insert, saves of 100"
    case .c: "fetch all, nothing read"
    case .c1: "fetch all, every property read, observed"
    case .c2Faults: "fetch all as faults"
    case .c2Refetch: "fetch all again, all registered"
    case .d: "fetch a category's items by index, cold"
    case .e: "look-up by ID, registered"
    case .e1Single: "fire faults one by one"
    case .e1Batch: "fire faults, batches of 100"
    case .f: "change a tenth, one save"
    case .gCold: "to-many, owner by owner, cold"
    case .gPrefetched: "to-many, prefetched"
    case .gWarm: "to-many, loaded before"
    case .h: "delete a tenth, one save"
    case .i: "memory of a registered, unread object"
    case .aggregates: "three aggregates for each category"
    case .jWrite: "save of 10 changes, beside a reader"
    case .jRead: "fetch of a category's items, beside a writer"
    case .dbHop: "database: empty read"
    case .dbRead: "database: values of one object"
    case .dbWrite: "database: change of one object, saved"
    case .references: "store: insert with references"
    case .referencesDeleted: "store: delete what could be referred to"
    case .hopActor: "call of a model actor"
    case .hopPerform: "await context.perform"
    case .observeRead: "observed read, not tracked"
    case .observeWrite: "what observation adds to a write"
    case .observeReadRaw: "observed read of an enumeration"
    case .observeWriteRaw: "what observation adds to an enumeration write"
    case .merge: "merge of 100 changes, all items registered"
    case .wake: "wake one reader among 10,000"
    case .observeLoad: "last of 1,000 saves a second to its reader"
    case .observeBytes: "memory of tracking a registered object"
    case .namedTextRead: "read a text by a rewritten accessor"
    case .namedTextWrite: "write a text by a rewritten accessor"
    case .namedNumberRead: "read a number by a rewritten accessor"
    case .namedNumberWrite: "write a number by a rewritten accessor"
    case .namedObjectRead: "read a to-one by a rewritten accessor"
    case .namedObjectWrite: "write a to-one by a rewritten accessor"
    case .modelNumberRead: "models: read a number"
    case .modelNumberWrite: "models: write a number"
    case .modelTextRead: "models: read a text"
    case .modelTextWrite: "models: write a text"
    case .modelDetachedRead: "models: read without a context"
    case .modelDetachedWrite: "models: write without a context"
    case .modelHop: "models: call of a model actor"
    case .modelFetch: "models: fetch all, every property read"
    case .modelInsert: "models: insert, one save"
    case .modelAppend: "models: append to an array of 10,000"
    case .modelBytes: "models: memory of an unread object"
    case .modelCompile: "models: compile a class of 60 properties"
    case .loadModel: "load a compiled model of 200 entities"
    case .childSave: "save of 10,000 objects to a parent"
    case .findOrCreate: "look for an object, or make it; one save"
    case .profile: "fire faults one by one, recorded"
    case .pagedBytes: "memory of a fetch in batches, each object read"
    case .streamedBytes: "memory of a stream, each object read"
    case .migrate: "migration of a table of a million rows"
    case .openLarge: "open a store of 200 entities and 1 GB"
    case .historySave: "save of one change, with a history"
    case .historyInsert: "insert, one save, with a history"
    case .historyMerge: "merge of 10,000 changes from a history"
    case .historyPurge: "longest save beside a purge of the history"
    case .remoteWake: "save of another process to its reader"
    case .oneWriter: "save of one change, by 1 writer of the file"
    case .twoWriters: "save of one change, by 2 writers of the file"
    case .fourWriters: "save of one change, by 4 writers of the file"
    case .eightWriters: "save of one change, by 8 writers of the file"
    case .sixteenWriters: "save of one change, by 16 writers of the file"
    case .importBatch: "import by a batch request with a closure"
    case .importSaves: "import by saves of 1,000 objects"
    case .importBytes: "memory of an import by a batch request"
    case .build: "clean debug build of the umbrella"
    case .rewriteAll: "rewrite 100,000 lines of Core Data sources"
    case .rewriteOne: "rewrite one changed file of them"
    }
  }

  package var unit: String {
    switch self {
    case .i, .observeBytes, .modelBytes, .pagedBytes, .streamedBytes: "bytes"
    case .loadModel, .openLarge, .rewriteOne, .modelCompile, .historyPurge: "ms"
    case .build, .rewriteAll: "s"
    case .importBytes: "MB"
    default: "ns"
    }
  }

  /// What stands beside ours where that is neither SQLite nor GRDB.
  package var reference: String? {
    switch self {
    case .references, .referencesDeleted: "the same, references not checked"
    case .hopActor, .hopPerform: "a default actor"
    case .observeRead, .observeReadRaw: "@Observable"
    case .wake: "@Observable, alone"
    case .observeBytes: "an @Observable object"
    case .merge: "only the 100 registered"
    case .namedTextRead, .namedTextWrite, .namedNumberRead, .namedNumberWrite, .namedObjectRead,
      .namedObjectWrite:
      "the macro's accessor"
    case .modelNumberRead, .modelNumberWrite, .modelTextRead, .modelTextWrite, .modelFetch:
      "@PersistentModel, observed"
    case .modelInsert: "@PersistentModel, with a history"
    case .modelDetachedRead, .modelDetachedWrite: "@Observable"
    case .modelHop: "@NSModelActor"
    case .modelCompile: "a class with @PersistentModel"
    case .modelAppend: "the same to an array of 100"
    case .migrate: "the bare SQL"
    case .childSave: "a plain save less the store's part"
    case .findOrCreate: "saves of 1,000"
    case .profile: "the same, not recorded"
    case .historySave: "the same statements by C"
    case .historyInsert: "the same without a history"
    case .historyMerge: "the same commits, in process"
    case .oneWriter, .twoWriters, .fourWriters, .eightWriters, .sixteenWriters: "C, one connection in turns"
    case .importBatch, .importSaves: "sqlite3 .import of a file"
    default: nil
    }
  }

  /// The tables of a report that rows stand in.
  package enum Section: Sendable { case databases, others }

  package var section: Section {
    switch self {
    case .references, .referencesDeleted, .hopActor, .hopPerform, .observeRead, .observeWrite,
      .observeReadRaw, .observeWriteRaw, .merge, .wake, .observeLoad, .observeBytes, .namedTextRead,
      .namedTextWrite,
      .namedNumberRead, .namedNumberWrite, .namedObjectRead, .namedObjectWrite, .modelNumberRead,
      .modelNumberWrite, .modelTextRead, .modelTextWrite, .modelDetachedRead, .modelDetachedWrite,
      .modelHop, .modelFetch, .modelInsert, .modelAppend, .modelBytes, .modelCompile, .loadModel, .childSave,
      .findOrCreate, .profile, .pagedBytes,
      .streamedBytes, .migrate, .openLarge, .historySave,
      .historyInsert, .historyMerge, .historyPurge, .remoteWake, .oneWriter, .twoWriters, .fourWriters,
      .eightWriters,
      .sixteenWriters, .importBatch, .importSaves, .importBytes, .build,
      .rewriteAll, .rewriteOne:
      .others
    default: .databases
    }
  }
}
