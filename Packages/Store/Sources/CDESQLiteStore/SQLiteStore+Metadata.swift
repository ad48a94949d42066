@_spi(CDE) import CDESQL
import CDESQLite
import Foundation
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// Reads the current metadata. Another process may have changed them.
  ///
  /// - Throws: `.unreadable` for a damaged table, `.busy`, `.closed` and so on.
  public func metadata() throws(StoreError) -> StoreMetadata {
    try pool.read(.upkeep) { (connection) throws(StoreError) in
      try MetadataTable.read(connection, allowsLoss: true).metadata
    }
  }

  /// Reads the metadata of a file that is not opened as a store. Needs no schema, and changes nothing.
  ///
  /// - Returns: the store's identifier and its metadata.
  /// - Throws: `.cannotOpen` for a missing file, `.unreadable` for a file that is no store, `.busy` and so on.
  @_spi(CDE) public static func metadata(
    ofFileAt path: String
  ) throws(StoreError) -> (identifier: String, metadata: StoreMetadata) {
    let path = try FileSystem(named: nil).resolved(path)
    let configuration = Configuration(location: .file(path: path), busyTimeout: .seconds(5))
    return try MetadataTable.read(StoreInspection.connect(path, configuration), allowsLoss: true)
  }

  /// Replaces the metadata, except for the keys that describe the file itself.
  ///
  /// - Throws: `.readOnly`, `.busy`, `.full`, `.closed` and so on.
  public func setMetadata(_ metadata: StoreMetadata) throws(StoreError) {
    try requireWritable()
    try pool.write(.upkeep) { (connection) throws(StoreError) in
      try connection.inWriteTransaction { () throws(StoreError) in
        try MetadataTable.replace(metadata, on: connection)
      }
    }
  }

  /// Replaces the metadata of a file that is not opened as a store, except for the keys that describe the file itself.
  ///
  /// - Throws: `.cannotOpen` for a missing file, `.unreadable` for a file that is no store, `.busy` and so on.
  @_spi(CDE) public static func setMetadata(
    _ metadata: StoreMetadata, ofFileAt path: String
  ) throws(StoreError) {
    let path = try FileSystem(named: nil).resolved(path)
    let connection = try Connection(
      uri: "file:\(StoreURI.escaped(path))?mode=rw", flags: SQLITE_OPEN_READWRITE, busyTimeout: 5_000)
    try connection.inWriteTransaction { () throws(StoreError) in
      try MetadataTable.replace(metadata, on: connection)
    }
  }

  /// Writes the committed data of a file, which may be in use, to a new file, a database without a log. External values
  /// are copied as well.
  ///
  /// If the copy fails, files that were written are removed.
  ///
  /// - Throws: ``StoreError``, also for a destination that exists.
  @_spi(CDE) public static func copyFile(at path: String, to destination: String) throws(StoreError) {
    let files = try FileSystem(named: nil)
    let (path, destination) = (try files.resolved(path), try files.resolved(destination))
    let (old, new) = (
      ExternalStorage.folder(ofStoreAt: path), ExternalStorage.folder(ofStoreAt: destination)
    )
    let places = [destination, (new as NSString).deletingLastPathComponent]
    if let taken = places.first(where: { FileManager.default.fileExists(atPath: $0) }) {
      throw StoreError(.cannotOpen, "\(taken) exists. Copy to another place, or delete it first.")
    }
    let parent = (destination as NSString).deletingLastPathComponent
    guard FileManager.default.fileExists(atPath: parent) else {
      throw StoreError(.cannotOpen, "There is no folder \(parent). Create it first.")
    }
    do throws(StoreError) {
      let connection = try Connection(
        uri: "file:\(StoreURI.escaped(path))?mode=ro", flags: SQLITE_OPEN_READONLY, busyTimeout: 5_000)
      // A value's file is never changed, and may be deleted once no row names it. What the copied rows name is
      // there before the copy, or was added meanwhile.
      try copyFiles(in: old, to: new)
      try connection.run(
        "VACUUM INTO ?", [.text("file:\(StoreURI.escaped(destination))")], while: "Copying the store")
      try copyFiles(in: old, to: new)
    } catch {
      for place in places { try? FileManager.default.removeItem(atPath: place) }
      throw error
    }
  }

  static func copyFiles(in folder: String, to destination: String) throws(StoreError) {
    let manager = FileManager.default
    guard let names = try? manager.contentsOfDirectory(atPath: folder) else { return }
    do {
      try manager.createDirectory(atPath: destination, withIntermediateDirectories: true)
      for name in names {
        let (source, copy) = (folder + "/" + name, destination + "/" + name)
        if manager.fileExists(atPath: copy) { continue }
        do { try manager.copyItem(atPath: source, toPath: copy) } catch {
          // Deleted since the folder was read: no copied row names it.
          if manager.fileExists(atPath: source) { throw error }
        }
      }
    } catch {
      throw StoreError(.io, "Copying external values to \(destination) failed: \(error)", cause: error)
    }
  }

  /// Writes all committed data to a new file, a database without a log. External values are not copied.
  ///
  /// - Throws: ``StoreError``, also for a file with content, which does not change.
  @_spi(CDE) public func copy(to path: String) throws(StoreError) {
    let path = try FileSystem(named: nil).resolved(path)
    // Without the name of a file system the copy of a store in memory would also be in memory.
    let vfs = sqlite3_vfs_find(nil).map { String(cString: $0.pointee.zName) } ?? ""
    let uri = "file:\(StoreURI.escaped(path))?vfs=\(StoreURI.escaped(vfs))"
    try pool.write(.upkeep) { (connection) throws(StoreError) in
      try connection.run("VACUUM INTO ?", [.text(uri)], while: "Copying the store")
    }
  }

  /// Assigns keys in a separate transaction. Keys that are not used stay unused.
  ///
  /// - Parameter counts: the number of keys for each index of a root entity.
  /// - Returns: for each root the first of its keys. The others follow it.
  /// - Throws: `.readOnly`, `.busy`, `.full` and so on.
  public func allocateKeys(_ counts: [RootIndex: Int]) throws(StoreError) -> [RootIndex: Int64] {
    try requireWritable()
    for root in counts.keys { try plans.checkEntity(root.entity) }
    return try pool.write(.upkeep) { (connection) throws(StoreError) in
      var result: [RootIndex: Int64] = [:]
      try connection.inWriteTransaction { () throws(StoreError) in
        for (root, count) in counts where count > 0 {
          result[root] = try plans.takeKeys(count, root: root, on: connection) + 1
        }
      }
      return result
    }
  }

  /// Reads the bytes of an external value, from its file if the cell names one.
  ///
  /// - Throws: `.externalValueMissing` if the file is gone, `.io` if it can't be read, `.unreadable` if the row names no file of this store.
  public func externalValue(_ cell: ExternalValue) throws(StoreError) -> [UInt8] {
    switch cell {
    case .inline(let bytes): return bytes
    case .file(let name):
      guard let externals else {
        throw StoreError(.unreadable, "A store in memory has no external values, but a row names one.")
      }
      return try externals.read(name)
    }
  }

  /// Removes the files of external values that no row names any more. Processes that died have left them.
  ///
  /// Opening a store does this automatically if a log or a journal was left. Takes the write lock if there is
  /// such a file, and reads the tables that may name it once.
  ///
  /// - Returns: the number of removed files; 0 also if another store shares the folder, because their names
  ///   differ only in the extension.
  /// - Throws: `StoreError`: `.readOnly`, `.busy` and the errors of reading and committing.
  @discardableResult
  public func removeUnneededExternalValues() throws(StoreError) -> Int {
    try requireWritable()
    guard let externals, let path, let retired else { return 0 }
    return try pool.write(.upkeep) { (connection) throws(StoreError) in
      try ExternalSweep(externals: externals, storePath: path, kept: Set(retired.kept)).run(on: connection)
    }
  }
}
