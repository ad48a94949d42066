#if PostgreSQL
  public import CDEStore

  extension PostgreSQLStore {
    /// The rows with these keys in the tree of an entity, in the order of their keys. Keys without a row are omitted.
    ///
    /// Costs one round trip for each 5,000 keys.
    ///
    /// - Throws: `.unsupportedQuery` for an index of no entity, `.unreadable` for a damaged row, `.busy`, `.io`, `.closed` and so
    ///   on.
    public func rows(entity: EntityIndex, keys: [Int64]) throws(StoreError) -> FetchedRows {
      try pool.withConnection { (connection) throws(StoreError) in
        // The number is read before the rows, so that they contain this commit certainly.
        let asOf = commits.lastCommit
        return try plans.rows(entity: entity, keys: keys, on: connection, asOf: asOf)
      }
    }

    /// The row with this key in the tree of an entity, or `nil`. Costs one round trip.
    ///
    /// - Throws: the errors of ``rows(entity:keys:)``.
    public func row(entity: EntityIndex, key: Int64) throws(StoreError) -> RowReference? {
      let rows = try rows(entity: entity, keys: [key])
      return rows.batches.first.map { RowReference(batch: $0, row: 0) }
    }

    /// The bytes of an external value. This engine keeps all values in their rows, where the server compresses large ones and
    /// moves them into a table of their own.
    ///
    /// - Throws: `.unreadable` for a cell that names a file, which another engine wrote.
    public func externalValue(_ cell: ExternalValue) throws(StoreError) -> [UInt8] {
      switch cell {
      case .inline(let bytes): return bytes
      case .file:
        throw StoreError(
          .unreadable,
          "The value is in a file of another store, and PostgreSQL has no files. Copy it with its value and not with its name."
        )
      }
    }
  }
#endif
