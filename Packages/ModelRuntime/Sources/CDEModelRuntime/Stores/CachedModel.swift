@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
internal import Foundation

/// The copy of its model in a store's file, and what the file says about the model's entities.
struct CachedModel {
  private let url: URL
  /// What else the store says; nil for a damaged file.
  private let version: (any StoredVersion)?
  private let hashes: [String: Data]
  /// The archive of the model.
  let archive: Data

  /// Reads the copy. The file and its folder stay as they are.
  ///
  /// - Parameter timeout: how long to wait while another program has the file locked, in seconds.
  /// - Throws: ``ManagedObjectError``: `.modelMissing` for a store without a copy, `.store` for a file that can't be read.
  init(inStoreAt url: URL, timeout: TimeInterval = 10) throws {
    guard url.isFileURL else {
      throw ManagedObjectError(
        .noStore, "\(url) is no file URL, so there is no store. Make it with URL(fileURLWithPath:).")
    }
    let file: any StoredVersion
    do throws(StoreError) {
      file = try StoreEngines.files.version(ofFileAt: url.path, timeout: timeout)
    } catch {
      throw ManagedObjectError(
        .store, "The store at \(url.path) can't be read: \(error.message)", cause: error)
    }
    try self.init(url, file)
  }

  /// Takes the copy from what was read of a store.
  ///
  /// - Throws: ``ManagedObjectError`` with `.modelMissing` for a store without a copy.
  init(_ url: URL, _ version: any StoredVersion) throws {
    self.url = url
    guard let archive = version.modelArchive else {
      throw ManagedObjectError(
        .modelMissing,
        "The store at \(url.place) has no copy of its model: \(version.archiveAbsence). Open it with the model of its program, for example "
          + "by NSManagedObjectModel(contentsOf:).")
    }
    self.archive = Data(archive)
    self.version = version
    hashes = version.versionHashes.mapValues { Data($0) }
  }

  /// Reads the copy in a damaged store.
  ///
  /// - Throws: ``ManagedObjectError``: `.modelMissing` if the copy is damaged as well, `.store` for a file that is missing.
  init(inDamagedStoreAt url: URL) throws {
    self.url = url
    version = nil
    let found: (archive: [UInt8]?, hashes: [String: [UInt8]])
    do throws(StoreError) { found = try StoreEngines.files.salvagedModel(ofFileAt: url.path) } catch {
      throw ManagedObjectError(
        .store, "The store at \(url.path) can't be read: \(error.message)", cause: error)
    }
    guard let archive = found.archive else {
      throw ManagedObjectError(
        .modelMissing,
        "The store at \(url.path) has no copy of its model, or a damaged one. Give the model of its program.")
    }
    self.archive = Data(archive)
    hashes = found.hashes.mapValues { Data($0) }
  }

  /// Whether the store has a history, so that commits must be recorded.
  var hasHistory: Bool { version?.hasHistory ?? false }

  func unusable(_ error: any Error) -> ManagedObjectError {
    ManagedObjectError(
      .modelMissing,
      "The copy of the model in Z_MODELCACHE.Z_CONTENT of the store at \(url.place) can't be used: "
        + "\((error as? any CDEError)?.message ?? "\(error)") Open the store with the model of its program.",
      cause: error)
  }

  /// Completes the model that was read from the archive by what else is in the file.
  ///
  /// - Throws: ``ManagedObjectError`` with `.modelMissing` if the tables are those of another version of the model.
  func complete(_ model: NSManagedObjectModel) throws {
    let known = model.entitiesByName
    let foreign = hashes.keys.filter { known[$0] == nil }.sorted()
    guard foreign.isEmpty else { throw otherVersion(foreign, "the copy lacks them") }
    let held = held(in: model)
    if held != Set(known.keys), Self.configuration(of: held, in: model) == nil {
      model.setEntities(
        model.entities.filter { held.contains($0.name ?? "") },
        forConfigurationName: NSManagedObjectModel.storedEntitiesConfigurationName)
    }
    try adoptHashes(model, held)
  }

  /// The configuration of a completed model whose entities the store has; nil if it has them all.
  func configuration(of model: NSManagedObjectModel) -> String? {
    let held = held(in: model)
    return held == Set(model.entitiesByName.keys) ? nil : Self.configuration(of: held, in: model)
  }

  private func otherVersion(_ entities: [String], _ reason: String) -> ManagedObjectError {
    ManagedObjectError(
      .modelMissing,
      "The copy of the model in the store at \(url.place) belongs to another version than its tables. These entities "
        + "differ: \(entities.joined(separator: ", ")); \(reason). Open the store with the model of its program.",
      entity: entities.first)
  }

  // MARK: Parts of a model

  /// The names of the entities that the store has, ancestors included.
  private func held(in model: NSManagedObjectModel) -> Set<String> {
    let known = model.entitiesByName
    return hashes.isEmpty ? Set(known.keys) : Self.withAncestors(hashes.keys.compactMap { known[$0] })
  }

  private static func withAncestors(_ entities: [NSEntityDescription]) -> Set<String> {
    var result: Set<String> = []
    for entity in entities {
      var current: NSEntityDescription? = entity
      while let one = current, result.insert(one.name ?? "").inserted { current = one.superentity }
    }
    return result
  }

  private static func configuration(of held: Set<String>, in model: NSManagedObjectModel) -> String? {
    model.configurations.first { name in
      withAncestors(model.entities(forConfigurationName: name) ?? []) == held
    }
  }

  // MARK: Hashes

  /// Gives each entity the hash that the store has recorded for it.
  ///
  /// Where it differs from the computed one, either Core Data hashes what is not known here, or the copy is not the model
  /// that the tables were made with. The columns tell which.
  private func adoptHashes(_ model: NSManagedObjectModel, _ held: Set<String>) throws {
    func depth(_ entity: NSEntityDescription) -> Int {
      entity.superentity.map { depth($0) + 1 } ?? 0
    }
    let entities = model.entities.filter { hashes[$0.name ?? ""] != nil }.sorted { depth($0) < depth($1) }
    // Without hashes the columns alone tell whether the copy is the model of the tables.
    let differing =
      hashes.isEmpty
      ? held.sorted() : entities.filter { $0.versionHash != hashes[$0.name ?? ""] }.compactMap(\.name)
    if differing.isEmpty { return }
    // A model in use can't be changed, so a copy of it is laid out.
    let schema: ResolvedSchema
    do { schema = try (model.copy() as! NSManagedObjectModel).freeze().resolved } catch {
      throw unusable(error)
    }
    let indexes = schema.entities.filter { held.contains($0.source.name) }.map(\.index)
    let differences = version?.columnDifferences(from: schema, entities: Set(indexes)) ?? []
    guard differences.isEmpty else {
      throw otherVersion(differing.sorted(), differences.joined(separator: ", "))
    }
    for entity in entities { entity.recordVersionHash(hashes[entity.name ?? ""]!) }
  }
}
