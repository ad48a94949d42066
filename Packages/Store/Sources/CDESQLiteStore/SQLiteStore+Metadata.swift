import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// Reads the current metadata. Another process may have changed them.
  ///
  /// - Throws: `.unreadable` for a damaged table, `.busy`, `.closed` and so on.
  public func metadata() throws(StoreError) -> StoreMetadata {
    try pool.read(.upkeep) { (connection) throws(StoreError) in try MetadataTable.read(connection).metadata }
  }

  /// Replaces the metadata, except for the keys that describe the file itself.
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

  /// Writes all committed data to a new file, a database without a log. External values are not copied.
  ///
  /// - Throws: ``StoreError``, also for a file with content, which does not change.
  @_spi(CDE) public func copy(to path: String) throws(StoreError) {
    // Without the name of a file system the copy of a store in memory would also be in memory.
    let vfs = sqlite3_vfs_find(nil).map { String(cString: $0.pointee.zName) } ?? ""
    let uri = "file:\(StoreOpener.escaped(path))?vfs=\(StoreOpener.escaped(vfs))"
    try pool.write(.upkeep) { (connection) throws(StoreError) in
      try connection.run("VACUUM INTO ?", [.text(uri)], while: "Copying the store")
    }
  }

  /// Assigns keys in a separate transaction. Keys that are not used stay unused.
  ///
  /// - Parameter counts: the number of keys for each index of a root entity.
  /// - Returns: for each root the first of its keys. The others follow it.
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

  /// Reads the bytes of an external value, from its file if the cell names one.
  ///
  /// - Throws: `.io` if the file can't be read, `.unreadable` if the row names no file of this store.
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
    guard let externals, case .file(let path) = configuration.location else { return 0 }
    return try pool.write(.upkeep) { (connection) throws(StoreError) in
      try ExternalSweep(externals: externals, storePath: path).run(on: connection)
    }
  }
}
