#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  /// Reads the elements of one to-many relationship.
  struct RelatedReader {
    private let plans: SchemaPlans
    private let connection: Connection
    private let plan: RowPlan
    private let sql: String
    /// The column with the owner's key, behind those of the plan.
    private let ownerColumn: Int32
    private let asOf: UInt64

    /// - Parameter asOf: the number of the last commit before the read.
    init(
      _ plans: SchemaPlans, _ connection: Connection, entity: EntityIndex, slot: SlotIndex, asOf: UInt64
    ) throws(StoreError) {
      self.plans = plans
      self.connection = connection
      self.asOf = asOf
      let source = try plans.physical.toMany(slot, of: entity)
      let destination = plans.schema.entities[plans.schema.end(of: slot, in: entity).destination]
      plan = plans.selects[destination.index]
      ownerColumn = plan.columnCount
      let table = quoted(plans.physical.tableName(of: destination.index))
      var condition = ""
      let (owner, from, order): (String, String, String?)
      switch source {
      case .inverse(let key, let place), .implied(let key, let place):
        (owner, from, order) = ("t0.\(quoted(key))", "\(table) AS t0", place.map { "t0.\(quoted($0))" })
        // Other entities of the tree may also use an inverse that a common ancestor declares.
        if !destination.isRoot { condition = " AND " + plans.entityCondition(destination) }
      case .join(let side):
        owner = "j.\(quoted(side.owner))"
        from = "\(quoted(side.table)) AS j JOIN \(table) AS t0 ON t0.\"Z_PK\" = j.\(quoted(side.member))"
        order = side.order.map { "j.\(quoted($0))" }
      }
      let terms = (order.map { ["\($0) NULLS FIRST"] } ?? []) + ["t0.\"Z_PK\""]
      sql =
        "SELECT \(plan.columnList), \(owner) FROM \(from) WHERE \(owner) = ANY($1)\(condition) "
        + "ORDER BY \(terms.joined(separator: ", "))"
    }

    /// Reads all elements of the owners, each once, and groups them.
    func read(
      _ owners: [Int64], isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
    ) throws(StoreError) -> RelatedRows {
      // Entries of one owner keep the order of the statement.
      var members: [Int64: [Int64]] = [:]
      var seen: Set<Int64> = []
      var collector = RowCollector(plan, asOf: asOf, isKnown: isKnown, keepsOrder: true)
      for block in Blocks(Array(Set(owners)), size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block)
        let rows = try connection.run(sql, parameters, while: "Reading a relationship")
        var fresh: [Int] = []
        for row in 0..<rows.count {
          let key = rows.integer(row, 0)
          members[rows.integer(row, ownerColumn), default: []].append(key)
          if seen.insert(key).inserted { fresh.append(row) }
        }
        try collector.append(rows, only: fresh)
      }
      let rows = collector.finish()
      var entryOfKey: [Int64: FetchedRows.Entry] = [:]
      for entry in rows.order ?? [] { entryOfKey[entry.key] = entry }
      var rangeOfOwner: [Int64: Range<Int>] = [:]
      var entries: [FetchedRows.Entry] = []
      // An owner that occurs twice has its elements once, and both places refer to them.
      for owner in owners where rangeOfOwner[owner] == nil {
        let start = entries.count
        // Rows of entities outside the schema have no entry.
        for key in members[owner] ?? [] { if let entry = entryOfKey[key] { entries.append(entry) } }
        rangeOfOwner[owner] = start..<entries.count
      }
      return RelatedRows(rows: rows, ranges: owners.map { rangeOfOwner[$0]! }, entries: entries)
    }
  }
#endif
