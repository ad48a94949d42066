import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// The only row of `Z_METADATA`.
enum MetadataTable {
  static let hashes = "NSStoreModelVersionHashes"
  static let hashesVersion = "NSStoreModelVersionHashesVersion"
  /// Keys that describe the file itself. The metadata of an application can't replace them.
  static let ownKeys: Set<String> = [
    "NSStoreType", "NSStoreUUID", hashes, hashesVersion, "NSStoreModelVersionIdentifiers",
    "NSPersistenceFrameworkVersion", "NSPersistenceMaximumFrameworkVersion", "_NSAutoVacuumLevel",
    "NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey",
  ]

  fileprivate static let remedy = "Restore it from a backup, or copy what can be read with salvage."

  /// The framework version written into new stores: the version of Core Data whose layout they have.
  private static let frameworkVersion: Int64 = 1414

  static func initial(for schema: ResolvedSchema, held: Set<EntityIndex>) -> StoreMetadata {
    let entities = schema.entities.filter { held.contains($0.index) }.map(\.source)
      .filter { !$0.versionHash.isEmpty }
      .sorted { codePointOrder($0.name, $1.name) }
    let identifiers = schema.source.versionIdentifiers
    var values: [String: StoreMetadata.Value] = [
      "NSStoreType": .string("SQLite"),
      hashes: .dictionary(
        Dictionary(entities.map { ($0.name, .data($0.versionHash)) }, uniquingKeysWith: { first, _ in first })
      ),
      hashesVersion: .integer(3),
      "NSStoreModelVersionIdentifiers": .array(
        (identifiers.isEmpty ? [""] : identifiers).map { .string($0) }),
      "NSPersistenceFrameworkVersion": .integer(frameworkVersion),
      "_NSAutoVacuumLevel": .string("2"),
    ]
    if !entities.isEmpty {
      let digest = SHA512.hash(entities.flatMap { Array($0.name.utf8) + $0.versionHash })
      let checksum = SHA256.hash(entities.flatMap(\.versionHash))
      values["NSStoreModelVersionHashesDigest"] = .string(Data(digest).base64EncodedString())
      values["NSStoreModelVersionChecksumKey"] = .string(Data(checksum).base64EncodedString())
    }
    return StoreMetadata(values: values)
  }

  static func insert(
    identifier: String, _ metadata: StoreMetadata, on connection: Connection
  ) throws(StoreError) {
    try connection.run(
      "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
      [.text(identifier), .blob(try PropertyList.encode(metadata))], while: "Writing the metadata")
  }

  static func update(_ metadata: StoreMetadata, on connection: Connection) throws(StoreError) {
    try connection.run(
      "UPDATE Z_METADATA SET Z_PLIST = ? WHERE Z_VERSION = 1",
      [.blob(try PropertyList.encode(metadata))], while: "Writing the metadata")
  }

  /// Replaces the metadata of an application. The keys of the file itself stay.
  static func replace(_ metadata: StoreMetadata, on connection: Connection) throws(StoreError) {
    let stored = try read(connection).metadata.values
    var values = metadata.values.filter { !ownKeys.contains($0.key) }
    for key in ownKeys { values[key] = stored[key] }
    try update(StoreMetadata(values: values), on: connection)
  }

  static func read(
    _ connection: Connection
  ) throws(StoreError) -> (identifier: String, metadata: StoreMetadata) {
    var identifier: String?
    var plist: Data?
    try connection.forEachRow(
      "SELECT Z_UUID, Z_PLIST FROM Z_METADATA WHERE Z_VERSION = 1", while: "Reading the metadata"
    ) { statement in
      identifier = sqlite3_column_text(statement, 0).map { String(cString: $0) }
      if let bytes = sqlite3_column_blob(statement, 1) {
        plist = Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, 1)))
      }
    }
    guard let identifier, !identifier.isEmpty else {
      throw StoreError(
        .unreadable,
        "Z_METADATA has no row with the Z_VERSION 1 and a Z_UUID, so the store is damaged or newer. \(remedy)"
      )
    }
    guard let plist else {
      throw StoreError(
        .unreadable, "Z_METADATA.Z_PLIST has no property list, so the store is damaged. \(remedy)")
    }
    return (identifier, try PropertyList.decode(plist))
  }
}

/// Property lists as ``StoreMetadata``.
enum PropertyList {
  static func decode(_ data: Data) throws(StoreError) -> StoreMetadata {
    let list: Any
    do { list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil) } catch {
      throw StoreError(
        .unreadable,
        "Z_METADATA.Z_PLIST is no property list, so the store is damaged. \(MetadataTable.remedy)",
        cause: error)
    }
    guard let dictionary = list as? [String: Any] else {
      throw StoreError(
        .unreadable,
        "Z_METADATA.Z_PLIST is no dictionary, so the store is damaged. \(MetadataTable.remedy)")
    }
    var values: [String: StoreMetadata.Value] = [:]
    for (key, value) in dictionary { values[key] = Self.value(value) }
    return StoreMetadata(values: values)
  }

  private static func value(_ any: Any) -> StoreMetadata.Value? {
    switch any {
    case let string as String: return .string(string)
    case let data as Data: return .data(Array(data))
    case let date as Date: return .date(date.timeIntervalSinceReferenceDate)
    case let array as [Any]: return .array(array.compactMap(value))
    case let dictionary as [String: Any]: return .dictionary(dictionary.compactMapValues(value))
    case let number as NSNumber:
      if String(cString: number.objCType) == "c" || String(cString: number.objCType) == "B" {
        return .boolean(number.boolValue)
      }
      if ["d", "f"].contains(String(cString: number.objCType)) { return .real(number.doubleValue) }
      return .integer(number.int64Value)
    default: return nil
    }
  }

  // Uses the encoder and not PropertyListSerialization. In statically linked programs on Linux the latter
  // treats a nested array as an invalid value.
  static func encode(_ metadata: StoreMetadata) throws(StoreError) -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    do {
      return try encoder.encode(metadata.values.mapValues(Node.init))
    } catch {
      throw StoreError(.engine, "The metadata can't be written as a property list.", cause: error)
    }
  }

  private struct Node: Encodable {
    let value: StoreMetadata.Value

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch value {
      case .string(let string): try container.encode(string)
      case .integer(let integer): try container.encode(integer)
      case .real(let real): try container.encode(real)
      case .boolean(let boolean): try container.encode(boolean)
      case .date(let seconds): try container.encode(Date(timeIntervalSinceReferenceDate: seconds))
      case .data(let bytes): try container.encode(Data(bytes))
      case .array(let values): try container.encode(values.map(Node.init))
      case .dictionary(let values): try container.encode(values.mapValues(Node.init))
      }
    }
  }
}
