#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// The rows of a store that a transaction is compared with, within one transaction of the server's.
  struct StoredRows: ConflictSource {
    let plans: SchemaPlans
    let writes: IndexedArray<EntityIndex, WritePlan>
    let connection: Connection
    /// The number of the last commit before the read.
    let asOf: UInt64

    func versions(of keys: [Int64], in root: RootIndex) throws(StoreError) -> [Int64: Int64] {
      var versions: [Int64: Int64] = [:]
      for block in Blocks(keys, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block)
        let rows = try connection.run(
          "SELECT \"Z_PK\", \"Z_OPT\" FROM \(writes[root.entity].table) WHERE \"Z_PK\" = ANY($1)",
          parameters, while: "Reading versions")
        for row in 0..<rows.count { versions[rows.integer(row, 0)] = rows.integer(row, 1) }
      }
      return versions
    }

    func hasValues(of cell: RowLayout.Cell) -> Bool { true }

    func rows(
      like samples: [UniqueSample], in columns: [String], of root: RootIndex
    ) throws(StoreError) -> [Int: TransactionConflicts.Row] {
      let types = steps(samples[0]).map(\.type)
      let names = types.indices.map { "c\($0)" }
      let arrays = types.enumerated().map { "$\($0 + 2)::\($1.parameter.name)[]" }
      let conditions = types.enumerated().map { "t.\(quoted(columns[$0])) = \($1.stored("v.c\($0)"))" }
      let sql =
        "SELECT v.i, t.\"Z_PK\", t.\"Z_ENT\" FROM unnest($1::int8[], \(arrays.joined(separator: ", "))) "
        + "AS v(i, \(names.joined(separator: ", "))) JOIN \(writes[root.entity].table) AS t "
        + "ON \(conditions.joined(separator: " AND "))"
      let values = RowArrays(
        physical: plans.physical, keyBase: IndexedArray(repeating: 0, count: plans.schema.entities.count))
      var found: [Int: TransactionConflicts.Row] = [:]
      for block in Blocks(Array(samples.enumerated()), size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block.map { Int64($0.offset) })
        for (column, type) in types.enumerated() {
          parameters.beginArray(type.parameter)
          for (_, sample) in block {
            try values.append(sample.batch, sample.row, steps(sample)[column], to: &parameters)
          }
          parameters.endArray()
        }
        let rows = try connection.run(sql, parameters, while: "Looking for unique values")
        for row in 0..<rows.count {
          guard let entity = plans.physical.indexes[rows.integer(row, 2)] else { continue }
          found[Int(rows.integer(row, 0))] = .init(entity: entity, key: rows.integer(row, 1))
        }
      }
      return found
    }

    private func steps(_ sample: UniqueSample) -> [WriteStep] {
      sample.cells.map { writes[sample.batch.layout.entity].steps[$0] }
    }

    func rows(of keys: [Int64], in root: RootIndex) throws(StoreError) -> [RowBatch] {
      try plans.rows(entity: root.entity, keys: keys, on: connection, asOf: asOf).batches
    }
  }
#endif
