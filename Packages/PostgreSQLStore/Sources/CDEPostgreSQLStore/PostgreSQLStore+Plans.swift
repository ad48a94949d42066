#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  public import CDEStore

  extension PostgreSQLStore {
    /// How the server would answer a query: what EXPLAIN says of the statement that a fetch runs.
    ///
    /// - Parameters:
    ///   - query: the condition and the order.
    ///   - prefersIndexes: the server reads small tables whole although there is an index. If true, it plans as if that were dear.
    /// - Throws: the errors of ``fetch(_:isKnown:)``.
    public func plans(of query: StoreQuery, prefersIndexes: Bool) throws(StoreError) -> [StatementPlan] {
      let compiled = try QueryReader(plans, query).compiledRows()
      let task = "Explaining a fetch"
      return try reading(inSteps: true) { (connection, _) throws(StoreError) in
        if prefersIndexes, !pool.isPinned {
          try connection.execute("SET LOCAL enable_seqscan = off", while: task)
        }
        let rows = try connection.run(
          "EXPLAIN (COSTS OFF) " + compiled.sql, Parameters(compiled.bindings), while: task)
        let steps = (0..<rows.count).compactMap { row in
          StatementPlan.Step(server: String(decoding: rows.bytes(row, 0), as: UTF8.self))
        }
        return [StatementPlan(sql: compiled.sql, steps: steps)]
      }
    }
  }

  extension StatementPlan.Step {
    /// - Parameter server: a line such as `  ->  Index Scan using zitem_bytitle on "ZITEM" t0`; nil for a line about the step before.
    init?(server line: String) {
      let indent = line.prefix { $0 == " " }.count
      var detail = line.dropFirst(indent)
      if detail.hasPrefix("->") {
        detail = detail.dropFirst(2).drop { $0 == " " }
      } else if indent > 0 {
        return nil
      }
      let words = detail.split(separator: " ")
      let name = words.firstIndex(of: "using").flatMap {
        words.indices.contains($0 + 1) ? words[$0 + 1] : nil
      }
      let access: StatementPlan.Access
      var index = name.map(String.init)
      if detail.hasPrefix("Seq Scan") || detail.hasPrefix("Parallel Seq Scan") {
        access = .scan
      } else if detail.hasPrefix("Bitmap Index Scan on ") {
        access = .search
        index = words.count > 4 ? String(words[4]) : words.last.map(String.init)
      } else if name != nil, detail.contains("Index ") {
        access = .search
      } else {
        access = .other
      }
      self.init(
        depth: indent / 6 + (indent % 6 == 0 ? 0 : 1), detail: String(detail), access: access,
        index: index.map { $0.trimming("\"") })
    }
  }

  extension String {
    fileprivate func trimming(_ character: Character) -> String {
      var result = self[...]
      if result.first == character { result.removeFirst() }
      if result.last == character { result.removeLast() }
      return String(result)
    }
  }
#endif
