import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// Reads the metadata as they stand now, which another process may have changed.
  ///
  /// - Throws: `.unreadable` for a damaged table, `.busy`, `.closed` and so on.
  public func metadata() throws(StoreError) -> StoreMetadata {
    try pool.read(.upkeep) { (connection) throws(StoreError) in try MetadataTable.read(connection).metadata }
  }

  /// Replaces the metadata, but for the keys that describe the file itself, which stay.
  ///
  /// - Throws: `.readOnly`, `.busy`, `.full`, `.closed` and so on.
  public func setMetadata(_ metadata: StoreMetadata) throws(StoreError) {
    try requireWritable()
    try pool.write(.upkeep) { (connection) throws(StoreError) in
      try connection.inWriteTransaction { () throws(StoreError) in
        let stored = try MetadataTable.read(connection).metadata.values
        var values = metadata.values.filter { !MetadataTable.ownKeys.contains($0.key) }
        for key in MetadataTable.ownKeys { values[key] = stored[key] }
        try MetadataTable.update(StoreMetadata(values: values), on: connection)
      }
    }
  }

  /// Writes all that is committed to a new file, a database without a log. External values are not copied.
  ///
  /// - Throws: ``StoreError``, also for a file that has content already, which stays as it is.
  @_spi(CDE) public func copy(to path: String) throws(StoreError) {
    // The copy would go into memory like a store there, were no file system named.
    let vfs = sqlite3_vfs_find(nil).map { String(cString: $0.pointee.zName) } ?? ""
    let uri = "file:\(StoreOpener.escaped(path))?vfs=\(StoreOpener.escaped(vfs))"
    try pool.write(.upkeep) { (connection) throws(StoreError) in
      try connection.run("VACUUM INTO ?", [.text(uri)], while: "Copying the store")
    }
  }

  /// Hands out keys in a transaction of its own. Keys that are not used then stay unused.
  ///
  /// - Parameter counts: for root entity indexes, how many keys.
  /// - Returns: for each root the first of its keys; the others follow it.
  /// - Throws: `.readOnly`, `.busy`, `.full` and so on.
  public func allocateKeys(_ counts: [Int: Int]) throws(StoreError) -> [Int: Int64] {
    try requireWritable()
    for root in counts.keys { try plans.checkEntity(root) }
    return try pool.write(.upkeep) { (connection) throws(StoreError) in
      var result: [Int: Int64] = [:]
      try connection.inWriteTransaction { () throws(StoreError) in
        for (root, count) in counts where count > 0 {
          result[root] = try plans.takeKeys(count, root: root, on: connection) + 1
        }
      }
      return result
    }
  }

  /// Reads the bytes of an external value, from its file where the cell names one.
  ///
  /// - Throws: `.io` where the file cannot be read, `.unreadable` where a row names no file of this store's.
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

  /// Removes the files of external values that no row names any more, left by processes that died.
  ///
  /// Opening a store does so by itself when a log or a journal was left. Takes the write lock when there is such a
  /// file, and reads one time through the tables that may name one.
  ///
  /// - Returns: how many files were removed; 0 also where another store shares the folder, which is so when
  ///   their names differ in the extension alone.
  /// - Throws: `StoreError`: `.readOnly`, `.busy` and what reading and committing throw.
  @discardableResult
  public func removeUnneededExternalValues() throws(StoreError) -> Int {
    try requireWritable()
    guard let externals, case .file(let path) = configuration.location else { return 0 }
    return try pool.write(.upkeep) { (connection) throws(StoreError) in
      try ExternalSweep(externals: externals, storePath: path).run(on: connection)
    }
  }
}
