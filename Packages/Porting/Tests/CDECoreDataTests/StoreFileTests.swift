import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Testing

@Suite("Files of stores")
struct StoreFileTests {
  @Test("Destroying a store deletes its file, the log and the external values, and nothing else")
  func destroyDeletesAllFiles() throws {
    let stack = try Stack()
    let coordinator = stack.container.persistentStoreCoordinator
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      stack.insertNote("Large", in: context).setValue(Data(count: 300_000), forKey: "body")
      try context.save()
    }
    #expect(stack.files.contains(".Notes_SUPPORT"))
    #expect(stack.files.contains("Notes.sqlite-wal"))
    let other = stack.url.deletingLastPathComponent().appendingPathComponent("Other.sqlite")
    try Data().write(to: other)

    try coordinator.remove(try #require(coordinator.persistentStores.first))
    try coordinator.destroyPersistentStore(at: stack.url, ofType: NSSQLiteStoreType, options: nil)
    #expect(stack.files == ["Other.sqlite"])
  }

  @Test("An open store of the coordinator is closed, destroyed, and can be made again empty")
  func destroyClosesTheStore() throws {
    let stack = try Stack()
    let coordinator = stack.container.persistentStoreCoordinator
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      stack.insertNote("One", in: context)
      try context.save()
    }
    try coordinator.destroyPersistentStore(at: stack.url, type: .sqlite)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(stack.files.isEmpty)

    try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: stack.url, options: nil)
    let fresh = stack.container.newBackgroundContext()
    let count = try fresh.performAndWait {
      try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
    }
    #expect(count == 0)
  }

  @Test("A store that does not exist, and one in memory, are destroyed without an error")
  func destroyNothing() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
    let missing = FileManager.default.temporaryDirectory.appendingPathComponent("missing-\(UUID()).sqlite")
    try coordinator.destroyPersistentStore(at: missing, ofType: NSSQLiteStoreType, options: nil)
    try coordinator.destroyPersistentStore(at: URL(fileURLWithPath: "/dev/null"), ofType: NSSQLiteStoreType)
    try coordinator.destroyPersistentStore(at: missing, type: .inMemory)
    #expect(throws: CocoaError.self) {
      try coordinator.destroyPersistentStore(at: missing, ofType: "Binary", options: nil)
    }
    #expect(throws: CocoaError.self) {
      try coordinator.destroyPersistentStore(at: URL(string: "https://example.org/a")!, type: .sqlite)
    }
  }

  @Test("The metadata of a store that is not opened says whether a model fits it")
  func metadataOfAFile() throws {
    let stack = try Stack()
    let coordinator = stack.container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    let identifier = store.identifier
    try coordinator.remove(store)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: stack.url, options: nil)
    #expect(metadata[NSStoreUUIDKey] as? String == identifier)
    #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    #expect(metadata[NSStoreModelVersionHashesKey] is [String: Data])
    #expect(store.metadata[NSStoreUUIDKey] as? String == identifier)
    let models = [NSManagedObjectModel(), makeModel()]
    let source = NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
    #expect(source?.entityVersionHashesByName == makeModel().entityVersionHashesByName)
    #expect(NSManagedObjectModel.mergedModel(from: [.main], forStoreMetadata: metadata) == nil)
    #expect(makeModel().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!NSManagedObjectModel().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))

    try coordinator.destroyPersistentStore(at: stack.url, type: .sqlite)
    #expect {
      _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.url)
    } throws: { ($0 as? CocoaError)?.code == .fileReadNoSuchFile }
  }

  @Test("An application's metadata is written into the store, and its own keys stay")
  func metadataIsWritten() throws {
    let stack = try Stack()
    let coordinator = stack.container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    var metadata = coordinator.metadata(for: store)
    metadata["lastSync"] = Date(timeIntervalSinceReferenceDate: 5)
    metadata["count"] = 3
    metadata["flag"] = true
    metadata["ratio"] = 0.5
    metadata["names"] = ["a", "b"]
    metadata[NSStoreTypeKey] = "Other"
    coordinator.setMetadata(metadata, for: store)
    try coordinator.remove(store)

    let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.url)
    #expect(read["lastSync"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
    #expect(read["count"] as? Int == 3)
    #expect(read["flag"] as? Bool == true)
    #expect(read["ratio"] as? Double == 0.5)
    #expect(read["names"] as? [String] == ["a", "b"])
    #expect(read[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    #expect(makeModel().isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
  }

  @Test("The flags of a description and the options of their names are the same")
  func migrationFlags() {
    let description = NSPersistentStoreDescription()
    #expect(description.shouldMigrateStoreAutomatically)
    #expect(description.shouldInferMappingModelAutomatically)
    description.shouldMigrateStoreAutomatically = false
    #expect(description.options[NSMigratePersistentStoresAutomaticallyOption] as? Bool == false)
    description.setOption(false as NSNumber, forKey: NSInferMappingModelAutomaticallyOption)
    #expect(!description.shouldInferMappingModelAutomatically)
    let copy = description.copy() as? NSPersistentStoreDescription
    #expect(copy?.shouldMigrateStoreAutomatically == false)
  }

  @Test("The names of other types of stores compile, and opening one is an error")
  func otherTypes() throws {
    let names: any OtherTypes.Type = DeprecatedNames.self
    #expect(names.old == ["Binary", "XML"] && names.new == names.old)
    for type in names.old {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
      let error = #expect(throws: (any Error).self) {
        try coordinator.addPersistentStore(
          ofType: type, configurationName: nil, at: ProcessFolder.newURL(), options: nil)
      }
      #expect((error as NSError?)?.code == NSPersistentStoreInvalidTypeError)
    }
  }
}

/// Names whose use warns, behind requirements whose use does not.
private protocol OtherTypes {
  static var old: [String] { get }
  static var new: [String] { get }
}

private enum DeprecatedNames: OtherTypes {
  @available(*, deprecated) static var old: [String] { [NSBinaryStoreType, NSXMLStoreType] }
  @available(*, deprecated) static var new: [String] {
    [NSPersistentStore.StoreType.binary, .xml].map(\.rawValue)
  }
}
