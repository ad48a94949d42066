@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// Migrates a store's file to another schema, in one transaction: whatever happens, the file is the old store or the new one.
struct StoreMigrator {
  let migration: StoreMigration
  let source: ResolvedSchema
  let destination: ResolvedSchema
  /// The entities that the store has afterwards.
  let held: Set<EntityIndex>
  let configuration: SQLiteStore.Configuration
  let modelCache: [UInt8]?
  var pace = MigrationPace.unwatched()

  private static let task = "Migrating the store"

  // MARK: Looking

  func survey(path: String) throws(StoreError) -> MigrationSurvey {
    let connection = try StoreInspection.connect(path, configuration)
    try connection.execute("BEGIN", while: Self.task)
    defer { connection.rollBack() }
    let (script, now) = try script(FileContents(reading: connection), connection)
    let size = try TableSizes.file(connection)
    let rewritten = try TableSizes.bytes(of: script.renamed.map(\.table), on: connection) ?? size
    return try check(script, now, connection).survey(fileBytes: size, rewrittenBytes: rewritten)
  }

  /// What is in a store that code migrates, so that the rest is not known.
  static func survey(
    _ schema: ResolvedSchema, _ configuration: SQLiteStore.Configuration, path: String
  ) throws(StoreError) -> MigrationSurvey {
    let connection = try StoreInspection.connect(path, configuration)
    try connection.execute("BEGIN", while: task)
    defer { connection.rollBack() }
    let physical = try contents(FileContents(reading: connection), of: schema).physical
    let rows = try MigrationCheck.rows(
      of: physical, { quoted(physical.tableName(of: $0)) }, counting(connection))
    let size = try TableSizes.file(connection)
    return MigrationSurvey(
      rows: rows, obstacles: [], rewrittenTables: [], fileBytes: size, rewrittenBytes: size)
  }

  private static func counting(_ connection: Connection) -> MigrationCheck.Counting {
    { (piece) throws(StoreError) in
      Int(try connection.integer(piece.sql, piece.bindings, while: "Checking the rows to migrate") ?? 0)
    }
  }

  private func check(_ script: MigrationScript, _ now: Double, _ connection: Connection) -> MigrationCheck {
    MigrationCheck(script, now: now, Self.counting(connection))
  }

  /// What is in the file decides whether it is a store of the schema, and where the parts of that are.
  static func contents(_ file: FileContents, of schema: ResolvedSchema) throws(StoreError) -> StoreContents {
    let stored = file.versionHashes.keys
    let entities = stored.isEmpty ? Array(file.numbers?.keys ?? [:].keys) : Array(stored)
    let held = Set(entities.compactMap { schema.entity(named: $0)?.index })
    return try StoreContents(file, schema: schema, held: held)
  }

  private func script(
    _ file: FileContents, _ connection: Connection
  ) throws(StoreError) -> (MigrationScript, now: Double) {
    let contents = try Self.contents(file, of: source)
    if contents.isReadOnly {
      throw StoreError(.readOnly, "The store can't be migrated. " + (contents.notes.first ?? ""))
    }
    let new = PhysicalSchema(destination, numbers: PhysicalSchema.newNumbers(of: held))
    var lastKeys: [RootIndex: Int64] = [:]
    for (root, table) in contents.physical.tables {
      let number = contents.physical.numbers[root.entity]
      let given = try connection.integer(
        "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)], while: Self.task)
      let used = try connection.integer("SELECT MAX(Z_PK) FROM \(quoted(table.name))", while: Self.task)
      lastKeys[root] = max(given ?? 0, used ?? 0)
    }
    let moves = EntityMoves(migration, from: contents.physical, to: new, lastKeys: lastKeys)
    let now = Date().timeIntervalSinceReferenceDate
    return (MigrationScript(moves, SQLiteMigrationDialect(), now: now), now)
  }

  // MARK: Migrating

  /// - Returns: false if another process has migrated the store meanwhile.
  func run(path: String) throws(StoreError) -> Bool {
    guard let connection = try MigrationLock.take(path, configuration, pace, unless: isMigrated, begin) else {
      return false
    }
    defer { connection.rollBack() }
    return try migrate(connection, path)
  }

  /// Takes the only lock: no other connection may be open, because it would go on with the old numbers and columns.
  private func begin(_ connection: Connection) throws(StoreError) {
    try connection.execute(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF; PRAGMA cache_size = -65536; "
        + "PRAGMA legacy_alter_table = ON; PRAGMA cell_size_check = ON; BEGIN EXCLUSIVE", while: Self.task)
  }

  private func isMigrated(_ file: FileContents) -> Bool {
    (try? StoreContents(file, schema: destination, held: held)) != nil
  }

  private func migrate(_ connection: Connection, _ path: String) throws(StoreError) -> Bool {
    let file = try FileContents(reading: connection)
    if isMigrated(file) { return false }
    let (script, now) = try script(file, connection)
    try adoptStrays(script, connection)
    pace.begin(total: script.totalWeight)
    var obstacles: [MigrationObstacle] = []
    try pace.work(script.checkWeight, on: connection) { () throws(StoreError) in
      obstacles = try check(script, now, connection).obstacles()
    }
    try MigrationCheck.refuse(obstacles)
    try execute(script, file, connection, path)
    try pace.check()
    try connection.execute("COMMIT", while: Self.task)
    return true
  }

  /// Gives the rows of tables of one entity the entity's number.
  private func adoptStrays(_ script: MigrationScript, _ connection: Connection) throws(StoreError) {
    for (table, number) in script.strays {
      try connection.run(
        "UPDATE \(quoted(table)) SET Z_ENT = ?1 WHERE Z_ENT IS NOT ?1", [.integer(number)],
        while: "Migrating \(table)")
    }
  }

  private func execute(
    _ script: MigrationScript, _ file: FileContents, _ connection: Connection, _ path: String
  ) throws(StoreError) {
    let (old, new) = (script.moves.source, script.moves.destination)
    try dropDefinitions(of: old, file, connection)
    for (table, temporary) in script.renamed {
      try connection.execute(
        "ALTER TABLE \(quoted(table)) RENAME TO \(quoted(temporary))", while: "Migrating \(table)")
    }
    let definitions = try new.definitions()
    let written = Set(script.tables.filter { $0.kept == nil }.map(\.name))
    for definition in definitions where written.contains(definition.name) {
      try connection.execute(definition.sql, while: "Creating \(definition.name)")
    }
    for table in script.tables where table.kept == nil {
      for insert in table.inserts {
        try pace.work(script.weight(of: insert), upTo: insert.lastKey, on: connection) {
          () throws(StoreError) in
          try connection.run(
            insert.piece.sql, insert.piece.bindings, while: "Migrating the rows of \(table.name)")
        }
      }
    }
    try pace.work(script.completionWeight, on: connection) { () throws(StoreError) in
      try complete(script, file, connection, path, definitions)
    }
  }

  private func complete(
    _ script: MigrationScript, _ file: FileContents, _ connection: Connection, _ path: String,
    _ definitions: [PhysicalSchema.Definition]
  ) throws(StoreError) {
    for table in script.tables where table.kept == nil {
      for completion in table.completions {
        try connection.execute(completion, while: "Migrating the order of \(table.name)")
      }
    }
    try inline(script.inlined, connection, path)
    // No statement on the old tables may be left, or they can't be dropped.
    for (table, temporary) in script.renamed {
      try connection.execute("DROP TABLE \(quoted(temporary))", while: "Removing the old table \(table)")
    }
    for derived in try script.moves.destination.derivedColumns() {
      try connection.execute(derived.recomputation, while: "Computing \(derived.attribute)")
    }
    try define(definitions, except: Set(script.tables.map(\.name)), connection)
    try describe(script, file, connection)
  }

  // MARK: Indexes, triggers

  /// Drops what belongs to the old schema besides tables. Core Data's triggers are made anew.
  private func dropDefinitions(
    of old: PhysicalSchema, _ file: FileContents, _ connection: Connection
  ) throws(StoreError) {
    let tables = Set((old.tables.values.map(\.name) + old.joinTables.map(\.name)).map { $0.uppercased() })
    for trigger in file.triggers where tables.contains(trigger.table.uppercased()) {
      try connection.execute("DROP TRIGGER \(quoted(trigger.name))", while: Self.task)
    }
    for definition in (try? old.definitions()) ?? [] where !tables.contains(definition.name.uppercased()) {
      let kind =
        definition.sql.hasPrefix("CREATE VIRTUAL TABLE")
        ? "TABLE" : definition.sql.hasPrefix("CREATE TABLE") ? nil : "INDEX"
      guard let kind, !definition.sql.hasPrefix("CREATE TRIGGER") else { continue }
      try connection.execute("DROP \(kind) IF EXISTS \(quoted(definition.name))", while: Self.task)
    }
  }

  private func define(
    _ definitions: [PhysicalSchema.Definition], except tables: Set<String>, _ connection: Connection
  ) throws(StoreError) {
    for definition in definitions
    where !tables.contains(definition.name) && PhysicalSchema.bookkeeping[definition.name] == nil {
      // Another program may have made an index of this name.
      if definition.sql.hasPrefix("CREATE INDEX") || definition.sql.hasPrefix("CREATE UNIQUE INDEX") {
        try connection.execute("DROP INDEX IF EXISTS \(quoted(definition.name))", while: Self.task)
      }
      try connection.execute(definition.sql, while: "Creating \(definition.name)")
      if let filling = definition.filling {
        try connection.execute(filling, while: "Filling \(definition.name)")
      }
    }
  }

  // MARK: Values in files

  private func inline(
    _ list: [MigrationScript.Inlined], _ connection: Connection, _ path: String
  ) throws(StoreError) {
    guard !list.isEmpty else { return }
    let externals = ExternalStorage(storePath: path, files: try FileSystem(named: configuration.vfs))
    for item in list {
      var named: [(key: Int64, name: String)] = []
      try connection.forEachRow(item.select, while: Self.task) { statement in
        guard let start = sqlite3_column_blob(statement, 1) else { return }
        let count = Int(sqlite3_column_bytes(statement, 1))
        let cell = ExternalValue(cell: UnsafeRawBufferPointer(start: start, count: count))
        if case .file(let name)? = cell { named.append((sqlite3_column_int64(statement, 0), name)) }
      }
      for (key, name) in named {
        let value = Data(try externals.read(name))
        try connection.run(item.update, [.blob(value), .integer(key)], while: Self.task)
      }
    }
  }

  // MARK: The store's own tables

  private func describe(
    _ script: MigrationScript, _ file: FileContents, _ connection: Connection
  ) throws(StoreError) {
    let new = script.moves.destination
    try migrateHistory(script.moves, file, connection)
    // Higher numbers belong to the history.
    try connection.run("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT < 16001", while: Self.task)
    for entity in destination.entities where held.contains(entity.index) {
      let last = entity.isRoot ? script.moves.lastKeys[entity.root] ?? 0 : 0
      try connection.run(
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)",
        [
          .integer(new.numbers[entity.index]), .text(entity.source.name),
          .integer(entity.parent.map { new.numbers[$0] } ?? 0), .integer(last),
        ], while: Self.task)
    }
    let metadata = (file.metadata?.values ?? StoreMetadata())
      .migrated(to: MetadataTable.initial(for: destination, held: held))
    try MetadataTable.update(metadata, on: connection)
    if let modelCache {
      try ModelCacheTable.write(modelCache, on: connection)
    } else if file.hasModelCache {
      try ModelCacheTable.clear(on: connection)
    }
  }

  /// The changes of a history name entities by number and properties by bits. Both get the new model's numbers. Changes of
  /// removed entities get the number 0, and bits that the old model does not explain become those of all properties.
  private func migrateHistory(
    _ moves: EntityMoves, _ file: FileContents, _ connection: Connection
  ) throws(StoreError) {
    guard let columns = file.tables[HistoryTables.changes]?.columns, columns["ZENTITY"] != nil,
      columns["ZENTITYPK"] != nil
    else { return }
    if columns["ZCOLUMNS"] != nil { try migrateHistoryBits(moves, connection) }
    func choice(_ value: (EntityMoves.Move) -> String, _ otherwise: String) -> String {
      let cases = moves.moves.map { "WHEN \(moves.source.numbers[$0.source]) THEN \(value($0))" }
      return cases.isEmpty ? otherwise : "CASE ZENTITY \(cases.joined(separator: " ")) ELSE \(otherwise) END"
    }
    let number = choice({ "\(moves.destination.numbers[$0.destination])" }, "0")
    let key = choice({ "ZENTITYPK + \($0.offset)" }, "ZENTITYPK")
    try connection.execute(
      "UPDATE ACHANGE SET ZENTITY = \(number), ZENTITYPK = \(key)", while: Self.task)
  }

  /// A history has few different sets of bits, so each is translated once.
  private func migrateHistoryBits(_ moves: EntityMoves, _ connection: Connection) throws(StoreError) {
    var found: [(number: Int64, bits: [UInt8])] = []
    try connection.forEachRow(
      "SELECT DISTINCT ZENTITY, ZCOLUMNS FROM ACHANGE WHERE ZCOLUMNS IS NOT NULL", while: Self.task
    ) { statement in
      let bytes = UnsafeRawBufferPointer(
        start: sqlite3_column_blob(statement, 1), count: Int(sqlite3_column_bytes(statement, 1)))
      found.append((sqlite3_column_int64(statement, 0), Array(bytes)))
    }
    if found.isEmpty { return }
    try connection.execute(
      "CREATE TEMP TABLE cde_bits (number INTEGER, old BLOB, new BLOB, PRIMARY KEY (number, old))",
      while: Self.task)
    for (number, bits) in found {
      let new = moves.source.indexes[number].flatMap { moves.move(of: $0) }.map {
        translated(bits, $0, moves)
      }
      try connection.run(
        "INSERT INTO temp.cde_bits VALUES (?, ?, ?)",
        [.integer(number), .blob(Data(bits)), new.map { .blob(Data($0)) } ?? .null], while: Self.task)
    }
    try connection.execute(
      "UPDATE ACHANGE SET ZCOLUMNS = (SELECT new FROM temp.cde_bits WHERE number = ZENTITY AND old = ZCOLUMNS) "
        + "WHERE ZCOLUMNS IS NOT NULL; DROP TABLE temp.cde_bits", while: Self.task)
  }

  private func translated(_ bits: [UInt8], _ move: EntityMoves.Move, _ moves: EntityMoves) -> [UInt8] {
    let old = moves.source.schema.entities[move.source]
    let new = moves.destination.schema.entities[move.destination]
    let known = HistoryEntity(old, columns: moves.source.cellColumns[move.source])
    let wanted = HistoryEntity(new, columns: moves.destination.cellColumns[move.destination])
    guard let changed = bits.withUnsafeBytes({ known.decode($0) }) else {
      return wanted.encode(wanted.properties)
    }
    let names = Set(changed.map { old.layout.properties[$0].name })
    let slots = new.layout.properties.filter { property in
      move.properties[property.name]?.source.map(names.contains) ?? false
    }.map(\.slot)
    return wanted.encode(PropertySet(slots))
  }
}
