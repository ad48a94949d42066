internal import CDEManagedModel
@_spi(CDE) internal import CDESQLiteStore
internal import CDEStore
internal import Foundation

/// A store that is locked until a file takes its place.
protocol ReplacedStore {
  /// Writes the store to a new file.
  func copy(to path: String) throws(StoreError)

  /// Replaces the content of the store, in one transaction, by that of a file.
  func replace(with path: String) throws(StoreError)
}

extension StoreReplacement: ReplacedStore {}

/// A store of another engine than SQLite's, whose rows travel to a file and back.
struct ReplacedServerStore: ReplacedStore {
  private let locked: any LockedStore
  private let old: StoreCopy
  /// The store's UUID.
  var identifier: String { old.identifier }
  private let destination: ModelBinding
  /// The archive of the old model, for the file.
  private let modelArchive: [UInt8]?
  private let pace: MigrationPace

  /// - Returns: nil if another process has migrated the store meanwhile.
  init?(_ request: MigrationRequest, _ pace: MigrationPace) throws {
    destination = request.destination
    modelArchive = request.modelArchive
    self.pace = pace
    let source = try ModelBinding.of(request.sourceModel().model)
    guard
      let locked = try request.store.locked(
        from: source.schema, to: request.destination.schema, pace: pace.piece(0...0.1))
    else { return nil }
    self.locked = locked
    old = try locked.contents()
  }

  func copy(to path: String) throws(StoreError) {
    try SQLiteStore.makeFile(
      at: path, from: old, modelCache: modelArchive.map(SQLiteStore.modelCache(of:)))
  }

  func replace(with path: String) throws(StoreError) {
    let store = try SQLiteStore(
      schema: destination.schema, entities: nil,
      configuration: SQLiteStore.Configuration(
        location: .file(path: path), journalMode: .delete, isReadOnly: true),
      observer: nil)
    defer { try? store.close() }
    try locked.replace(
      with: try StoreCopy(of: store, pace: pace.piece(0.9...1)), modelCache: destination.modelCache)
  }
}
