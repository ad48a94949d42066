import CDESQLite
import CDEStore
import Foundation

/// Converts SQLite's result codes to ``StoreError``. No other code does this.
enum EngineError {
  /// Makes the error for the last failed call on a connection.
  ///
  /// - Parameter task: the failed task, as the subject of the message.
  static func make(_ code: Int32, on handle: OpaquePointer?, while task: String) -> StoreError {
    var detail =
      handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
      ?? String(cString: sqlite3_errstr(code))
    if [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xFF), let handle,
      let name = sqlite3_db_filename(handle, "main"), name.pointee != 0
    {
      detail += " in \(String(cString: name))"
    }
    return make(code, system: handle.map { sqlite3_system_errno($0) } ?? 0, detail: detail, while: task)
  }

  /// - Parameter system: the operating system's error number, if known; otherwise 0.
  static func make(
    _ code: Int32, system: Int32 = 0, detail: String, while task: String
  ) -> StoreError {
    if code & 0xFF == SQLITE_ERROR, let limit = limits.first(where: { detail.contains($0.detail) }) {
      return StoreError(.tooBig, "\(task) failed: \(limit.sentence)", engineCode: code)
    }
    let (kind, remedy) = classify(code, system: system)
    // Core Data's number for it.
    let mayNotWrite = code & 0xFF == SQLITE_CANTOPEN && [EACCES, EPERM, EROFS].contains(system)
    return StoreError(
      kind, "\(task) failed: \(detail). \(remedy)",
      cause: mayNotWrite ? CocoaError(.fileWriteNoPermission) : nil, engineCode: code)
  }

  /// Details of errors for which SQLite has only one code: a file can't be opened or used. The system's
  /// number contains the reason.
  ///
  /// - Returns: nil for numbers that add nothing to SQLite's code.
  static func classify(system: Int32) -> (StoreError.Code, String)? {
    switch system {
    case EMFILE:
      (
        .tooManyOpenFiles,
        "This process has as many files open as it may, which is \(cde_open_file_limit()). "
          + "\(descriptorsOfAStore) Close what is not in use, or raise the limit (ulimit -n)."
      )
    case ENFILE:
      (
        .tooManyOpenFiles,
        "The system has as many files open as it may. \(descriptorsOfAStore) "
          + "Close what is not in use, or raise the system's limit."
      )
    // A file needs space before its first byte: in its folder, in the table of files, in the index of the
    // log.
    case ENOSPC, EDQUOT: (.full, "Make room on the disk and try again; nothing was written.")
    default: nil
    }
  }

  private static let descriptorsOfAStore =
    "A store takes 3 file descriptors, 2 more for each read at the same time, "
    + "and 2 more while it is opened or its log is copied."

  // SQLite uses one code for these limits and for mistakes in statements.
  private static let limits: [(detail: String, sentence: String)] = [
    (
      "parser stack overflow",
      "the condition nests deeper than SQLite reads. Use fewer levels: join the parts in one AND or OR, shorten key "
        + "paths over to-many relationships, or fetch in steps."
    ),
    (
      "Expression tree is too large",
      "the condition nests deeper than SQLite reads. Join the parts in one AND or OR, or fetch in steps."
    ),
    (
      "tables in a join",
      "the query follows more relationships than the 64 tables that SQLite joins. Use shorter key paths, or fetch in "
        + "steps."
    ),
    (
      "too many SQL variables",
      "the query has more values than SQLite binds. Give them as one list with IN, or fetch in steps."
    ),
    (
      "no query solution",
      "the query has more terms than SQLite plans. Give values as one list with IN, or fetch in steps."
    ),
    (
      "integer overflow",
      "a computed integer exceeds 64 bits. Make the values smaller, or compute with a number that has a fraction."
    ),
  ]

  private static func classify(_ code: Int32, system: Int32) -> (StoreError.Code, String) {
    if code == CDE_SQLITE_READONLY_DBMOVED {
      return (.fileMoved, "The file was deleted, renamed or replaced while the store was open.")
    }
    if [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF), let known = classify(system: system) {
      return known
    }
    return switch code & 0xFF {
    // A write-ahead log returns the latter after a hundred attempts.
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
      (
        .unreadable,
        "The file is damaged or no store; restore it from a backup, or copy what can be read with salvage."
      )
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
  static func forked() -> StoreError {
    StoreError(
      .forked,
      "The store was opened by the parent process, and SQLite's connections don't survive a fork. "
        + "Open the store again in this process, and release this one without closing it.")
  }

  static func closed() -> StoreError {
    StoreError(.closed, "The store was closed. Open it again before using it.")
  }
}
