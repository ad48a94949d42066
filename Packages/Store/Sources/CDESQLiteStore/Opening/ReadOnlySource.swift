import CDESQLite
import CDEStore
import Foundation

/// Opens a file for reading so that its folder stays as it is: the names, the sizes, the times, the bytes.
///
/// SQLite's own read-only mode makes a log and its index beside a file that has a log. Its `immutable` mode
/// makes none, but ignores a log that holds the last commits. So each state of the files has its own way.
struct ReadOnlySource: Sendable {
  let path: String
  let files: FileSystem
  let vfs: String?
  let busyTimeout: Int32
  /// Whether a connection uses the database. Asked only where the answer decides.
  var isInUse: @Sendable (String) -> Bool = FileUse.isInUse

  /// - Parameter found: the headers of the files.
  /// - Returns: the connection, and the URI for further ones; nil if there can be none.
  func connect(_ found: StoreFile) throws(StoreError) -> (connection: Connection, uri: String?) {
    guard found.state == .filled else {
      throw found.state == .missing
        ? StoreError(
          .cannotOpen, "There is no store at \(path). Check the path.", cause: CocoaError(.fileReadNoSuchFile)
        )
        : StoreError(.unreadable, "The file at \(path) is empty, so it is no store.")
    }
    do throws(StoreError) {
      // A rollback journal needs nothing but a lock for a moment.
      if !found.usesLog, !found.hasLog { return try shared(found) }
      // Its users have made the log and its index, and they may go on writing.
      if hasFilesOfUse, isInUse(path) { return try shared(found) }
    } catch {
      // A commit that died must be undone first, or the files belong to a folder that can't be written.
      guard error.code == .readOnly || error.code == .cannotOpen else { throw error }
    }
    let isCopied = found.hasLog || found.hasJournal
    let unchanging = try UnchangingFile(path, in: files, isCopied: isCopied)
    let connection =
      isCopied
      ? try PrivateCopy(path: path, files: files, busyTimeout: busyTimeout).connect(found)
      : try connection(StoreURI.of(path, vfs: vfs, "immutable=1"))
    connection.unchanging = unchanging
    return (connection, nil)
  }

  /// Whether the log, which may be empty, or its index is there. A connection makes both before it reads.
  private var hasFilesOfUse: Bool {
    ["-wal", "-shm"].contains { suffix in
      var status = cde_file_status()
      return cde_file_status_at(path + suffix, &status) != ENOENT
    }
  }

  private func shared(_ found: StoreFile) throws(StoreError) -> (connection: Connection, uri: String?) {
    let uri = StoreURI.of(path, vfs: vfs)
    let connection = try connection(uri)
    // The first read finds out whether the file can be read like this.
    _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master", while: "Opening the store")
    try WriteAheadLog.check(fits: found, path, on: connection, in: files)
    return (connection, uri)
  }

  private func connection(_ uri: String) throws(StoreError) -> Connection {
    let connection = try Connection(uri: uri, flags: SQLITE_OPEN_READONLY, busyTimeout: busyTimeout)
    try connection.execute("PRAGMA cell_size_check = ON", while: "Opening the store")
    return connection
  }
}

/// Finds out whether a connection of this or another process uses a database, without touching its files.
///
/// Opening and closing a file would release all locks that this process has on it. The system's list of locks takes 5 to 20 ms to
/// read after a moment without such a look, and longer the more processors there are: all of them have to pass a point first.
enum FileUse {
  static func isInUse(_ path: String) -> Bool {
    var inodes: Set<String> = []
    for file in [path, path + "-shm"] {
      var status = cde_file_status()
      if cde_file_status_at(file, &status) == 0 { inodes.insert(String(status.inode)) }
    }
    // By a handle, because the system gives this file the size 0.
    guard let file = FileHandle(forReadingAtPath: "/proc/locks"), let list = try? file.readToEnd() else {
      // Without the system's list, the index of a log means that the log is in use.
      return FileManager.default.fileExists(atPath: path + "-shm")
    }
    // Only by inode: some file systems show another device here than elsewhere.
    return String(decoding: list, as: UTF8.self).split(separator: "\n").contains { line in
      line.split(separator: " ").contains { field in
        let parts = field.split(separator: ":")
        return parts.count == 3 && inodes.contains(String(parts[2]))
      }
    }
  }
}
