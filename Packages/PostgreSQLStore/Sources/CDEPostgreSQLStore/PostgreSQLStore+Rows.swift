#if PostgreSQL
  @_spi(CDE) public import CDEStore

  extension PostgreSQLStore {
    /// The rows with these keys in the tree of an entity, in the order of their keys. Keys without a row are omitted.
    ///
    /// Costs one round trip, and with more than 5,000 keys one for each 5,000 and two more.
    ///
    /// - Throws: `.unsupportedQuery` for an index of no entity, `.unreadable` for a damaged row, `.busy`, `.io`, `.closed` and so
    ///   on.
    public func rows(entity: EntityIndex, keys: [Int64]) throws(StoreError) -> FetchedRows {
      try reading(inSteps: keys.count > SchemaPlans.blockSize) { (connection, asOf) throws(StoreError) in
        try plans.rows(entity: entity, keys: keys, on: connection, asOf: asOf)
      }
    }

    /// The row with this key in the tree of an entity, or `nil`. Costs one round trip.
    ///
    /// - Throws: the errors of ``rows(entity:keys:)``.
    public func row(entity: EntityIndex, key: Int64) throws(StoreError) -> RowReference? {
      let rows = try rows(entity: entity, keys: [key])
      return rows.batches.first.map { RowReference(batch: $0, row: 0) }
    }

    /// The elements of a to-many relationship for each owner.
    ///
    /// Costs one round trip, and with more than 5,000 owners one for each 5,000 and two more.
    ///
    /// - Parameters:
    ///     - entity: the index of the owners' entity.
    ///     - slot: the relationship's slot in `entity`.
    ///     - owners: the keys of the owners. If one occurs twice, both results have its elements.
    ///     - isKnown: called for each element found. If it returns true, the element is not decoded. It must not call the store.
    /// - Throws: the errors of ``rows(entity:keys:)``.
    public func related(
      entity: EntityIndex, slot: SlotIndex, owners: [Int64],
      isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
    ) throws(StoreError) -> RelatedRows {
      try plans.checkEntity(entity)
      return try reading(inSteps: owners.count > SchemaPlans.blockSize) {
        (connection, asOf) throws(StoreError) in
        let reader = try RelatedReader(plans, connection, entity: entity, slot: slot, asOf: asOf)
        return try reader.read(owners, isKnown: isKnown)
      }
    }

    /// Runs a read of one state of the store, as a request of its own.
    func reading<Result>(
      inSteps isInSteps: Bool, _ body: (Connection, UInt64) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
      try observing(.read) { (collector) throws(StoreError) in
        try reading(inSteps: isInSteps, collecting: collector, body)
      }
    }

    /// Runs a read of one state of the store, as a part of a request.
    ///
    /// - Parameters:
    ///   - isInSteps: whether the read takes several statements, which then need a transaction to see one state.
    ///   - own: a connection of the caller's; nil for one of the pool's.
    ///   - collector: collects the statements of the request; nil if no observer wants them.
    ///   - body: gets a connection and the number of a commit that the read certainly sees.
    func reading<Result>(
      inSteps isInSteps: Bool, on own: Connection? = nil, collecting collector: StatementCollector?,
      _ body: (Connection, UInt64) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
      try pool.withConnection(or: own, collecting: collector) { (connection) throws(StoreError) in
        let asOf = commits.lastCommit
        if !isInSteps || pool.isPinned { return try body(connection, asOf) }
        try connection.withoutCollecting { () throws(StoreError) in
          try connection.enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", while: "Starting a read")
        }
        defer { connection.rollBack() }
        return try body(connection, asOf)
      }
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
