#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  extension PhysicalSchema {
    /// The tables of entities and of pairs.
    var tableNames: [String] { tables.values.map(\.name) + joinTables.map(\.name) }

    /// The server cuts longer names off with a notice, so two of them could become one.
    static let serverNameLimit = 63

    /// The places of a schema's parts on the server.
    ///
    /// - Parameter numbers: `Z_ENT` for each entity.
    static func onServer(_ schema: ResolvedSchema, numbers: [EntityIndex: Int64]) -> PhysicalSchema {
      PhysicalSchema(schema, numbers: numbers, nameLimit: serverNameLimit, fixed: .quoted)
    }

    /// Core Data's numbers for a new store.
    static func newNumbers(of schema: ResolvedSchema) -> [EntityIndex: Int64] {
      newNumbers(of: Set(schema.entities.indices))
    }
  }

  /// A name that the server accepts.
  func fitting(_ name: String) -> String { shortened(name, to: PhysicalSchema.serverNameLimit) }
#endif
