internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
@_spi(CDE) internal import CDEStore
internal import Foundation

/// A copy of a store on which the steps of a migration work, one after the other.
///
/// It is in a folder beside the store: `.Notes.sqlite.migration`. The folder is removed at the end of the migration, and what
/// a killed one left is removed by the next migration or opening. The copy of a store on a server is in the temporary folder, and the next
/// migration removes what is left.
final class WorkingStore {
  /// The file of the copy after the steps so far.
  private(set) var url: URL
  private let folder: URL
  private let description: NSPersistentStoreDescription
  private var files = 1

  /// Makes the folder, which is empty, beside the store's file.
  ///
  /// - Parameter description: the description of the store, whose lock the caller has.
  convenience init(_ description: NSPersistentStoreDescription, at path: String) throws {
    Self.removeLeftovers(at: path)
    try self.init(description, in: Self.folder(path))
  }

  /// Makes the folder for a store that is no file, in the temporary folder. Only this user may read it.
  ///
  /// What a killed migration of the same store left is removed.
  ///
  /// - Parameters:
  ///   - description: the description of the store, whose lock the caller has.
  ///   - identifier: the store's UUID.
  convenience init(ofServer description: NSPersistentStoreDescription, _ identifier: String) throws {
    // A copy of a store under another name has the same UUID, and a lock of its own.
    let options = description.options.compactMap { key, value in (value as? String).map { "\(key)=\($0)" } }
    let place = SHA256.hash(Array("\(description.place) \(options.sorted())".utf8)).prefix(8)
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent(
        "\(identifier)-\(place.map { String($0, radix: 16) }.joined(separator: "")).migration")
    if FileManager.default.fileExists(atPath: folder.path) { try? FileManager.default.removeItem(at: folder) }
    let copy = description.copy() as! NSPersistentStoreDescription
    copy.type = NSSQLiteStoreType
    // Rows of all entities are copied, and those of a server may have all.
    copy.configuration = nil
    // Its options are those of another engine.
    for key in copy.options.keys { copy.setOption(nil, forKey: key) }
    try self.init(copy, in: folder)
  }

  private init(_ description: NSPersistentStoreDescription, in folder: URL) throws {
    self.description = description
    self.folder = folder
    url = folder.appendingPathComponent("1.sqlite")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw ManagedObjectError(
        .migrationDestinationStore,
        "The folder \(folder.path) for the new store can't be made. Check that the folder that it belongs to may be written.",
        cause: error)
    }
  }

  private static func folder(_ path: String) -> URL {
    let store = URL(fileURLWithPath: path)
    return store.deletingLastPathComponent().appendingPathComponent(".\(store.lastPathComponent).migration")
  }

  /// Removes what a killed migration left. Only for a caller that has the lock of the store or has opened it: no
  /// other process migrates it then.
  static func removeLeftovers(at path: String) {
    let folder = folder(path)
    if FileManager.default.fileExists(atPath: folder.path) { try? FileManager.default.removeItem(at: folder) }
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  /// A description that opens the copy, and does not migrate it.
  func opening() -> NSPersistentStoreDescription {
    let copy = description.copy() as! NSPersistentStoreDescription
    copy.url = url
    copy.observer = nil
    copy.shouldAddStoreAsynchronously = false
    copy.shouldMigrateStoreAutomatically = false
    copy.isReadOnly = false
    // The copy is one file between the steps.
    var pragmas = copy.options[NSSQLitePragmasOption] as? [String: Any] ?? [:]
    pragmas["journal_mode"] = "DELETE"
    copy.setOption(pragmas, forKey: NSSQLitePragmasOption)
    return copy
  }

  func versionHashes() throws -> [String: Data] {
    guard let version = try StoreEngines.files.migratableFile(opening()).version() else { throw gone }
    return version.versionHashes.mapValues { Data($0) }
  }

  private var gone: ManagedObjectError {
    ManagedObjectError(
      .migration, "The copy of the store at \(url.path) is gone. Leave it alone, and open the store again.")
  }

  // MARK: Steps

  /// The migration of the copy to a version.
  func request(to binding: ModelBinding) throws -> MigrationRequest {
    let opening = opening()
    let name = Self.configuration(opening.configuration, in: binding.model)
    let store = try StoreEngines.files.migratableFile(opening)
    let request = try MigrationRequest(opening, store, to: binding, entities: binding.entities(in: name))
    guard let request else { throw gone }
    return request
  }

  /// Migrates the copy to a version of the model as the difference can be inferred. Does nothing if it has that version.
  func infer(to model: NSManagedObjectModel, _ pace: MigrationPace) throws {
    try PendingMigration(request(to: ModelBinding.of(model)))?.run(pace)
    pace.reach(1)
  }

  /// Replaces the copy by a new store that a mapping model makes of it. It has the metadata of the application.
  func map(
    _ mapping: NSMappingModel, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
    _ pace: MigrationPace
  ) throws {
    let old = opening()
    old.configuration = Self.configuration(old.configuration, in: source)
    let next = nextFile()
    let new = opening()
    new.url = next
    // The objects that a migration makes are no changes of the application.
    new.setOption(nil, forKey: NSPersistentHistoryTrackingKey)
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    manager.pace = pace
    try manager.migrate(old, to: new, mapping)
    let (_, metadata) = try StoreEngines.files.metadata(ofFileAt: url.path)
    try StoreEngines.files.setMetadata(metadata, ofFileAt: next.path)
    url = next
  }

  /// A place for another file in the folder.
  func nextFile() -> URL {
    files += 1
    return folder.appendingPathComponent("\(files).sqlite")
  }

  /// The configuration of a store in another version of its model; nil, the whole model, if that has no such configuration.
  static func configuration(_ name: String?, in model: NSManagedObjectModel) -> String? {
    name.flatMap { model.configurations.contains($0) ? $0 : nil }
  }
}
