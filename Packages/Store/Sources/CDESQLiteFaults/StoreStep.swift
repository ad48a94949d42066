/// One operation of the file system that SQLite executes for a store.
public struct StoreStep: Sendable, Hashable, CustomStringConvertible {
  /// The operation.
  public enum Operation: String, Sendable, Hashable, CaseIterable {
    case open, read, write, truncate, sync, delete
    /// A check whether a file exists.
    case access
    case size
    /// A lock on the database's file. Releasing a lock is no step.
    case lock
    /// A part of the log's index, which connections share in memory.
    case mapIndex
    /// A lock on the log's index. Releasing a lock is no step.
    case lockIndex
  }

  /// The kind of the store's file. SQLite's temporary files are not included.
  public enum File: String, Sendable, Hashable, CaseIterable {
    case database
    /// The write-ahead log, `-wal`.
    case log
    /// The rollback journal, `-journal`.
    case journal
    /// A file with a large value, outside the database.
    case externalValue
  }

  /// The number of the step since ``StoreFaults/begin(_:)``, starting at 1.
  public let number: Int
  /// The operation on the file.
  public let operation: Operation
  /// The kind of the file.
  public let file: File

  /// `12: write log`.
  public var description: String { "\(number): \(operation) \(file)" }
}

extension StoreStep.File {
  /// The kind of a file of which only the path is known.
  init(path: String) {
    self =
      if path.hasSuffix("-wal") { .log } else if path.hasSuffix("-journal") {
        .journal
      } else if path.contains("_SUPPORT/_EXTERNAL_DATA/") { .externalValue } else { .database }
  }
}
