/// One thing that SQLite asked of the file system for a store.
public struct StoreStep: Sendable, Hashable, CustomStringConvertible {
  /// What was asked for.
  public enum Operation: String, Sendable, Hashable, CaseIterable {
    case open, read, write, truncate, sync, delete
    /// Whether a file is there.
    case access
    case size
    /// A lock on the database's file. Letting go of one is no step.
    case lock
    /// A piece of the log's index, which connections share in memory.
    case mapIndex
    /// A lock on the log's index. Letting go of one is no step.
    case lockIndex
  }

  /// Which of the store's files. SQLite's temporary files are none of them.
  public enum File: String, Sendable, Hashable, CaseIterable {
    case database
    /// The write-ahead log, `-wal`.
    case log
    /// The rollback journal, `-journal`.
    case journal
    /// A large value beside the store.
    case externalValue
  }

  /// From 1, since ``StoreFaults/begin(_:)``.
  public let number: Int
  /// What was done with the file.
  public let operation: Operation
  /// Which of the store's files it was done with.
  public let file: File

  /// `12: write log`.
  public var description: String { "\(number): \(operation) \(file)" }
}

extension StoreStep.File {
  /// The kind of a file that is known by its path alone.
  init(path: String) {
    self =
      if path.hasSuffix("-wal") { .log } else if path.hasSuffix("-journal") {
        .journal
      } else if path.contains("_SUPPORT/_EXTERNAL_DATA/") { .externalValue } else { .database }
  }
}
