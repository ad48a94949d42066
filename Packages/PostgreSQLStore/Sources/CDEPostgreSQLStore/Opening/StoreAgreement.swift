#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  /// What a store was opened with, which each new connection has to find again.
  ///
  /// While a store has no connection, because all were lost, another process may migrate it.
  struct StoreAgreement: Sendable {
    private let hashes: [String: StoreMetadata.Value]
    private let numbers: String

    /// Reads what the store has now.
    init(reading connection: Connection) throws(StoreError) {
      let rows = try connection.run(
        """
        SELECT "Z_PLIST", (SELECT string_agg("Z_ENT" || ' ' || "Z_NAME", ',' ORDER BY "Z_ENT") FROM "Z_PRIMARYKEY") \
        FROM "Z_METADATA" WHERE "Z_VERSION" = 1
        """, while: "Reading the version of the store")
      numbers = rows.count > 0 ? rows.text(0, 1) ?? "" : ""
      hashes =
        rows.count > 0
        ? try PropertyList.decode(Data(rows.bytes(0, 0)), remedy: MetadataTable.remedy).storedHashes : [:]
    }

    /// - Throws: `.incompatibleSchema` if the store has another version.
    func check(_ connection: Connection) throws(StoreError) {
      let found = try StoreAgreement(reading: connection)
      guard found.numbers == numbers, found.hashes == hashes else {
        throw StoreError(
          .incompatibleSchema,
          "The store was migrated to another version of the model since it was opened. Open it again with that model."
        )
      }
    }
  }
#endif
