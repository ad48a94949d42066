import CDECoreData
import Testing

@Suite("The interface of options and metadata")
struct OptionInterfaceTests {
  @Test("Options of stores are strings with names of their own")
  func options() {
    let options: [String] = [
      NSReadOnlyPersistentStoreOption, NSPersistentStoreTimeoutOption, NSSQLitePragmasOption,
      NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
      NSIgnorePersistentStoreVersioningOption, NSPersistentHistoryTrackingKey,
      NSPersistentStoreRemoteChangeNotificationPostOptionKey,
      NSPersistentStoreDeferredLightweightMigrationOptionKey,
      NSPersistentStoreStagedMigrationManagerOptionKey, NSPersistentStoreFileProtectionKey,
      NSPersistentStoreForceDestroyOption, NSPersistentStoreConnectionPoolMaxSizeKey, NSSQLiteAnalyzeOption,
      NSSQLiteManualVacuumOption, NSValidateXMLStoreOption, NSBinaryStoreSecureDecodingClasses,
      NSBinaryStoreInsecureDecodingCompatibilityOption, NSCoreDataCoreSpotlightExporter,
    ]
    #expect(Set(options).count == options.count)
    #expect(
      options[..<5] == [
        "NSReadOnlyPersistentStoreOption", "NSPersistentStoreTimeoutOption", "NSSQLitePragmasOption",
        "NSMigratePersistentStoresAutomaticallyOption", "NSInferMappingModelAutomaticallyOption",
      ])
  }

  @Test("Metadata of a store has Core Data's keys")
  func metadata() throws {
    let keys: [String] = [
      NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
      NSPersistentStoreModelVersionChecksumKey, NSPersistentStoreOSCompatibility,
    ]
    #expect(
      keys[..<5] == [
        "NSStoreType", "NSStoreUUID", "NSStoreModelVersionHashes", "NSStoreModelVersionIdentifiers",
        "NSStoreModelVersionChecksumKey",
      ])
    let stack = try Stack()
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: stack.url)
    #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
    #expect(hashes == stack.container.managedObjectModel.entityVersionHashesByName)
  }
}
