import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// Replaces the whole content of a store that is not open, in one transaction, by that of another file.
///
/// The replacement has the lock that excludes all other connections from its making to its end. Nothing changes the store
/// meanwhile, so a copy made at the beginning is still the store at the end. The transaction is in the store's own file:
/// whenever the process dies, the file is the old store or the new one, and processes that wait for the lock find the new one.
@_spi(CDE) public final class StoreReplacement {
  private let connection: Connection
  private let path: String
  private let vfs: String?
  private let files: FileSystem
  private let externals: ExternalStorage
  private let pace: MigrationPace

  private static let task = "Replacing the store"
  /// How long opening the other file may wait, which has no other user.
  private static let patience: Int32 = 100
  private static let pagesBetweenChecks: Int32 = 1_000

  /// Takes the lock. Waits up to the busy timeout until no other connection uses the store.
  ///
  /// - Parameters:
  ///   - configuration: the location, the file system and the busy timeout. The rest is not read.
  ///   - pace: the pace of the whole work of which the replacement is a part.
  ///   - isDone: whether version hashes are those of the new store. Called between attempts and once with the lock.
  /// - Returns: nil if another process has replaced the store meanwhile.
  /// - Throws: `.busy` if the store stays in use, `.readOnly` for a store with triggers of other programs, and so on.
  public convenience init?(
    _ configuration: SQLiteStore.Configuration, _ pace: MigrationPace = .unwatched(),
    unless isDone: ([String: [UInt8]]) -> Bool
  ) throws(StoreError) {
    let path = try MigrationLock.path(configuration)
    func isReplaced(_ file: FileContents) -> Bool { isDone(Self.hashes(file)) }
    let locked = try MigrationLock.take(path, configuration, pace, unless: isReplaced) {
      (connection) throws(StoreError) in
      // With this mode the connection keeps the lock when the transaction ends.
      try connection.execute(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT",
        while: Self.task)
    }
    guard let connection = locked else { return nil }
    let file = try FileContents(reading: connection)
    if isReplaced(file) { return nil }
    if let trigger = file.triggers.first(where: { !$0.isCoreDatas && $0.table.uppercased().hasPrefix("Z") }) {
      throw StoreError(
        .readOnly,
        "The store can't be migrated: the table \(trigger.table) has a trigger \(trigger.name) that is not Core Data's. Remove "
          + "it, or migrate the store with the program that made it.")
    }
    self.init(connection, path, configuration.vfs, try FileSystem(named: configuration.vfs), pace)
  }

  private init(
    _ connection: Connection, _ path: String, _ vfs: String?, _ files: FileSystem, _ pace: MigrationPace
  ) {
    self.pace = pace
    self.connection = connection
    self.path = path
    self.vfs = vfs
    self.files = files
    externals = ExternalStorage(storePath: path, files: files)
  }

  private static func hashes(_ file: FileContents) -> [String: [UInt8]] {
    file.versionHashes.compactMapValues { value in
      if case .data(let bytes) = value { bytes } else { nil }
    }
  }

  /// Writes the store to a new file, a database without a log, and gives it the external values.
  ///
  /// - Throws: `.full`, `.io`, `.cancelled` and so on.
  public func copy(to destination: String) throws(StoreError) {
    do throws(StoreError) { _ = try files.resolved(destination) } catch {
      // The path is longer than the store's, which SQLite may just have opened.
      throw StoreError(
        error.code, "The copy to work on can't be made at \(destination). \(error.message)",
        cause: error.cause,
        engineCode: error.engineCode)
    }
    try pace.work(0, on: connection) { () throws(StoreError) in
      try connection.run(
        "VACUUM INTO ?", [.text(StoreURI.of(destination, vfs: vfs))], while: "Copying the store")
    }
    try link(externals.names(), from: externals.folder, to: ExternalStorage.folder(ofStoreAt: destination))
  }

  /// Replaces the store's content by that of another file, which is closed, and keeps the lock.
  ///
  /// External values that only the other file has come first: until the transaction ends, no row of the store names them.
  /// Those that only the old content named are removed afterwards.
  ///
  /// - Throws: `.full`, `.io` and so on. Then the store is as before.
  public func replace(with other: String) throws(StoreError) {
    let folder = ExternalStorage.folder(ofStoreAt: other)
    let known = Set(externals.names())
    let added = ExternalStorage(storePath: other, files: files).names()
      .filter { !known.contains($0) }
    try link(added, from: folder, to: externals.folder)
    do throws(StoreError) {
      // With a log SQLite can't change the size of pages, and the log would take the space of another copy.
      try connection.execute("PRAGMA journal_mode = DELETE", while: Self.task)
      let source = try Connection(
        uri: StoreURI.of(other, vfs: vfs), flags: SQLITE_OPEN_READWRITE, busyTimeout: Self.patience)
      try source.execute("PRAGMA journal_mode = DELETE", while: Self.task)
      guard let backup = sqlite3_backup_init(connection.handle, "main", source.handle, "main") else {
        throw connection.error(sqlite3_extended_errcode(connection.handle), while: Self.task)
      }
      var step = SQLITE_OK
      while step == SQLITE_OK, pace.goesOn { step = sqlite3_backup_step(backup, Self.pagesBetweenChecks) }
      let end = sqlite3_backup_finish(backup)
      // After the last step the new content is there.
      if step == SQLITE_OK { try pace.check() }
      guard step == SQLITE_DONE, end == SQLITE_OK else {
        throw EngineError.make(
          end == SQLITE_OK ? step : end, on: connection.handle, while: Self.task)
      }
    } catch {
      externals.remove(added)
      throw error
    }
    // The new content is there. Files that stay although no row names them are removed by a later sweep.
    _ = try? ExternalSweep(externals: externals, storePath: path).run(on: connection)
  }

  /// Gives the files of external values a second name in another folder, or copies them where that is not possible. Such a file
  /// never changes.
  private func link(_ names: [String], from folder: String, to other: String) throws(StoreError) {
    if names.isEmpty { return }
    let manager = FileManager.default
    do {
      try manager.createDirectory(atPath: other, withIntermediateDirectories: true)
      for name in names {
        let (old, new) = ("\(folder)/\(name)", "\(other)/\(name)")
        if manager.fileExists(atPath: new) { continue }
        do { try manager.linkItem(atPath: old, toPath: new) } catch {
          try manager.copyItem(atPath: old, toPath: new)
        }
      }
    } catch {
      throw StoreError(
        .io, "External values can't be put into \(other). Check its permissions and the space on the disk.",
        cause: error)
    }
    let descriptor = open(other, O_RDONLY)
    if descriptor >= 0 {
      fsync(descriptor)
      close(descriptor)
    }
  }
}
