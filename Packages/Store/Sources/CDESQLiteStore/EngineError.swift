import CDESQLite
import CDEStore

/// The one place where SQLite's result codes become ``StoreError``.
enum EngineError {
  /// Makes the error for the last failed call on a connection.
  ///
  /// - Parameter task: what was being done, as the subject of the message.
  static func make(_ code: Int32, on handle: OpaquePointer?, while task: String) -> StoreError {
    let detail =
      handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
      ?? String(cString: sqlite3_errstr(code))
    return make(code, detail: detail, while: task)
  }

  static func make(_ code: Int32, detail: String, while task: String) -> StoreError {
    let (kind, remedy) = classify(code)
    return StoreError(
      kind, "\(task) failed: \(detail). \(remedy)", engineCode: code)
  }

  private static func classify(_ code: Int32) -> (StoreError.Code, String) {
    switch code & 0xFF {
    // The latter is what a write-ahead log says after a hundred attempts.
    case SQLITE_BUSY, SQLITE_PROTOCOL:
      (.busy, "Another connection holds the lock; try again, or raise the busy timeout.")
    case SQLITE_LOCKED:
      (.busy, "Another use of the same connection holds the table; try again.")
    case SQLITE_FULL:
      (.full, "Make room on the disk and try again; nothing was written.")
    case SQLITE_IOERR:
      (.io, "The operating system could not read or write the file; check the disk and try again.")
    case SQLITE_READONLY:
      (.readOnly, "The file or its folder only allows reading; change its permissions.")
    case SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_AUTH:
      (.cannotOpen, "Check that the folder exists and may be read and written.")
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT:
      (.unreadable, "The file is damaged or no store; restore it from a backup.")
    case SQLITE_TOOBIG:
      (.tooBig, "Make the value or the query smaller.")
    case SQLITE_INTERRUPT:
      (.cancelled, "The work was cancelled.")
    case SQLITE_CONSTRAINT:
      code == CDE_SQLITE_CONSTRAINT_UNIQUE
        ? (.uniqueness, "Change the value, or merge with the row that has it.")
        : (.constraint, "Check the rows against the constraints of the store's file.")
    case SQLITE_NOMEM:
      (.engine, "There is not enough memory.")
    case SQLITE_RANGE:
      (.tooBig, "The query binds more values than SQLite allows.")
    default:
      (.engine, "See the engine's code for more.")
    }
  }
}

extension StoreError {
  static func closed() -> StoreError {
    StoreError(.closed, "The store was closed. Open it again before using it.")
  }
}
