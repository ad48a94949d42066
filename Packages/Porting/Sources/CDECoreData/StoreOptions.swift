public import Foundation

// Names of options and of metadata, with Core Data's values. Options without an effect are kept in the store's options.

/// Option: Core Data opens a store of another version of the model. It has no effect here: such a store is refused.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option: Core Data opens a store as if it had just been migrated. It has no effect here.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// Option: Apple's data protection of the file. Linux has none, so it has no effect. Use an encrypted folder.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option: Core Data destroys a store that other processes use. It has no effect here: the files are always deleted.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Option: the greatest number of connections of Core Data's pool. It has no effect here.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Option: Core Data checks an XML file. There are no XML stores, so it has no effect.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Option: the classes that a binary store may contain. There are no binary stores, so it has no effect.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Option: lets a binary store contain any class. There are no binary stores, so it has no effect.
public let NSBinaryStoreInsecureDecodingCompatibilityOption =
  "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Option: the exporter to Spotlight. Linux has none, so it has no effect.
public let NSCoreDataCoreSpotlightExporter = "NSCoreDataCoreSpotlightExporter"

/// Metadata: the versions of the entities, as a dictionary from names to data.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// Metadata: the identifiers of the model's version, as an array.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// Metadata: the oldest system that can open the store. Stores made here do not contain it.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// Metadata: the checksum of the model's version.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

extension NSPersistentStoreDescription {
  /// Sets a pragma on each connection, for example `"DELETE" as NSString` for `journal_mode`.
  @_disfavoredOverload
  public func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    setValue(value.map { "\($0)" }, forPragmaNamed: name)
  }
}
