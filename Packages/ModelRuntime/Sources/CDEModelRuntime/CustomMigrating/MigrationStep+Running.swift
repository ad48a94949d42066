internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
internal import Foundation

// How a step works on the copy of a store: to a version that demands nothing, by names; then by code; then to the version itself.

extension MigrationStep {
  func run(on working: WorkingStore, _ pace: MigrationPace) throws {
    let old = Self.version(source) { $0.managedObjectClassName = "NSManagedObject" }
    // The code may set what is required, unique or abstract only later.
    let open = Self.version(destination, Self.loosen)
    let before = try working.keepOld()
    let mapping: InferredMapping
    do { mapping = try InferredMapping(from: source, to: open, dropsUnfit: true) } catch {
      throw ManagedObjectError(
        .inferredMapping, "The step can't begin, and the store stays as it is: \(error.message)",
        cause: error,
        entity: error.entity, property: error.property)
    }
    let offsets = try working.move(
      mapping, from: source, to: open, archiving: destination, pace.piece(0, of: 3))
    try runBody(before, old, working, open, mapping, offsets)
    pace.reach(2 / 3)
    // The same version under two names would be ambiguous by renaming identifiers, which count between versions only.
    let (loose, strict) = (Self.version(open, Self.forgetNames), Self.version(destination, Self.forgetNames))
    let finish: InferredMapping
    do { finish = try InferredMapping(from: loose, to: strict) } catch {
      throw ManagedObjectError(.inferredMapping, "The step can't end: \(error.message)", cause: error)
    }
    _ = try working.move(
      finish, from: loose, to: strict, archiving: destination, pace.piece(2, of: 3))
  }

  private static func version(
    _ model: NSManagedObjectModel, _ change: (NSEntityDescription) -> Void
  ) -> NSManagedObjectModel {
    let copy = model.copy() as! NSManagedObjectModel
    copy.entities.forEach(change)
    return copy
  }

  private static func loosen(_ entity: NSEntityDescription) {
    entity.managedObjectClassName = "NSManagedObject"
    entity.isAbstract = false
    entity.uniquenessConstraints = []
    for property in entity.properties {
      property.isOptional = true
      guard let relationship = property as? NSRelationshipDescription else { continue }
      relationship.minCount = 0
      if relationship.isToMany { relationship.maxCount = 0 }
    }
  }

  private static func forgetNames(_ entity: NSEntityDescription) {
    entity.renamingIdentifier = nil
    for property in entity.properties { property.renamingIdentifier = nil }
  }

  private func runBody(
    _ before: NSPersistentStoreDescription, _ old: NSManagedObjectModel, _ working: WorkingStore,
    _ open: NSManagedObjectModel, _ mapping: InferredMapping, _ offsets: [String: Int64]
  ) throws {
    let (source, destination) = (
      NSPersistentStoreCoordinator(managedObjectModel: old),
      NSPersistentStoreCoordinator(managedObjectModel: open)
    )
    before.configuration = WorkingStore.configuration(before.configuration, in: old)
    let after = working.opening()
    after.configuration = WorkingStore.configuration(after.configuration, in: open)
    let (first, second) = (try source.addPersistentStore(before), try destination.addPersistentStore(after))
    defer {
      try? source.remove(first)
      try? destination.remove(second)
    }
    let reading = NSManagedObjectContext(concurrencyType: .privateQueue)
    let writing = NSManagedObjectContext(sharingExecutorOf: reading)
    reading.persistentStoreCoordinator = source
    writing.persistentStoreCoordinator = destination
    let pairs = mapping.entities.compactMap { entity in
      entity.source.flatMap { from in entity.destination.map { (from, ($0, offsets[from] ?? 0)) } }
    }
    try reading.performAndWait {
      try writing.performAndWait {
        do {
          try body(
            Old(context: reading),
            New(context: writing, places: Dictionary(pairs) { first, _ in first }))
        } catch let error as ManagedObjectError { throw error } catch {
          throw ManagedObjectError(
            .migration,
            "The code of a migration step failed, and the store stays as it is: "
              + ((error as? any CDEError)?.message ?? "\(error)"), cause: error)
        }
        try writing.save()
      }
    }
  }
}

extension WorkingStore {
  /// A second copy of the copy, for reading what it was before.
  func keepOld() throws -> NSPersistentStoreDescription {
    let old = opening()
    let place = nextFile()
    try StoreEngines.files.copyFile(at: url.path, to: place.path)
    old.url = place
    old.isReadOnly = true
    return old
  }

  /// Moves the rows of the copy to another version, as the mapping says.
  ///
  /// - Parameter final: the model of which the copy gets an archive.
  /// - Returns: what was added to the keys of the rows of old entities.
  func move(
    _ mapping: InferredMapping, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
    archiving final: NSManagedObjectModel, _ pace: MigrationPace
  ) throws -> [String: Int64] {
    let (old, new) = (try ModelBinding.of(source), try ModelBinding.of(destination))
    let opening = opening()
    let store = try StoreEngines.files.migratableFile(opening)
    let entities = try new.entities(in: Self.configuration(opening.configuration, in: destination))
    let migration = StoreMigration(mapping, to: new)
    let survey = try store.survey(migration, from: old.schema, to: new.schema, entities: entities)
    _ = try store.migrate(
      migration, from: old.schema, to: new.schema, entities: entities,
      modelCache: try ModelBinding.of(final).modelCache, pace: pace)
    return survey.keyOffsets
  }
}
