#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  /// The rows of `Z_PRIMARYKEY`: the entities of a store, their numbers, and the last keys of their rows.
  enum EntityTable {
    /// Writes the rows of all entities.
    ///
    /// - Parameter lastKeys: the last key that was given in each tree.
    static func insert(
      _ physical: PhysicalSchema, lastKeys: [RootIndex: Int64] = [:], on connection: Connection,
      while task: String
    ) throws(StoreError) {
      let entities = physical.schema.entities
      var parameters = Parameters()
      parameters.append(physical.numbers.elements)
      parameters.append(texts: entities.map(\.source.name))
      parameters.append(entities.map { entity in entity.parent.map { physical.numbers[$0] } ?? 0 })
      parameters.append(entities.map { $0.isRoot ? lastKeys[$0.root] ?? 0 : 0 })
      _ = try connection.run(
        #"INSERT INTO "Z_PRIMARYKEY" ("Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX") "#
          + "SELECT n, t, s, m FROM unnest($1::int8[], $2::text[], $3::int8[], $4::int8[]) AS v(n, t, s, m)",
        parameters, while: task)
    }

    /// The last key that was given in each tree.
    static func lastKeys(
      _ physical: PhysicalSchema, on connection: Connection
    ) throws(StoreError) -> [RootIndex: Int64] {
      let rows = try connection.run(
        #"SELECT "Z_ENT", "Z_MAX" FROM "Z_PRIMARYKEY""#, while: "Reading the last keys")
      var result: [RootIndex: Int64] = [:]
      for row in 0..<rows.count {
        guard let entity = physical.indexes[rows.integer(row, 0)] else { continue }
        let resolved = physical.schema.entities[entity]
        if resolved.isRoot { result[resolved.root] = rows.integer(row, 1) }
      }
      return result
    }

    /// The greatest key of the rows in each tree, or a given one that is greater.
    static func lastKeys(
      _ physical: PhysicalSchema, atLeast given: [RootIndex: Int64], on connection: Connection
    ) throws(StoreError) -> [RootIndex: Int64] {
      var result = given
      for (root, table) in physical.tables {
        let rows = try connection.run(
          "SELECT coalesce(max(\"Z_PK\"), 0) FROM \(quoted(table.name))", while: "Reading the last keys")
        result[root] = max(given[root] ?? 0, rows.integer(0, 0))
      }
      return result
    }
  }
#endif
