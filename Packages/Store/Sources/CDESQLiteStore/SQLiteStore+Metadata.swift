import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  public func metadata() throws(StoreError) -> StoreMetadata {
    try pool.read(.upkeep) { (connection) throws(StoreError) in try MetadataTable.read(connection).metadata }
  }

  public func setMetadata(_ metadata: StoreMetadata) throws(StoreError) {
    try requireWritable()
    try pool.write(.upkeep) { (connection) throws(StoreError) in
      try Self.inWriteTransaction(connection) { () throws(StoreError) in
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

  public func allocateKeys(_ counts: [Int: Int]) throws(StoreError) -> [Int: Int64] {
    try requireWritable()
    for root in counts.keys { try checkEntity(root) }
    return try pool.write(.upkeep) { (connection) throws(StoreError) in
      var result: [Int: Int64] = [:]
      try Self.inWriteTransaction(connection) { () throws(StoreError) in
        for (root, count) in counts where count > 0 {
          result[root] = try self.takeKeys(count, root: root, on: connection) + 1
        }
      }
      return result
    }
  }

  /// Moves a tree's key counter.
  ///
  /// - Returns: the last key given out before.
  func takeKeys(_ count: Int, root: Int, on connection: Connection) throws(StoreError) -> Int64 {
    let number = physical.numbers[root]
    let task = "Handing out keys"
    // The counter is the truth, unless some other writer inserted rows and left it behind.
    let base =
      try connection.integer(
        "SELECT max(ifnull((SELECT CAST(Z_MAX AS INTEGER) FROM Z_PRIMARYKEY WHERE Z_ENT = ?), 0), "
          + "ifnull((SELECT max(Z_PK) FROM \(quoted(physical.tableName(of: root)))), 0))",
        [.integer(number)], while: task) ?? 0
    let (last, overflows) = max(base, 0).addingReportingOverflow(Int64(count))
    guard !overflows else {
      throw StoreError(
        .full, "\(schema.entities[root].source.name) has used all primary keys.",
        entity: schema.entities[root].source.name)
    }
    try connection.run(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(last), .integer(number)], while: task)
    guard sqlite3_changes(connection.handle) == 1 else {
      throw StoreError(
        .unreadable,
        "The store lost its key counter for \(schema.entities[root].source.name); it is damaged.",
        entity: schema.entities[root].source.name)
    }
    return max(base, 0)
  }

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

  static func inWriteTransaction(
    _ connection: Connection, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    try connection.run("BEGIN IMMEDIATE", while: "Starting a transaction")
    do throws(StoreError) {
      if let page = connection.firstPage, page.isDue { page.include(in: connection) }
      try body()
      // As late as can be: what is committed to a file that is gone must not count as saved.
      try connection.file?.check()
      // A copy that this commit leads to makes it due again.
      connection.firstPage?.willCommit()
      try connection.run("COMMIT", while: "Committing")
    } catch {
      connection.rollBack()
      connection.firstPage?.didFail()
      // With a rollback journal SQLite sees it, too, but does not say which file it was.
      if error.code == .fileMoved { try connection.file?.check() }
      throw error
    }
  }
}
