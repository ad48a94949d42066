import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// A copy of a file and its log or journal, for reading what only all of them contain.
///
/// SQLite would otherwise write to the files' folder. The copy has no name once it is open, so the system
/// removes it when the connection is closed and when the process dies.
struct PrivateCopy {
  let path: String
  let files: FileSystem
  let busyTimeout: Int32

  private static let attempts = 3

  /// - Parameter found: the headers of the files that are copied.
  func connect(_ found: StoreFile) throws(StoreError) -> Connection {
    let folder = TemporaryFolder.newURL(prefix: "cde-reading-").path
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw StoreError(
        .cannotOpen,
        "\(path) has a log that must not be changed, and no folder for a copy can be made at \(folder). Set TMPDIR to a "
          + "folder that can be written.", cause: error)
    }
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let copy = folder + "/Copy"
    try copyFiles(to: copy)
    do {
      let connection = try Connection(
        uri: StoreURI.of(copy, vfs: nil), flags: SQLITE_OPEN_READWRITE, busyTimeout: busyTimeout)
      try connection.execute("PRAGMA cell_size_check = ON", while: "Opening the store")
      // Recovers the log, or undoes the journal.
      _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master", while: "Opening the store")
      try WriteAheadLog.check(fits: found, path, on: connection, in: files)
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)", while: "Reading the log")
    }
    let connection = try Connection(
      uri: StoreURI.of(copy, vfs: nil, "immutable=1"), flags: SQLITE_OPEN_READONLY,
      busyTimeout: busyTimeout)
    try connection.execute("PRAGMA cell_size_check = ON", while: "Opening the store")
    _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master", while: "Opening the store")
    return connection
  }

  /// Copies the files in one state.
  private func copyFiles(to copy: String) throws(StoreError) {
    for _ in 1...Self.attempts {
      let before = state()
      for suffix in ["", "-wal", "-journal"] where try StoreFile.size(path + suffix) > 0 {
        try copyFile(path + suffix, to: copy + suffix, isDatabase: suffix.isEmpty)
      }
      if state() == before { return }
      for suffix in ["", "-wal", "-journal"] {
        try? FileManager.default.removeItem(atPath: copy + suffix)
      }
      files.pause()
    }
    throw StoreError(
      .busy, "\(path) changes while it is copied for reading. Another program uses it; try again later.")
  }

  private func copyFile(_ source: String, to copy: String, isDatabase: Bool) throws(StoreError) {
    let task = "Copying \(source) for reading"
    let old = try files.open(source, for: isDatabase ? .database : .reading, while: task)
    let size = try old.size(while: task)
    guard FileManager.default.createFile(atPath: copy, contents: nil),
      let new = FileHandle(forWritingAtPath: copy)
    else { throw StoreError(.io, "\(task) failed: \(copy) can't be made. Check the temporary folder.") }
    defer { try? new.close() }
    var offset = 0
    while offset < size {
      let part = try old.read(min(1 << 20, size - offset), at: offset, while: task)
      do { try new.write(contentsOf: part) } catch {
        throw StoreError(
          .full,
          "\(task) failed. A store with a log is read from a copy: make room in the temporary folder, or set "
            + "TMPDIR to another one.", cause: error)
      }
      offset += part.count
    }
  }

  private func state() -> [Int64] {
    ["", "-wal", "-journal"].flatMap { suffix in
      var status = cde_file_status()
      guard cde_file_status_at(path + suffix, &status) == 0 else { return [Int64(-1)] }
      return [status.size, status.seconds, status.nanoseconds]
    }
  }
}
