@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

/// Executes one batch, inside an SQLite transaction that the caller began.
///
/// The rows are listed in a temporary table: entity tree, key, concrete entity, and the number of delete
/// rules between the row and the rows that the query found.
final class BatchWriter {
  let plans: SchemaPlans
  let connection: Connection
  var result = StoreBatchResult()
  var obsoleteFiles: [String] = []
  /// Nil if the store records no history.
  private(set) lazy var history = HistoryWriter(plans, connection)

  static let list = "temp.cde_batch"
  static let levelIndex = "temp.cde_batch_level"
  /// The version of a changed row. In SQLite one more than the greatest integer would be a floating-point
  /// number.
  static let nextVersion =
    "CASE ifnull(Z_OPT, 0) WHEN \(Int64.max) THEN \(Int64.min) ELSE ifnull(Z_OPT, 0) + 1 END"

  init(_ plans: SchemaPlans, _ connection: Connection) {
    self.plans = plans
    self.connection = connection
  }

  var schema: ResolvedSchema { plans.schema }
  var physical: PhysicalSchema { plans.physical }

  /// Lists the rows that the query finds.
  func select(_ query: StoreQuery) throws(StoreError) {
    let task = "Finding the rows of a batch"
    try connection.run(
      "CREATE TEMP TABLE IF NOT EXISTS cde_batch "
        + "(root INTEGER, pk INTEGER, ent INTEGER, level INTEGER, PRIMARY KEY (root, pk)) WITHOUT ROWID",
      while: task)
    // A partial index, so that rows found by the query cost nothing more.
    try connection.run(
      "CREATE INDEX IF NOT EXISTS \(Self.levelIndex) ON cde_batch (level, ent, root) WHERE level > 0",
      while: task)
    try connection.run("DELETE FROM \(Self.list)", while: task)
    let root = schema.entities[query.entity].root
    var compiler = QueryCompiler(physical)
    let compiled = try compiler.compile(query, .rows(columns: "\(root), t0.Z_PK, t0.Z_ENT, 0"))
    try connection.run("INSERT OR IGNORE INTO \(Self.list) \(compiled.sql)", compiled.bindings, while: task)
    try connection.forEachRow(
      "SELECT ent, pk FROM \(Self.list) ORDER BY pk", while: task
    ) { (statement) throws(StoreError) in
      guard let entity = physical.indexes[sqlite3_column_int64(statement, 0)] else {
        throw foreignRow(query.entity)
      }
      let key = sqlite3_column_int64(statement, 1)
      guard key > 0 else { throw RowCollector.damagedKey(key, schema.entities[entity].layout) }
      result.rows.append(.init(entity: entity, key: key))
    }
  }

  /// The error for a row of an entity outside the schema, in a table of the schema. Such a row must not be
  /// changed.
  private func foreignRow(_ entity: EntityIndex) -> StoreError {
    StoreError(
      .unsupportedQuery,
      "The batch finds rows of an entity that the model does not have. Name a more special entity.",
      entity: schema.entities[entity].source.name)
  }

  // MARK: Updating

  func update(_ update: StoreBatchUpdate) throws(StoreError) {
    let found = Set(result.rows.map(\.entity))
    for (index, values) in update.values.enumerated() where found.contains(values.batch.layout.entity) {
      try checkDerivations(values, update.computed.isEmpty ? [] : update.computed[index])
      try set(values, update.computed.isEmpty ? [] : update.computed[index])
    }
  }

  private func checkDerivations(
    _ values: RowUpdate, _ computed: [StoreBatchUpdate.Computed]
  ) throws(StoreError) {
    let entity = values.batch.layout.entity
    let slots = Array(values.changed[0]) + computed.map(\.slot)
    let names = slots.map { schema.entities[entity].layout.properties[$0].name }
    for derivation in physical.foreign { try derivation.checkChange(of: names, in: entity) }
  }

  private func set(
    _ values: RowUpdate, _ computed: [StoreBatchUpdate.Computed]
  ) throws(StoreError) {
    let plan = plans.writes[values.batch.layout.entity]
    var cells: [CellIndex] = []
    for slot in values.changed[0] where plan.cellsOfSlots.indices.contains(slot) {
      cells += Array(plan.cellsOfSlots[slot])
    }
    let results = try ComputedColumns(computed, of: plan, layout: values.batch.layout, physical)
    if cells.isEmpty, computed.isEmpty { return }
    let own = "SELECT pk FROM \(Self.list) WHERE ent = \(physical.numbers[plan.entity])"
    try noteFiles(cells.filter { plan.steps[$0].kind == .external }, of: plan, where: own)
    let settings =
      cells.map { "\(quoted(plan.columns[$0])) = ?" } + results.settings + ["Z_OPT = \(Self.nextVersion)"]
    let task = "Updating rows of \(values.batch.layout.entityName)"
    let statement = try connection.prepare(
      "UPDATE \(quoted(plan.table)) AS t0 SET \(settings.joined(separator: ", ")) WHERE Z_PK IN (\(own))",
      while: task)
    // The batch owns the bound memory.
    defer { Connection.reset(statement) }
    let binder = TransactionWriter(plans, connection)
    // A file belongs to one row. Values shared by many rows stay in their rows.
    let steps = cells.map { cell in
      var step = plan.steps[cell]
      if step.kind == .external { step.kind = .blob }
      return step
    }
    try binder.cells.bind(values.batch, 0, steps, to: statement, from: 1)
    for (index, value) in results.bindings.enumerated() {
      let code = Connection.bind(value, to: statement, at: Int32(cells.count + index + 1))
      guard code == SQLITE_OK else { throw connection.error(code, while: task) }
    }
    let code = sqlite3_step(statement)
    guard code == SQLITE_DONE else { throw binder.failure(code, plan.entity, task) }
    try results.check(on: connection, where: own)
  }

  // MARK: Common

  /// Records the files that rows name, to remove them when no row names them.
  func noteFiles(_ cells: [CellIndex], of plan: WritePlan, where keys: String) throws(StoreError) {
    for cell in cells {
      let column = quoted(plan.columns[cell])
      try connection.forEachRow(
        "SELECT substr(\(column), 1, 64) FROM \(quoted(plan.table)) "
          + "WHERE Z_PK IN (\(keys)) AND substr(\(column), 1, 1) = x'02'",
        while: "Reading external values"
      ) { statement in
        guard let start = sqlite3_column_blob(statement, 0) else { return }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, 0)))
        if case .file(let name)? = ExternalValue(cell: bytes) { obsoleteFiles.append(name) }
      }
    }
  }

  func readDerived() throws(StoreError) {
    let reader = TransactionWriter(plans, connection)
    try reader.readDerived()
    result.derived = reader.derived
  }
}
