#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  public import CDEStore
  internal import Foundation

  extension PostgreSQLStore {
    /// Computes values from rows, in one statement and one read of one state of the store.
    ///
    /// Numbers, texts and bytes are returned as on SQLite: a decimal is an integer, a number with a fraction or, with more than 15
    /// digits, a text; a date is a number of seconds. Costs one round trip.
    ///
    /// - Throws: `.unsupportedQuery`, also for a part that the server can't decide as memory does, such as text operators with
    ///   options; `.tooBig` beyond the limits of conditions, `.busy`, `.io`, `.closed` and so on.
    public func project(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows {
      try plans.checkEntity(projection.entity)
      var compiler = QueryCompiler(physical, dialect: PostgreSQLDialect())
      let (compiled, columns) = try compiler.compile(projection)
      return try pool.withConnection { (connection) throws(StoreError) in
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
