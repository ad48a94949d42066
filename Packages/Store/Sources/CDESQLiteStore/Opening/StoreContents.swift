import CDESQLite
import CDEStore
import Foundation

/// What an existing file holds, checked against a schema.
struct StoreContents {
  var physical: PhysicalSchema
  var identifier: String
  var metadata: StoreMetadata
  var isReadOnly = false
  var notes: [String] = []
  /// Triggers of Core Data's keep an R-tree, which this SQLite may call unsafe in an untrusted schema.
  var hasSpatialTriggers = false
  /// Derived attributes that no trigger of the file keeps.
  private(set) var unkept: [DerivedColumn] = []

  private struct Object {
    var type: String
    var table: String
    var sql: String
  }

  static func isEmpty(_ connection: Connection) throws(StoreError) -> Bool {
    try connection.integer("SELECT COUNT(*) FROM sqlite_master", while: "Reading the store") == 0
  }

  init(of connection: Connection, schema: ResolvedSchema, held: Set<Int>) throws(StoreError) {
    let objects = try Self.objects(of: connection)
    if objects.isEmpty {
      let name = sqlite3_db_filename(connection.handle, "main").map { String(cString: $0) } ?? "The file"
      throw StoreError(
        .unreadable,
        "\(name) is an SQLite file without tables, so it is no store, or has lost its log. Restore it with its "
          + "log from a backup, or name another file.")
    }
    for name in ["Z_METADATA", "Z_PRIMARYKEY"] {
      guard let object = objects[name], object.type == "table" else {
        throw StoreError(
          .unreadable, "The file is an SQLite file but no store: it has no table \(name). Name another file.")
      }
    }
    let (identifier, metadata) = try MetadataTable.read(connection)
    self.identifier = identifier
    self.metadata = metadata
    if case .integer(let version) = metadata.values[MetadataTable.hashesVersion], version > 3 {
      throw StoreError(
        .unreadable,
        "The store was written by a newer Core Data: its hashes have version \(version), 3 is known.")
    }
    let entities = schema.entities.filter { held.contains($0.index) }
    try Self.compareHashes(metadata, entities)
    physical = PhysicalSchema(schema, numbers: try Self.numbers(of: entities, connection))
    try reconcile(with: objects, connection)
    inspectTriggers(objects)
    let triggers = objects.keys.filter { $0.hasPrefix("trigger ") }.map { $0.dropFirst("trigger ".count) }
    unkept = try physical.derivedColumns().filter { derived in
      !triggers.contains { derived.isKept(by: String($0)) }
    }
  }

  /// Makes the triggers that are missing, and the values that they would have kept.
  func keepDerived(on connection: Connection) throws(StoreError) {
    if unkept.isEmpty || isReadOnly { return }
    let statements = unkept.flatMap { [$0.recomputation] + $0.triggers.map(\.sql) }
    do throws(StoreError) {
      try connection.execute(
        (["BEGIN IMMEDIATE"] + statements + ["COMMIT"]).joined(separator: "; "),
        while: "Adding the triggers of derived attributes")
    } catch {
      connection.rollBack()
      throw error
    }
  }

  private static func objects(of connection: Connection) throws(StoreError) -> [String: Object] {
    var result: [String: Object] = [:]
    try connection.forEachRow(
      "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_master WHERE type <> 'index'",
      while: "Reading the store"
    ) { statement in
      func text(_ column: Int32) -> String {
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
      }
      // A trigger may bear a table's name; it must not hide the table.
      let key = text(0) == "trigger" ? "trigger " + text(1) : text(1)
      result[key] = Object(type: text(0), table: text(2), sql: text(3))
    }
    return result
  }

  private static func numbers(
    of entities: [ResolvedSchema.Entity], _ connection: Connection
  ) throws(StoreError) -> [Int: Int64] {
    var numbers: [String: Int64] = [:]
    try connection.forEachRow("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY", while: "Reading the store") {
      guard let name = sqlite3_column_text($0, 1) else { return }
      numbers[String(cString: name)] = sqlite3_column_int64($0, 0)
    }
    var result: [Int: Int64] = [:]
    for entity in entities {
      guard let number = numbers[entity.source.name] else {
        throw StoreError(
          .incompatibleSchema,
          "The store has no entity \(entity.source.name). "
            + "Open it with the model it was made with, or make a new store and copy the objects.",
          entity: entity.source.name)
      }
      guard number > 0, !result.values.contains(number) else {
        throw StoreError(
          .unreadable, "The store numbers two entities alike, so it is damaged. Restore it from a backup.",
          entity: entity.source.name)
      }
      result[entity.index] = number
    }
    return result
  }

  private static func compareHashes(
    _ metadata: StoreMetadata, _ entities: [ResolvedSchema.Entity]
  ) throws(StoreError) {
    guard case .dictionary(let stored) = metadata.values[MetadataTable.hashes], !stored.isEmpty,
      entities.allSatisfy({ !$0.source.versionHash.isEmpty })
    else { return }
    var differing: [String] = []
    for entity in entities
    where stored[entity.source.name] != .data(entity.source.versionHash) {
      differing.append(entity.source.name)
    }
    let known = Set(entities.map(\.source.name))
    differing += stored.keys.filter { !known.contains($0) }
    if !differing.isEmpty {
      differing.sort()
      throw StoreError(
        .incompatibleSchema,
        "The store was made with another version of the model; these entities differ: "
          + "\(differing.joined(separator: ", ")). Open it with the model it was made with, or make a new store and "
          + "copy the objects.",
        entity: differing[0])
    }
  }

  // MARK: Names

  private func columns(of table: String, _ connection: Connection) throws(StoreError) -> [String: Bool] {
    var result: [String: Bool] = [:]
    try connection.forEachRow(
      "SELECT name, upper(type) = 'INTEGER' AND pk = 1 FROM pragma_table_xinfo(?) WHERE hidden = 0",
      [.text(table)], while: "Reading the store"
    ) { statement in
      guard let name = sqlite3_column_text(statement, 0) else { return }
      result[String(cString: name)] = sqlite3_column_int(statement, 1) == 1
    }
    return result
  }

  private func isTable(_ name: String, _ objects: [String: Object]) -> Bool {
    guard let object = objects[name], object.type == "table" else { return false }
    return !object.sql.uppercased().hasPrefix("CREATE VIRTUAL")
  }

  private mutating func reconcile(
    with objects: [String: Object], _ connection: Connection
  ) throws(StoreError) {
    for (root, table) in physical.tables {
      let entity = physical.schema.entities[root].source.name
      guard isTable(table.name, objects) else {
        throw Self.incompatible("The store has no table for \(entity).", entity, [])
      }
      let columns = try columns(of: table.name, connection)
      guard columns["Z_PK"] == true, columns["Z_ENT"] != nil, columns["Z_OPT"] != nil else {
        throw Self.incompatible("The table of \(entity) lacks Core Data's own columns.", entity, [])
      }
      for column in table.columns where columns[column.name] == nil {
        let owner = physical.schema.entities[column.declaringEntity].source.name
        throw Self.incompatible(
          "The store has no column \(column.name) for \(owner).\(column.property).", owner, [column.property])
      }
    }
    for index in physical.joinTables.indices {
      physical.joinTables[index] = try reconciled(physical.joinTables[index], objects, connection)
    }
    physical.index()
  }

  /// Which of two relationships of an entity names their table is not known, so both names are tried.
  private func reconciled(
    _ expected: JoinTable, _ objects: [String: Object], _ connection: Connection
  ) throws(StoreError) -> JoinTable {
    let owner = physical.schema.entities[expected.naming.entity].source.name
    var table = expected
    if !isTable(table.name, objects) { table.name = table.alternativeName }
    guard isTable(table.name, objects) else {
      throw Self.incompatible(
        "The store has no table for \(owner).\(expected.naming.property).", owner,
        [expected.naming.property])
    }
    let columns = Set(try columns(of: table.name, connection).keys)
    for name in [table.first, table.second, table.firstOrder, table.secondOrder].compactMap({ $0 })
    where !columns.contains(name) {
      throw Self.incompatible(
        "The table \(table.name) of \(owner).\(expected.naming.property) has no column \(name).", owner,
        [expected.naming.property])
    }
    return table
  }

  private static func incompatible(
    _ reason: String, _ entity: String, _ properties: [String]
  ) -> StoreError {
    StoreError(
      .incompatibleSchema,
      reason + " Migrate the store, or open it with the model it was made with.",
      entity: entity, properties: properties)
  }

  // MARK: Triggers

  /// Core Data's own triggers are known by their names and run over the functions registered here. Any other
  /// could change what a save means, so a store that has one is only read.
  private mutating func inspectTriggers(_ objects: [String: Object]) {
    let ours = Set(
      physical.tables.values.map(\.name) + physical.joinTables.map(\.name)
        + ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    ).map { $0.uppercased() }
    for (key, object) in objects where object.type == "trigger" {
      let name = String(key.dropFirst("trigger ".count))
      guard ours.contains(object.table.uppercased()) else { continue }
      if name.hasPrefix("Z_RT_") { hasSpatialTriggers = true }
      if ["Z_DA_", "Z_RT_", "ZT_"].contains(where: { name.hasPrefix($0) }) { continue }
      isReadOnly = true
      notes.append(
        "The table \(object.table) has a trigger \(name) that is not Core Data's, so the store was "
          + "opened for reading only. Drop the trigger to write.")
    }
    notes.sort()
  }
}
