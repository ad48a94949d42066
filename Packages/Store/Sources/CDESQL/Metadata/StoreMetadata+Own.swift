@_spi(CDE) public import CDEStore
internal import Foundation

/// What a store's metadata say about the store itself, under Core Data's keys.
@_spi(CDE) extension StoreMetadata {
  /// The key of the entities' version hashes, which are a dictionary by name.
  public static let hashesKey = "NSStoreModelVersionHashes"
  /// The key of the version that the algorithm of the hashes has.
  public static let hashesVersionKey = "NSStoreModelVersionHashesVersion"
  private static let identifierKey = "NSStoreUUID"

  /// The keys that describe the store itself. The metadata of an application can't replace them.
  ///
  /// One of them is about SQLite's files alone. A copy in another engine must not get it from a file.
  public static let ownKeys: Set<String> = [
    "NSStoreType", identifierKey, hashesKey, hashesVersionKey, "NSStoreModelVersionIdentifiers",
    "NSPersistenceFrameworkVersion", "NSPersistenceMaximumFrameworkVersion", "_NSAutoVacuumLevel",
    "NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey",
  ]

  /// The framework version written into new stores: the version of Core Data whose layout they have.
  private static let frameworkVersion: Int64 = 1414

  /// What a new store says about itself.
  ///
  /// - Parameters:
  ///   - type: the type of the store, as Core Data calls it.
  ///   - schema: the schema.
  ///   - held: the entities that the store has.
  public static func own(
    type: String, _ schema: ResolvedSchema, held: Set<EntityIndex>
  ) -> StoreMetadata {
    let entities = schema.entities.filter { held.contains($0.index) }.map(\.source)
      .filter { !$0.versionHash.isEmpty }
      .sorted { codePointOrder($0.name, $1.name) }
    let identifiers = schema.source.versionIdentifiers
    var values: [String: Value] = [
      "NSStoreType": .string(type),
      hashesKey: .dictionary(
        Dictionary(entities.map { ($0.name, .data($0.versionHash)) }, uniquingKeysWith: { first, _ in first })
      ),
      hashesVersionKey: .integer(3),
      "NSStoreModelVersionIdentifiers": .array(
        (identifiers.isEmpty ? [""] : identifiers).map { .string($0) }),
      "NSPersistenceFrameworkVersion": .integer(frameworkVersion),
    ]
    if !entities.isEmpty {
      let digest = SHA512.hash(entities.flatMap { Array($0.name.utf8) + $0.versionHash })
      let checksum = SHA256.hash(entities.flatMap(\.versionHash))
      values["NSStoreModelVersionHashesDigest"] = .string(Data(digest).base64EncodedString())
      values["NSStoreModelVersionChecksumKey"] = .string(Data(checksum).base64EncodedString())
    }
    return StoreMetadata(values: values)
  }

  /// The metadata of an application, with what the metadata of a store say about that store.
  public func joined(toOwnOf stored: StoreMetadata) -> StoreMetadata {
    var values = values.filter { !Self.ownKeys.contains($0.key) }
    for key in Self.ownKeys { values[key] = stored.values[key] }
    return StoreMetadata(values: values)
  }

  /// The metadata after a migration: what the new version says about itself, with the rest as it was.
  ///
  /// - Parameter own: the result of ``own(type:_:held:)`` for the new version.
  public func migrated(to own: StoreMetadata) -> StoreMetadata {
    var values = values.filter { !Self.ownKeys.contains($0.key) || $0.key == Self.identifierKey }
    values.merge(own.values) { $1 }
    return StoreMetadata(values: values)
  }

  /// The version hashes as they are stored, by the names of the entities; empty without any.
  public var storedHashes: [String: Value] {
    if case .dictionary(let hashes)? = values[Self.hashesKey] { hashes } else { [:] }
  }

  /// The version hashes by the names of the entities. A value that is no hash is left out.
  public var versionHashes: [String: [UInt8]] {
    storedHashes.compactMapValues { value in
      if case .data(let bytes) = value { bytes } else { nil }
    }
  }
}
