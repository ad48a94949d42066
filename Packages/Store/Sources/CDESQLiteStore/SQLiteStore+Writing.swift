@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// Holds the write lock of the store and of its file while a body runs. What the body does not commit is rolled back.
  ///
  /// Waits for other commits of this store without limit, and for other processes up to the busy timeout.
  @_spi(CDE) public func writing(
    _ body: (any StoreWriting) throws(StoreError) -> Void
  ) throws(StoreError) {
    try requireWritable()
    try pool.write(.save) { (connection) throws(StoreError) in
      let writing = OpenWriting(self, connection)
      defer { writing.end() }
      try writing.begin()
      try body(writing)
    }
  }

  /// What the store has of saves over several stores.
  @_spi(CDE) public func pendingSaves() throws(StoreError) -> [PendingSave] {
    try pool.read(.upkeep) { (connection) throws(StoreError) in try PendingSaveTable.read(connection) }
  }
}

/// A transaction that stays open while other stores write theirs.
private final class OpenWriting: StoreWriting {
  private let store: SQLiteStore
  private let connection: Connection
  private var transaction = StoreTransaction()
  private var writer: TransactionWriter?
  private var isCommitted = false
  /// The durability to return to.
  private var synchronous: Int64 = 0

  init(_ store: SQLiteStore, _ connection: Connection) {
    self.store = store
    self.connection = connection
  }

  /// Takes the lock of the file. The commit will be on the disk, because other stores depend on it.
  func begin() throws(StoreError) {
    let task = "Starting a transaction"
    synchronous = try connection.integer("PRAGMA synchronous", while: task) ?? 0
    // A store without any syncing stays without.
    if synchronous == 1 { try connection.execute("PRAGMA synchronous = 2", while: task) }
    try connection.beginWriting(while: task)
    if let page = connection.firstPage, page.isDue { page.include(in: connection) }
  }

  /// Rolls back what was not committed.
  func end() {
    if connection.isInTransaction {
      connection.rollBack()
      connection.firstPage?.didFail()
    }
    if let writer, !isCommitted { store.externals?.remove(writer.writtenFiles) }
    if synchronous == 1 { try? connection.execute("PRAGMA synchronous = 1", while: "Ending a transaction") }
  }

  func write(_ transaction: StoreTransaction) throws(StoreError) {
    for batch in transaction.writtenBatches { try store.requireWritten(batch) }
    self.transaction = transaction
    let writer = TransactionWriter(
      store.plans, connection, transaction, externals: store.externals,
      checksReferences: store.configuration.checksReferences)
    self.writer = writer
    try writer.write()
  }

  func archive() throws(StoreError) -> [UInt8] {
    let base = writer?.keyBase ?? []
    return TransactionArchive.encode(
      transaction.withKeys(of: base, schema: store.schema), schema: store.schema)
  }

  func repeatWriting(_ archive: [UInt8], mark: PendingSave) throws(StoreError) {
    var transaction = try TransactionArchive.decode(archive, schema: store.schema)
    transaction.pending = [mark]
    let named =
      transaction.deleted.map(\.entity) + transaction.links.map(\.entity) + transaction.touched.map(\.entity)
    for entity in named { try store.plans.checkEntity(entity) }
    try write(transaction)
    // The keys were assigned by the transaction that did not commit.
    for batch in transaction.inserted {
      let last = (0..<batch.count).map(batch.key).max() ?? 0
      try connection.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = max(CAST(Z_MAX AS INTEGER), ?) WHERE Z_ENT = ?",
        [.integer(last), .integer(store.plans.physical.numbers[batch.layout.root.entity])],
        while: "Completing a save over several stores")
    }
  }

  func commit() throws(StoreError) -> CommitResult {
    guard let writer else { throw StoreError(.engine, "There is no transaction to commit.") }
    do throws(StoreError) {
      // As late as possible, because a commit to a deleted file must not count as saved.
      try connection.file?.check()
      connection.firstPage?.willCommit()
      try connection.commitWriting()
    } catch {
      connection.rollBack()
      connection.firstPage?.didFail()
      // The log may contain the whole transaction, which needs its files then.
      if writer.isComplete, ![.busy, .fileMoved].contains(error.code) { isCommitted = true }
      throw error
    }
    isCommitted = true
    defer { store.retired?.remove(writer.obsoleteFiles) }
    return store.finish(writer, transaction)
  }

  func pendingSaves() throws(StoreError) -> [PendingSave] { try PendingSaveTable.read(connection) }

  func forget(_ save: PendingSave) throws(StoreError) {
    let task = "Ending a save over several stores"
    let isOpen = connection.isInTransaction
    if !isOpen { try connection.run("BEGIN IMMEDIATE", while: task) }
    do throws(StoreError) {
      try PendingSaveTable.remove(save, on: connection)
      try connection.run("COMMIT", while: task)
    } catch {
      connection.rollBack()
      throw error
    }
  }
}
