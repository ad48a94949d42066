#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) public import CDEStore
  internal import Foundation

  extension PostgreSQLStore {
    /// Computes values from rows, in one read of one state of the store.
    ///
    /// Numbers, texts and bytes are returned as on SQLite: a decimal is an integer, a number with a fraction or, with more than 15
    /// digits, a text; a date is a number of seconds. Costs one round trip.
    ///
    /// If the server can't compute a part as memory does, such as a text operator with options, the rows that the condition finds are
    /// read, and the results are computed in memory. That costs what a fetch of these rows costs.
    ///
    /// - Throws: `.unsupportedQuery`; `.tooBig` beyond the limits of conditions, `.busy`, `.io`, `.closed` and so on.
    public func project(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows {
      try plans.checkEntity(projection.entity)
      return try observing(.read) { (collector) throws(StoreError) in
        do throws(StoreError) {
          return try projectOnServer(projection, collector)
        } catch  where error.code == .unsupportedQuery || Self.refusals.contains(error.engineCode ?? 0) {
          return try projectInMemory(projection, collector)
        }
      }
    }

    /// The server's refusals of statements that memory computes: an order that is not in a distinct result, a column that it does not
    /// take for one of the group's, and a number beyond its type, which is infinite in memory.
    private static let refusals = Set(["42P10", "42803", "22003"].map(ServerError.number))

    private func projectInMemory(
      _ projection: StoreProjection, _ collector: StatementCollector?
    ) throws(StoreError) -> ProjectedRows {
      let query = StoreQuery(
        entity: projection.entity, includesSubentities: projection.includesSubentities,
        filter: projection.filter)
      let reader = try QueryReader(plans, query)
      return try reading(inSteps: true, collecting: collector) { (connection, _) throws(StoreError) in
        try ProjectionEvaluator(projection, schema).results(of: try reader.rows(on: connection))
      }
    }

    private func projectOnServer(
      _ projection: StoreProjection, _ collector: StatementCollector?
    ) throws(StoreError) -> ProjectedRows {
      var compiler = QueryCompiler(physical, dialect: PostgreSQLDialect())
      let (compiled, columns) = try compiler.compile(projection)
      return try pool.withConnection(collecting: collector) { (connection) throws(StoreError) in
        let found = try connection.run(
          compiled.sql, Parameters(compiled.bindings), while: "Computing values from rows")
        var rows = ProjectedRows(columnCount: columns.count)
        for row in 0..<found.count {
          for column in columns { rows.append(value(column, found, row)) }
        }
        return rows
      }
    }

    private func value(_ column: ProjectedColumn, _ rows: borrowing ResultRows, _ row: Int) -> StoreValue {
      if rows.isNull(row, column.column) { return .null }
      if column.entity != nil || column.entityColumn != nil {
        let entity = column.entity ?? column.entityColumn.flatMap { physical.indexes[rows.integer(row, $0)] }
        let key = rows.integer(row, column.column)
        // Keys begin at 1; see RowCollector.
        guard let entity, key > 0 else { return .null }
        return .reference(entity: entity, key: key)
      }
      if column.kind == .decimal { return Self.decimal(rows.text(row, column.column) ?? "") }
      switch rows.type(column.column) {
      case ServerType.integer.rawValue: return .integer(rows.integer(row, column.column))
      case ServerType.boolean.rawValue: return .integer(rows.boolean(row, column.column) ? 1 : 0)
      case ServerType.double.rawValue: return .real(rows.double(row, column.column))
      case ServerType.text.rawValue: return .text(rows.text(row, column.column) ?? "")
      default: return .blob(Data(rows.bytes(row, column.column)))
      }
    }

    /// A decimal as SQLite has it. A floating-point number has about 15 digits.
    static func decimal(_ digits: String) -> StoreValue {
      if let integer = Int64(digits) { return .integer(integer) }
      let significant = digits.utf8.filter { $0 >= 0x30 && $0 <= 0x39 }.drop { $0 == 0x30 }
      guard significant.count <= 15, let number = Double(digits) else { return .text(digits) }
      return .real(number)
    }
  }
#endif
