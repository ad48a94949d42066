extension SQLiteStore {
  /// Where a store is and how it is opened.
  public struct Configuration: Sendable, Hashable {
    /// Where the rows of a store are.
    public enum Location: Sendable, Hashable {
      /// A file in an existing folder.
      case file(path: String)
      /// Memory of this process. Stores of the same name share their rows for as long as one of them is open.
      case inMemory(name: String)
    }

    /// How SQLite makes commits atomic.
    public enum JournalMode: String, Sendable, Hashable {
      /// A write-ahead log: readers and the writer do not wait for each other. Core Data's default.
      case wal = "WAL"
      /// A rollback journal: a single file between commits, for stores that are copied or shipped.
      case delete = "DELETE"
    }

    /// How hard a commit tries to survive the loss of power; all levels survive the death of the process.
    public enum Synchronous: String, Sendable, Hashable {
      /// No syncing: after a loss of power the file may be damaged.
      case off = "OFF"
      /// Under a write-ahead log the last commits may be lost, never the file. The default, as in Core Data.
      case normal = "NORMAL"
      /// Every commit is on the disk when it returns.
      case full = "FULL"
      /// As `full`, and with a rollback journal the folder is synced as well.
      case extra = "EXTRA"
    }

    /// Where the store is.
    public var location: Location
    /// How commits are made atomic. An existing file is switched to it when the store opens.
    public var journalMode: JournalMode
    /// Whether the store opens for reading only. Nothing is created, and the file stays as it is.
    public var isReadOnly: Bool
    /// Creates the store where there is no file, or an empty one.
    public var createsIfMissing: Bool
    /// How long a call waits for another connection's lock before it throws `.busy`.
    public var busyTimeout: Duration
    /// What commits wait for.
    public var synchronous: Synchronous
    /// Further SQLite pragmas for every connection, by name; Core Data calls this `NSSQLitePragmasOption`. A
    /// `journal_mode` or `synchronous` in here wins over the properties above.
    public var pragmas: [String: String]
    /// How many idle reading connections are kept. More are opened when more threads read at once.
    public var readerCount: Int
    /// The SQLite file system (its `sqlite3_vfs`) that all of the store's files are read and written with, by
    /// the name it was registered under; `nil` for SQLite's default. `unix-excl`, for instance, keeps other
    /// processes out and needs no shared memory. Stores in memory have none.
    ///
    /// It has to be registered when the store is opened, and for as long as the store is open.
    public var vfs: String?
    /// Whether commits see to it that references stay whole. Only the benchmark does without, to tell what it costs.
    @_spi(CDE) public var checksReferences = true
    // Lengths that only tests change.
    var checkpointLimits = Checkpointer.Limits()

    var busyMilliseconds: Int32 {
      let (seconds, attoseconds) = busyTimeout.components
      // A day is as good as forever, and fits.
      return Int32(min(max(seconds, 0), 86_400)) * 1000 + Int32(attoseconds / 1_000_000_000_000_000)
    }

    /// Makes a configuration. The defaults are Core Data's where it has them.
    ///
    /// - Parameters:
    ///     - location: where the store is.
    ///     - journalMode: how commits are made atomic.
    ///     - isReadOnly: opens the store for reading only.
    ///     - createsIfMissing: creates the store where there is no file, or an empty one.
    ///     - busyTimeout: how long a call waits for another connection's lock, in milliseconds' precision; a
    ///     day at most.
    ///     - synchronous: what commits wait for.
    ///     - pragmas: further pragmas by name.
    ///     - readerCount: how many idle reading connections are kept; at least one.
    ///     - vfs: the name of the SQLite file system; `nil` for SQLite's default.
    public init(
      location: Location, journalMode: JournalMode = .wal, isReadOnly: Bool = false,
      createsIfMissing: Bool = true, busyTimeout: Duration = .seconds(10),
      synchronous: Synchronous = .normal, pragmas: [String: String] = [:], readerCount: Int = 4,
      vfs: String? = nil
    ) {
      self.location = location
      self.journalMode = journalMode
      self.isReadOnly = isReadOnly
      self.createsIfMissing = createsIfMissing
      self.busyTimeout = busyTimeout
      self.synchronous = synchronous
      self.pragmas = pragmas
      self.readerCount = readerCount
      self.vfs = vfs
    }
  }
}
