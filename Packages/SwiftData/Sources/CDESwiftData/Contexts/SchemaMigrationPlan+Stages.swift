@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

extension SchemaMigrationPlan {
  /// Makes stores of older versions go through the stages of the plan when they are opened.
  ///
  /// One stage without code is inferred by the runtime in place. Several run one after the other on a copy, which replaces the store
  /// in the end: what is renamed twice, or gets a default value and then another type, needs the versions between.
  ///
  /// - Throws: `backwardMigration` for a stage that leads backward, and for a store of a later version than the container's;
  ///   `unknownSchema` for a store or a container whose version the plan lacks, if the two differ.
  static func prepare(_ descriptions: [NSPersistentStoreDescription], to last: NSManagedObjectModel) throws {
    try checkOrder()
    for description in descriptions {
      guard let stored = StoredVersion(description), !stored.isOf(last, description) else { continue }
      // Made for such a store only: a program that has many versions opens its current store without them.
      let versions = try schemas.map { try PlannedVersion($0, last) }
      let way = try way(of: stored, versions, to: last)
      guard let first = way.first, way.count > 1 || first.hasCode else { continue }
      description.setOption(
        NSStagedMigrationManager(try way.map { try $0.runtimeStage(versions) }),
        forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
      if let model = versions.first(where: { $0.type == first.versions.from })?.model,
        description.configuration == nil
      {
        description.migrationSourceModels = [model]
      }
    }
  }

  private static func checkOrder() throws {
    for stage in stages {
      let (from, to) = stage.versions
      guard from.versionIdentifier >= to.versionIdentifier else { continue }
      throw SwiftDataError.backwardMigration.about(
        "A stage of \(Self.self) leads from \(from) (\(from.versionIdentifier)) to \(to) (\(to.versionIdentifier)), which is no later "
          + "version. Exchange the two, or give the later one a higher versionIdentifier.")
    }
    try checkVersions()
  }

  /// Makes sure that stores tell versions apart between which code has to run. Done once in a process.
  private static func checkVersions() throws {
    let plan = ObjectIdentifier(Self.self)
    if CheckedPlans.table.withLock({ $0.contains(plan) }) { return }
    let (schemas, coded) = (schemas, stages.filter(\.hasCode).map(\.versions))
    func place(_ type: any VersionedSchema.Type) -> Int? { schemas.firstIndex { $0 == type } }
    let ranges = coded.compactMap { stage in
      place(stage.from).flatMap { from in place(stage.to).map { (from, $0) } }
    }
    let hashes =
      try ranges.isEmpty
      ? [] : schemas.map { try Schema(versionedSchema: $0).managedObjectModel().entityVersionHashesByName }
    for (first, last) in hashes.indices.flatMap({ first in hashes.indices.map { (first, $0) } })
    where first < last && hashes[first] == hashes[last]
      && ranges.contains(where: { $0.0 >= first && $0.1 <= last })
    {
      throw SwiftDataError.loadIssueModelContainer.about(
        "\(Self.self) has code between its versions \(schemas[first]) and \(schemas[last]), and the two have the same entities. No store "
          + "tells which of the two it has, so the code would never run. Give an attribute of the later version another hashModifier."
      )
    }
    CheckedPlans.table.withLock { _ = $0.insert(plan) }
  }

  /// The stages from the version of a store to that of the container. Versions that follow each other without a stage are inferred.
  private static func way(
    of stored: StoredVersion, _ versions: [PlannedVersion], to last: NSManagedObjectModel
  ) throws -> [MigrationStage] {
    guard let start = versions.lastIndex(where: { stored.isOf($0.model) }) else {
      throw stored.unknown(
        "The store at \(stored.path) was made with a schema that \(Self.self) does not have: \(stored.difference(from: versions)). Add "
          + "the version that made it to the plan's schemas.")
    }
    guard let end = versions.lastIndex(where: { $0.hashes == last.entityVersionHashesByName }) else {
      throw stored.unknown(
        "The container's schema is none of \(Self.self), and the store at \(stored.path) has the version \(versions[start].name). Add "
          + "the container's version to the plan's schemas, with a stage that leads to it.")
    }
    guard start <= end else {
      throw SwiftDataError.backwardMigration.about(
        "The store at \(stored.path) has the version \(versions[start].name), which is later than the container's, "
          + "\(versions[end].name). Open it with the later version.")
    }
    var way: [MigrationStage] = []
    var place = start
    while place < end {
      let stage =
        stages.first { $0.versions.from == versions[place].type }
        ?? .lightweight(fromVersion: versions[place].type, toVersion: versions[place + 1].type)
      guard let next = versions.firstIndex(where: { $0.type == stage.versions.to }) else {
        throw stored.unknown(
          "A stage of \(Self.self) leads to \(stage.versions.to), which is none of its schemas. Add it to them."
        )
      }
      // The plan's schemas may be in another order than its stages.
      guard next > place else {
        throw SwiftDataError.backwardMigration.about(
          "\(Self.self) has \(stage.versions.to) before \(stage.versions.from) among its schemas, and a stage between them. Order the "
            + "schemas from the oldest to the newest one.")
      }
      way.append(stage)
      place = next
    }
    return way
  }
}

private enum CheckedPlans {
  static let table = Lock<Set<ObjectIdentifier>>([])
}

extension MigrationStage {
  fileprivate var hasCode: Bool {
    if case .custom(_, _, let before, let after) = self { return before != nil || after != nil }
    return false
  }

  fileprivate var versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type) {
    switch self {
    case .lightweight(let from, let to), .custom(let from, let to, _, _): (from, to)
    }
  }

  fileprivate func runtimeStage(_ known: [PlannedVersion]) throws -> NSMigrationStage {
    func version(_ type: any VersionedSchema.Type) throws -> PlannedVersion {
      if let version = known.first(where: { $0.type == type }) { return version }
      throw SwiftDataError.unknownSchema
    }
    let (from, to) = (try version(versions.from), try version(versions.to))
    // Without handlers, too: a lightweight stage of the runtime goes past versions between.
    let stage = NSCustomMigrationStage(migratingFrom: from.reference, to: to.reference)
    stage.label = "\(from.name) to \(to.name)"
    guard case .custom(_, _, let before, let after) = self else { return stage }
    if let before { stage.willMigrateHandler = { manager, _ in try from.run(before, manager) } }
    if let after { stage.didMigrateHandler = { manager, _ in try to.run(after, manager) } }
    return stage
  }
}

/// One version of the schema of a plan.
private struct PlannedVersion {
  let type: any VersionedSchema.Type
  let schema: Schema
  let prepared: PreparedSchema
  /// The last version has the model of the container, which may have several configurations.
  let model: NSManagedObjectModel

  init(_ version: any VersionedSchema.Type, _ last: NSManagedObjectModel) throws {
    type = version
    schema = Schema(versionedSchema: version)
    prepared = try PreparedSchema.prepare(schema)
    model = prepared.model.versionChecksum == last.versionChecksum ? last : prepared.model
  }

  var name: String { "\(type) (\(type.versionIdentifier))" }

  var hashes: [String: Data] { model.entityVersionHashesByName }

  var reference: NSManagedObjectModelReference {
    NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
  }

  func run(_ body: (ModelContext) throws -> Void, _ manager: NSStagedMigrationManager) throws {
    guard let container = manager.container else { return }
    let models = ModelContainer(ContainerCore(schema, prepared, container))
    let context = ModelContext(models)
    // The context knows its container weakly.
    try withExtendedLifetime(models) {
      try body(context)
      try context.save()
    }
  }
}

/// The version that a store has.
private struct StoredVersion {
  private let hashes: [String: Data]
  private let identifiers: [String]
  /// Whether the store has a part of the model only.
  private let isPart: Bool
  let path: String

  /// - Returns: nil if there is no store, or its metadata can't be read: opening it says why.
  init?(_ description: NSPersistentStoreDescription) {
    guard description.type != NSInMemoryStoreType, let url = description.url,
      let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: description.type, at: url, options: nil),
      let hashes = NSManagedObjectModel.versionHashes(inStoreMetadata: metadata), !hashes.isEmpty
    else { return nil }
    self.hashes = hashes
    identifiers = (metadata["NSStoreModelVersionIdentifiers"] as? [Any] ?? []).map { "\($0)" }
    isPart = description.configuration != nil
    path = url.path
  }

  /// Whether the store has the version of a model for the entities that it has.
  func isOf(_ model: NSManagedObjectModel) -> Bool {
    let others = model.entityVersionHashesByName
    return isPart ? hashes.allSatisfy { others[$0.key] == $0.value } : hashes == others
  }

  /// Whether the store needs no migration.
  func isOf(_ model: NSManagedObjectModel, _ description: NSPersistentStoreDescription) -> Bool {
    model.isConfiguration(
      withName: description.configuration, compatibleWithStoreMetadata: ["NSStoreModelVersionHashes": hashes])
  }

  /// What the store has otherwise than the version that is most like it.
  func difference(from versions: [PlannedVersion]) -> String {
    func count(_ version: PlannedVersion) -> Int {
      Set(hashes.keys).union(version.hashes.keys).filter { hashes[$0] != version.hashes[$0] }.count
    }
    let named = identifiers.isEmpty ? "" : "it names its version \(identifiers.joined(separator: ", ")), and "
    guard let nearest = versions.min(by: { count($0) < count($1) }) else {
      return named + "the plan has none"
    }
    let names = Set(hashes.keys).union(nearest.hashes.keys).filter { hashes[$0] != nearest.hashes[$0] }
    return "\(named)other than in \(nearest.name) are \(names.sorted().joined(separator: ", "))"
  }

  func unknown(_ message: String) -> SwiftDataError { SwiftDataError.unknownSchema.about(message) }
}
