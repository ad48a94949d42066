@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

// Saves: the application's store first, then the mirror.
extension CustomStore {
  func commit(
    _ transaction: StoreTransaction, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult {
    try taking { try save(transaction, committed) }
  }

  func writing(_ body: (any StoreWriting) throws(StoreError) -> Void) throws(StoreError) {
    try taking { try body(CustomWriting(self)) }
  }

  /// Checks a transaction, lets the application's store save it, and commits it to the mirror. Runs in a turn.
  ///
  /// After the check the mirror accepts the transaction: nothing else writes to it during the turn.
  func save(_ transaction: StoreTransaction, _ committed: (CommitResult) -> Void) throws -> CommitResult {
    var transaction = transaction
    // Records of saves over several stores would be about rows of the mirror, which ends with the process.
    transaction.pending = []
    try loadForConstraints(transaction)
    // May load owners of changed relationships, which the check then looks at.
    let changes = try TransactionSnapshots(self, transaction)
    let checked = transaction
    try mirror.writing { (writer) throws(StoreError) in try writer.write(checked) }
    let saved = try source.save(changes.changes, state)
    let identifiers = try changes.permanent(saved.identifiers)
    return try finish(transaction, changes, identifiers, saved.changed, committed)
  }

  private func finish(
    _ transaction: StoreTransaction, _ changes: TransactionSnapshots,
    _ identifiers: [RowPlace: PersistentIdentifier], _ changed: [DefaultSnapshot],
    _ committed: (CommitResult) -> Void
  ) throws -> CommitResult {
    var replaced: [RowPlace] = []
    let result = try mirror.commit(transaction) { result in
      tables.withLock { tables in
        for (pending, id) in identifiers {
          let key = result.permanentKey(for: pending.key, root: pending.root)
          if let former = tables.places[id] { replaced.append(former) }
          tables.add(id, RowPlace(root: pending.root, key: key))
        }
        for (temporary, id) in changes.renamed(identifiers) { tables.permanent[temporary] = id }
        for place in changes.deleted { tables.remove(place) }
      }
      committed(result)
    }
    // The store took a new model for one that it had.
    try remove(replaced)
    try load(changed)
    return result
  }

  /// Loads the models of entities with unique values, among which the mirror finds the ones that a save replaces.
  private func loadForConstraints(_ transaction: StoreTransaction) throws {
    var seen: Set<RootIndex> = []
    for batch in transaction.inserted + transaction.updated.map(\.batch) {
      let entity = schema.entities[batch.layout.entity]
      guard seen.insert(entity.root).inserted else { continue }
      let tree = schema.entities[entity.root.entity]
      let isUnique = tree.subtree.contains { !schema.entities[$0].source.uniquenessConstraints.isEmpty }
      guard isUnique, let info = prepared.info(named: tree.layout.entityName) else { continue }
      try fetchAll(info.type)
    }
  }
}

/// A custom store's part of a save over several stores.
private final class CustomWriting: StoreWriting {
  private let store: CustomStore
  private var transaction: StoreTransaction?

  init(_ store: CustomStore) { self.store = store }

  func write(_ transaction: StoreTransaction) throws(StoreError) {
    self.transaction = transaction
    var plain = transaction
    plain.pending = []
    try store.mirror.writing { (writer) throws(StoreError) in try writer.write(plain) }
  }

  /// The application's store can't be asked again in another process.
  func archive() throws(StoreError) -> [UInt8] { [] }

  func repeatWriting(_ archive: [UInt8], mark: PendingSave) throws(StoreError) {
    throw StoreError(
      .unsupportedQuery,
      "The store \(store.name) can't complete a save of another process. Save its models again.")
  }

  func commit() throws(StoreError) -> CommitResult {
    guard let transaction else { throw StoreError(.engine, "There is no transaction to commit.") }
    return try store.saving(transaction)
  }

  func pendingSaves() throws(StoreError) -> [PendingSave] { [] }

  func forget(_ save: PendingSave) throws(StoreError) {}
}

extension CustomStore {
  /// Saves within the turn of a save over several stores.
  fileprivate func saving(_ transaction: StoreTransaction) throws(StoreError) -> CommitResult {
    do { return try save(transaction) { _ in } } catch { throw Self.wrapped(error, name) }
  }
}
