@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// How SQLite would answer a query: what EXPLAIN QUERY PLAN says of the statement that a fetch runs. A fetch of
  /// keys finds them by the same steps, but takes them by an aggregate function.
  ///
  /// - Parameters:
  ///   - query: the condition and the order.
  ///   - prefersIndexes: has no effect. SQLite plans without looking at the number of rows, unless a program ran ANALYZE.
  /// - Throws: the errors of ``fetch(_:isKnown:)``.
  public func plans(of query: StoreQuery, prefersIndexes: Bool) throws(StoreError) -> [StatementPlan] {
    try plans.checkEntity(query.entity)
    let plan = plans.select(query)
    let columns =
      query.keysOnly
      ? (plan.hasEntityColumn ? "t0.Z_PK, t0.Z_OPT, t0.Z_ENT" : "t0.Z_PK") : plan.columnList
    var compiler = QueryCompiler(plans.physical)
    let compiled = try compiler.compile(query, .rows(columns: columns))
    return try pool.read { (connection) throws(StoreError) in
      var depths: [Int64: Int] = [0: -1]
      var steps: [StatementPlan.Step] = []
      try connection.forEachRow(
        "EXPLAIN QUERY PLAN " + compiled.sql, compiled.bindings, while: "Explaining a fetch"
      ) { row in
        let depth = (depths[sqlite3_column_int64(row, 1)] ?? -1) + 1
        depths[sqlite3_column_int64(row, 0)] = depth
        steps.append(
          StatementPlan.Step(sqlite: String(cString: sqlite3_column_text(row, 3)), depth: depth))
      }
      return [StatementPlan(sql: compiled.sql, steps: steps)]
    }
  }

  /// Gives another connection of the process the table that statements of stores name, so that it can explain them.
  @_spi(CDE) public static func addTables(to connection: OpaquePointer) throws(StoreError) {
    try ListTable.register(on: connection)
  }
}

extension StatementPlan.Step {
  /// Reads a line of EXPLAIN QUERY PLAN.
  ///
  /// - Parameter sqlite: a line such as `SEARCH t0 USING INDEX Z_Item_byTitle (ZTITLE=?)`.
  @_spi(CDE) public init(sqlite detail: String, depth: Int) {
    let words = detail.split(separator: " ")
    // "USING INDEX name", "USING COVERING INDEX name"; "USING INTEGER PRIMARY KEY" has no name.
    let place = words.firstIndex(of: "INDEX")
    let index = place.flatMap { words.indices.contains($0 + 1) ? String(words[$0 + 1]) : nil }
    let access: StatementPlan.Access
    switch words.first {
    case "SEARCH": access = .search
    case "SCAN" where detail.contains("CONSTANT ROW") || detail.contains("SUBQUERY"): access = .other
    // A list of values of the condition.
    case "SCAN" where detail.contains("VIRTUAL TABLE"): access = .other
    case "SCAN": access = index == nil ? .scan : .orderedScan
    default: access = .other
    }
    self.init(depth: depth, detail: detail, access: access, index: index)
  }
}
