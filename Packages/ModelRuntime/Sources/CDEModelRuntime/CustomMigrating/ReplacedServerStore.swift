internal import CDEManagedModel
internal import CDEStore
internal import Foundation

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
    try StoreEngines.files.makeFile(at: path, from: old, modelArchive: modelArchive)
  }

  func replace(with path: String) throws(StoreError) {
    let store = try StoreEngines.files.read(fileAt: path, schema: destination.schema)
    defer { try? store.close() }
    try locked.replace(
      with: try StoreCopy(of: store, pace: pace.piece(0.9...1)), modelCache: destination.modelCache)
  }
}
