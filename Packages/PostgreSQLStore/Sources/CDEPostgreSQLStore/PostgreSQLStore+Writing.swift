#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) public import CDEStore

  extension PostgreSQLStore {
    /// Lets a body write and commit as a part of a save over several stores. What the body does not commit is rolled back.
    ///
    /// Takes a connection of the pool until the body ends. Such saves of one store follow each other, on all machines, and wait for the
    /// lock timeout at most. Saves to this store alone go on meanwhile. Their commits are announced after the body, if they come after
    /// its commit and a context gets them.
    ///
    /// - Throws: `.readOnly`, `.busy`, `.closed`, the errors of connecting, and those of the body.
    public func writing(
      _ body: (any StoreWriting) throws(StoreError) -> Void
    ) throws(StoreError) {
      try requireWritable()
      try observing(.save) { (collector) throws(StoreError) in
        var isBegun = false
        try pool.withConnection(collecting: collector, isRepeatable: { !isBegun }) {
          (connection) throws(StoreError) in
          let writing = OpenWriting(self, connection)
          try writing.begin()
          isBegun = true
          defer { writing.end() }
          try body(writing)
        }
      }
    }

    /// What the store has of saves over several stores. Costs one round trip.
    ///
    /// - Throws: `.busy`, `.io`, `.closed` and so on.
    public func pendingSaves() throws(StoreError) -> [PendingSave] {
      try request(.upkeep) { (connection) throws(StoreError) in try PendingSaveTable.read(connection) }
    }
  }

  /// A part of a save over several stores.
  ///
  /// | state | has | event | leads to |
  /// |---|---|---|---|
  /// | made | nothing | `begin` gets the lock of such saves | locked |
  /// | locked | the lock | `write` | written |
  /// | locked | the lock | `forget` removes a record of another process | over |
  /// | written | the lock, and rows | `commit` succeeds | committed |
  /// | committed | its place in the order of commits | the whole save is handed on | over |
  /// | any | | `end`, or a commit that fails | over: rows, lock and place are given back |
  ///
  /// The lock ends with the commit, or with the removal of a record: other stores may be waited for afterwards, whose locks another
  /// save has that waits for this one.
  private final class OpenWriting: StoreWriting {
    private let store: PostgreSQLStore
    private let connection: Connection
    private var open: OpenTransaction?
    private var isLocked = false
    /// The place of the commit, which later ones that a context gets wait for until the whole save is announced.
    private var place: UInt64?

    init(_ store: PostgreSQLStore, _ connection: Connection) {
      self.store = store
      self.connection = connection
    }

    /// Waits until other saves over several stores have committed or ended.
    func begin() throws(StoreError) {
      try connection.withoutCollecting { () throws(StoreError) in
        try connection.execute(
          SeveralStoresLock.taking(store.configuration.schema), while: "Waiting for saves over several stores"
        )
      }
      isLocked = true
    }

    /// Rolls back what was not committed.
    func end() {
      connection.rollBack()
      unlock()
      didHandOn()
    }

    func didHandOn() {
      if let place { store.commits.leave(place) }
      place = nil
    }

    private func unlock() {
      guard isLocked else { return }
      isLocked = false
      connection.withoutCollecting {
        do throws(StoreError) {
          try connection.execute(
            SeveralStoresLock.releasing(store.configuration.schema),
            while: "Ending a save over several stores")
        } catch {
          // Otherwise the pool would keep the lock.
          connection.giveUp()
        }
      }
    }

    func write(_ transaction: StoreTransaction) throws(StoreError) {
      for batch in transaction.writtenBatches { store.schema.requireOwn(batch.layout) }
      open = try store.commits.open(transaction, on: connection)
    }

    func archive() throws(StoreError) -> [UInt8] {
      guard let writer = open?.writer else { throw Self.nothingWritten }
      return TransactionArchive.encode(
        writer.transaction.withKeys(of: writer.arrays.keyBase, schema: store.schema), schema: store.schema)
    }

    func repeatWriting(_ archive: [UInt8], mark: PendingSave) throws(StoreError) {
      var transaction = try TransactionArchive.decode(archive, schema: store.schema)
      transaction.pending = [mark]
      let named =
        transaction.deleted.map(\.entity) + transaction.links.map(\.entity)
        + transaction.touched.map(\.entity)
      for entity in named { try store.plans.checkEntity(entity) }
      try write(transaction)
      try store.commits.raiseKeys(to: transaction, on: connection)
    }

    func commit() throws(StoreError) -> CommitResult {
      guard let open else { throw Self.nothingWritten }
      let place = store.commits.enter()
      self.place = place
      do throws(StoreError) {
        let result = try store.commits.commit(open, at: place)
        unlock()
        return result
      } catch {
        end()
        throw error
      }
    }

    func pendingSaves() throws(StoreError) -> [PendingSave] { try PendingSaveTable.read(connection) }

    func forget(_ save: PendingSave) throws(StoreError) {
      try PendingSaveTable.remove(save, on: connection)
      unlock()
    }

    private static var nothingWritten: StoreError {
      StoreError(.engine, "There is no transaction to commit.")
    }
  }
#endif
