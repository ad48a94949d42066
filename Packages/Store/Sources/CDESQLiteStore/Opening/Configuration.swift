extension SQLiteStore {
  /// The location of a store and the options for opening it.
  public struct Configuration: Sendable, Hashable {
    /// The location of a store's rows.
    public enum Location: Sendable, Hashable {
      /// A file in an existing folder.
      ///
      /// Symbolic links are followed: the store is the file that they lead to, its log, its journal and its external values are
      /// beside that file, and a link that is changed later has no effect on an open store. If the last link leads to no file, the file
      /// is made where it leads. The path without links may have 504 bytes, because SQLite opens no longer ones.
      case file(path: String)
      /// Memory of this process. Stores of the same name share their rows while one of them is open.
      case inMemory(name: String)
    }

    /// How SQLite makes commits atomic.
    public enum JournalMode: String, Sendable, Hashable {
      /// A write-ahead log. Readers and the writer do not wait for each other. Core Data's default.
      case wal = "WAL"
      /// A rollback journal. Between commits the store is a single file, for example for copying.
      case delete = "DELETE"
    }

    /// The durability of a commit after a power failure. At all levels a commit survives the death of the
    /// process.
    public enum Synchronous: String, Sendable, Hashable {
      /// No syncing. After a power failure the file may be damaged.
      case off = "OFF"
      /// With a write-ahead log a power failure may lose the last commits, but never damages the file. The
      /// default, as in Core Data.
      case normal = "NORMAL"
      /// Each commit is on the disk when it returns.
      case full = "FULL"
      /// The same as `full`. With a rollback journal the folder is synced, too.
      case extra = "EXTRA"
    }

    /// The location of the store.
    public var location: Location
    /// How commits are made atomic. The mode of an existing file is changed when the store is opened.
    public var journalMode: JournalMode
    /// Whether the store is opened for reading only. No file is created or changed.
    public var isReadOnly: Bool
    /// Whether to create the store if there is no file, or an empty one.
    public var createsIfMissing: Bool
    /// How long a call waits for another connection's lock before it throws `.busy`.
    public var busyTimeout: Duration
    /// The durability of commits.
    public var synchronous: Synchronous
    /// Further SQLite pragmas for each connection, by name. Core Data calls this `NSSQLitePragmasOption`. A
    /// `journal_mode` or `synchronous` here overrides the properties above.
    public var pragmas: [String: String]
    /// The number of idle reading connections that are kept. More are opened when more threads read at the
    /// same time.
    public var readerCount: Int
    /// The name of the SQLite file system (its `sqlite3_vfs`) that reads and writes all of the store's files;
    /// `nil` for SQLite's default. For example, `unix-excl` excludes other processes and needs no shared
    /// memory. Stores in memory have no file system.
    ///
    /// - Precondition: it is registered when the store is opened, and while the store is open.
    public var vfs: String?
    /// Whether each commit is recorded in the file, as Core Data's persistent history does. The tables are added to a file
    /// without a history. A file that has one and is opened without this may only be read, as in Core Data: its history
    /// would have gaps.
    public var tracksHistory = false
    /// Whether opening writes the file anew without unused pages. Takes as long as copying it, and needs the room for a copy.
    /// While another connection uses the store, opening waits for the busy timeout, and fails then.
    public var vacuumsWhenOpened = false
    /// Whether opening counts the values of indexes, by which SQLite chooses between them. Takes as long as reading the indexes.
    public var analyzesWhenOpened = false
    /// Whether commits check that references stay valid. Only the benchmark disables this, to measure its
    /// cost.
    @_spi(CDE) public var checksReferences = true
    // Only tests change these lengths.
    var checkpointLimits = Checkpointer.Limits()

    var busyMilliseconds: Int32 {
      let (seconds, attoseconds) = busyTimeout.components
      // A day is as good as no limit, and fits into 32 bits.
      return Int32(min(max(seconds, 0), 86_400)) * 1000 + Int32(attoseconds / 1_000_000_000_000_000)
    }

    /// Makes a configuration. The defaults are Core Data's, if it has any.
    ///
    /// - Parameters:
    ///     - location: the location of the store.
    ///     - journalMode: how commits are made atomic.
    ///     - isReadOnly: opens the store for reading only.
    ///     - createsIfMissing: creates the store if there is no file, or an empty one.
    ///     - busyTimeout: how long a call waits for another connection's lock, with a precision of
    ///       milliseconds, at most a day.
    ///     - synchronous: the durability of commits.
    ///     - pragmas: further pragmas by name.
    ///     - readerCount: the number of idle reading connections that are kept; at least one.
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
