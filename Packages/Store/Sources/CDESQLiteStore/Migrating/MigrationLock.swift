import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// The lock that excludes all other connections from a store, for migrations.
enum MigrationLock {
  /// How long one attempt waits for the lock. Between attempts the store may turn out to be migrated already.
  private static let patience: Int32 = 100

  /// The path of a store to migrate, which is there, without symbolic links.
  static func path(_ configuration: SQLiteStore.Configuration) throws(StoreError) -> String {
    guard case .file(let given) = configuration.location else {
      throw StoreError(
        .cannotOpen, "A store in memory is made anew each time, so there is nothing to migrate.")
    }
    let files = try FileSystem(named: configuration.vfs)
    let path = try files.resolved(given)
    guard try StoreFile(at: path, in: files).state == .filled else {
      throw StoreError(
        .cannotOpen, "There is no store at \(path). Check the path.", cause: CocoaError(.fileReadNoSuchFile))
    }
    return path
  }

  /// Waits up to the busy timeout until no other connection uses the store.
  ///
  /// - Parameters:
  ///   - pace: asked between attempts whether to go on.
  ///   - begin: takes the lock on a new connection, which then belongs to the caller.
  ///   - isDone: whether another process has done the work. Called between attempts.
  /// - Returns: nil if another process has done the work meanwhile.
  /// - Throws: `.busy` if the store stays in use, `.cancelled`, and the errors of opening.
  static func take(
    _ path: String, _ configuration: SQLiteStore.Configuration, _ pace: MigrationPace,
    unless isDone: (FileContents) -> Bool, _ begin: (Connection) throws(StoreError) -> Void
  ) throws(StoreError) -> Connection? {
    let begun = ContinuousClock.now
    while true {
      try pace.check()
      let connection = try Connection(
        uri: StoreURI.of(path, vfs: configuration.vfs), flags: SQLITE_OPEN_READWRITE,
        busyTimeout: min(patience, configuration.busyMilliseconds))
      do throws(StoreError) {
        try begin(connection)
        return connection
      } catch {
        connection.rollBack()
        guard error.code == .busy else { throw error }
        if let file = try? FileContents(reading: try StoreInspection.connect(path, configuration)),
          isDone(file)
        {
          return nil
        }
        let waited = ContinuousClock.now - begun
        pace.waited(waited)
        if waited < configuration.busyTimeout { continue }
        throw StoreError(
          .busy,
          "The store \(path) has to be migrated to the new model, and it is in use: by another process, or by another "
            + "container of this one. Close it there, then open it again.", cause: error)
      }
    }
  }
}
