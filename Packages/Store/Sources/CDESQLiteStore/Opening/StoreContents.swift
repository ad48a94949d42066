@_spi(CDE) import CDESQL
import CDEStore

/// The contents of a file that is a store of a schema: the places in the file of the schema's parts.
struct StoreContents {
  var physical: PhysicalSchema
  var identifier: String
  var metadata: StoreMetadata
  var isReadOnly = false
  var notes: [String] = []
  /// Whether Core Data's triggers update an R-tree. This SQLite may treat that as unsafe in an untrusted
  /// schema.
  var hasSpatialTriggers = false
  /// The tables of the file's history; nil if it has none.
  private(set) var history: HistoryTables?
  /// Whether the file has all that is needed to record a history.
  private var hasWholeHistory = false
  /// Derived attributes that no trigger of the file updates.
  private(set) var unkept: [DerivedColumn] = []

  /// Checks the contents of a file. Reads nothing else.
  ///
  /// - Throws: `.unreadable` for a file that is no store, or is newer; `.incompatibleSchema` for a store of
  ///   another schema, with the entity and the properties that differ.
  init(_ file: FileContents, schema: ResolvedSchema, held: Set<EntityIndex>) throws(StoreError) {
    if file.isEmpty {
      throw StoreError(
        .unreadable,
        "\(file.path ?? "The file") is an SQLite file without tables, so it is no store, or has lost its log. "
          + "Restore it with its log from a backup, or name another file.")
    }
    guard let metadata = file.metadata else { throw Self.noStore("Z_METADATA") }
    guard let stored = file.numbers else { throw Self.noStore("Z_PRIMARYKEY") }
    identifier = metadata.identifier
    self.metadata = metadata.values
    if let version = file.hashesVersion, version > 3 {
      throw StoreError(
        .unreadable,
        "The store was written by a newer Core Data: its hashes have version \(version), 3 is known.")
    }
    let entities = schema.entities.filter { held.contains($0.index) }
    try Self.compareHashes(file.versionHashes, entities)
    physical = PhysicalSchema(
      schema, numbers: try Self.numbers(of: entities, stored, hashes: file.versionHashes))
    try reconcile(with: file.tables)
    if file.hasLostMetadata {
      isReadOnly = true
      notes.append(
        "Z_METADATA.Z_PLIST has no property list. The tables fit the model, so the store is opened for reading only. Copy it with "
          + "salvage to write to it.")
    }
    inspect(file.triggers)
    inspect(file.unwritable)
    history = HistoryTables(file.tables, physical)
    hasWholeHistory = HistoryTables.isComplete(file, physical)
    physical.foreign.removeAll { derivation in
      file.triggers.contains { derivation.isKept(by: $0.name) }
    }
    unkept = try physical.derivedColumns().filter { derived in
      !file.triggers.contains { derived.isKept(by: $0.name) }
    }
  }

  private static func noStore(_ table: String) -> StoreError {
    StoreError(
      .unreadable, "The file is an SQLite file but no store: it has no table \(table). Name another file.")
  }

  /// Makes missing triggers, and computes the values that these triggers would have updated.
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

  /// Makes what the file lacks to record a history.
  mutating func keepHistory(on connection: Connection) throws(StoreError) {
    if hasWholeHistory || isReadOnly { return }
    do throws(StoreError) {
      try connection.execute("BEGIN IMMEDIATE", while: "Adding a history to the store")
      // Another process may have added it meanwhile.
      let found = try FileContents(reading: connection)
      if !HistoryTables.isComplete(found, physical) {
        try HistoryTables.complete(found.tables, physical, on: connection)
      }
      try connection.execute("COMMIT", while: "Adding a history to the store")
    } catch {
      connection.rollBack()
      throw error
    }
    history = HistoryTables(try FileContents(reading: connection).tables, physical)
    hasWholeHistory = true
  }

  /// Opens a store with a history for reading only, because the commits would be missing in it.
  mutating func refuseUnrecordedCommits() {
    guard history != nil, !isReadOnly else { return }
    isReadOnly = true
    notes.append(
      "The store has a history, and was opened without NSPersistentHistoryTrackingKey, so it was opened for reading "
        + "only. Set the option to write.")
  }

  private static func numbers(
    of entities: [ResolvedSchema.Entity], _ stored: [String: Int64], hashes: [String: StoreMetadata.Value]
  ) throws(StoreError) -> [EntityIndex: Int64] {
    var result: [EntityIndex: Int64] = [:]
    let names = Set(entities.map(\.source.name))
    let strangers = Set(stored.filter { !names.contains($0.key) }.values)
    let expected = PhysicalSchema.newNumbers(of: Set(entities.map(\.index)))
    for entity in entities {
      // A migration of Core Data may leave an entity's old name beside its number. The metadata has the new name.
      let renamed = expected[entity.index].flatMap { number in
        hashes[entity.source.name] != nil && strangers.contains(number) ? number : nil
      }
      guard let number = stored[entity.source.name] ?? renamed else {
        // The metadata says that the store has the entity, so no migration would bring its number back.
        if hashes[entity.source.name] != nil, !entity.source.versionHash.isEmpty {
          throw StoreError(
            .unreadable,
            "Z_PRIMARYKEY has no row with the Z_NAME \(entity.source.name), which is among the entities in "
              + "Z_METADATA.Z_PLIST, so the store is damaged. Restore it from a backup, or copy what can be read with "
              + "salvage.", entity: entity.source.name)
        }
        throw StoreError(
          .incompatibleSchema,
          "The store has no entity \(entity.source.name). "
            + "Migrate the store, or open it with the model it was made with.",
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
    _ stored: [String: StoreMetadata.Value], _ entities: [ResolvedSchema.Entity]
  ) throws(StoreError) {
    guard !stored.isEmpty,
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
          + "\(differing.joined(separator: ", ")). Migrate the store, or open it with the model it was made with.",
        entity: differing[0])
    }
  }

  // MARK: Names

  private mutating func reconcile(with tables: [String: FileContents.Table]) throws(StoreError) {
    for (root, table) in physical.tables {
      let entity = physical.schema.entities[root.entity].source.name
      guard let columns = tables[table.name]?.columns else {
        throw Self.incompatible("The store has no table \(table.name) for \(entity).", entity, [])
      }
      guard columns["Z_PK"]?.isKey == true, columns["Z_ENT"] != nil, columns["Z_OPT"] != nil else {
        throw Self.incompatible("The table of \(entity) lacks Core Data's own columns.", entity, [])
      }
      for column in table.columns where columns[column.name] == nil {
        let owner = physical.schema.entities[column.declaringEntity].source.name
        throw Self.incompatible(
          "The store has no column \(column.name) for \(owner).\(column.property).", owner, [column.property])
      }
    }
    for index in physical.joinTables.indices {
      physical.joinTables[index] = try reconciled(physical.joinTables[index], tables)
    }
    physical.index()
  }

  /// It is not known which of two relationships of an entity names their table, so both names are tried.
  private func reconciled(
    _ expected: JoinTable, _ tables: [String: FileContents.Table]
  ) throws(StoreError) -> JoinTable {
    let owner = physical.schema.entities[expected.naming.entity].source.name
    var table = expected
    if tables[table.name] == nil { table.name = table.alternativeName }
    if tables[table.name] == nil {
      // No other table has columns that are named after both relationships.
      let fitting = tables.filter {
        $0.value.columns[table.first] != nil && $0.value.columns[table.second] != nil
      }
      if !table.isReflexive, fitting.count == 1, let only = fitting.first { table.name = only.key }
    }
    guard let columns = tables[table.name]?.columns else {
      throw Self.incompatible(
        "The store has no table \(expected.name) for \(owner).\(expected.naming.property).", owner,
        [expected.naming.property])
    }
    table.adoptColumns(columns.keys, physical.numbers)
    for name in [table.first, table.second, table.firstOrder, table.secondOrder].compactMap({ $0 })
    where columns[name] == nil {
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

  private var ownTables: Set<String> {
    let names =
      physical.tables.values.map(\.name) + physical.joinTables.map(\.name)
      + ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    return Set(names.map { $0.uppercased() })
  }

  /// A store that can't be written as a whole is opened for reading only: a save would fail in its midst.
  private mutating func inspect(_ unwritable: [String: String]) {
    let own = ownTables
    for (table, reason) in unwritable where own.contains(table.uppercased()) {
      isReadOnly = true
      notes.append("\(reason) The store was opened for reading only.")
    }
    notes.sort()
  }

  /// Core Data's own triggers are recognised by their names and call the functions registered here. Other
  /// triggers could change the effect of a save, so a store with such a trigger is opened for reading only.
  private mutating func inspect(_ triggers: [FileContents.Trigger]) {
    let ours = ownTables
    for trigger in triggers where ours.contains(trigger.table.uppercased()) {
      let name = trigger.name
      if name.hasPrefix("Z_RT_") { hasSpatialTriggers = true }
      if trigger.isCoreDatas { continue }
      isReadOnly = true
      notes.append(
        "The table \(trigger.table) has a trigger \(name) that is not Core Data's, so the store was "
          + "opened for reading only. Drop the trigger to write.")
    }
    notes.sort()
  }
}
