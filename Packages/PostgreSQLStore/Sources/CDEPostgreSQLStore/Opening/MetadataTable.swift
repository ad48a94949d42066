#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  /// The only row of `Z_METADATA`, and the copy of the model beside it.
  enum MetadataTable {
    /// What to do about metadata that can't be read.
    static let remedy = "Restore it from a backup."

    /// What a new store says about itself.
    static func initial(for schema: ResolvedSchema) -> StoreMetadata {
      .own(type: "PostgreSQL", schema, held: Set(schema.entities.indices))
    }

    static func insert(
      identifier: String, _ metadata: StoreMetadata, on connection: Connection
    ) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(identifier)
      parameters.append(bytes: Array(try PropertyList.encode(metadata)))
      _ = try connection.run(
        #"INSERT INTO "Z_METADATA" ("Z_VERSION", "Z_UUID", "Z_PLIST") VALUES (1, $1, $2)"#, parameters,
        while: "Writing the metadata")
    }

    /// Replaces the metadata of an application, in a transaction of the caller's. The keys of the store itself stay.
    static func replace(_ metadata: StoreMetadata, on connection: Connection) throws(StoreError) {
      let stored = try read(connection, isLocked: true).metadata
      var parameters = Parameters()
      parameters.append(bytes: Array(try PropertyList.encode(metadata.joined(toOwnOf: stored))))
      _ = try connection.run(
        #"UPDATE "Z_METADATA" SET "Z_PLIST" = $1 WHERE "Z_VERSION" = 1"#, parameters,
        while: "Writing the metadata")
    }

    /// - Parameter isLocked: whether other transactions may not replace the metadata until this one ends.
    static func read(
      _ connection: Connection, isLocked: Bool = false
    ) throws(StoreError) -> (identifier: String, metadata: StoreMetadata) {
      let rows = try connection.run(
        #"SELECT "Z_UUID", "Z_PLIST" FROM "Z_METADATA" WHERE "Z_VERSION" = 1"#
          + (isLocked ? " FOR UPDATE" : ""),
        while: "Reading the metadata")
      guard rows.count == 1, let identifier = rows.text(0, 0), !identifier.isEmpty else {
        throw StoreError(
          .unreadable,
          "Z_METADATA has no row with the Z_VERSION 1 and a Z_UUID, so the store is damaged or newer. \(remedy)"
        )
      }
      return (identifier, try PropertyList.decode(Data(rows.bytes(0, 1)), remedy: remedy))
    }

    /// The metadata of the store itself, for the new version that it is migrated to, with those of the application.
    static func migrate(
      _ stored: StoreMetadata, to schema: ResolvedSchema, on connection: Connection
    ) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(bytes: Array(try PropertyList.encode(stored.migrated(to: initial(for: schema)))))
      _ = try connection.run(
        #"UPDATE "Z_METADATA" SET "Z_PLIST" = $1 WHERE "Z_VERSION" = 1"#, parameters,
        while: "Writing the metadata")
    }

    /// Gives the store another UUID.
    static func replace(identifier: String, on connection: Connection) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(identifier)
      _ = try connection.run(
        #"UPDATE "Z_METADATA" SET "Z_UUID" = $1 WHERE "Z_VERSION" = 1"#, parameters,
        while: "Writing the metadata")
    }

    /// Replaces the copy of the model; nil removes it.
    static func replace(modelCache: [UInt8]?, on connection: Connection) throws(StoreError) {
      try connection.execute(#"DELETE FROM "Z_MODELCACHE""#, while: "Removing the copy of the model")
      if let modelCache { try insert(modelCache: modelCache, on: connection) }
    }

    /// Writes the copy of the model of a new store.
    static func insert(modelCache: [UInt8], on connection: Connection) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(bytes: modelCache)
      _ = try connection.run(
        #"INSERT INTO "Z_MODELCACHE" ("Z_CONTENT") VALUES ($1)"#, parameters,
        while: "Writing the copy of the model")
    }

    /// The copy of the model, compressed as it was written; nil for a store without one.
    static func modelCache(_ connection: Connection) throws(StoreError) -> [UInt8]? {
      let rows = try connection.run(
        #"SELECT "Z_CONTENT" FROM "Z_MODELCACHE" WHERE "Z_CONTENT" IS NOT NULL LIMIT 1"#,
        while: "Reading the copy of the model")
      return rows.count == 0 ? nil : Array(rows.bytes(0, 0))
    }
  }
#endif
