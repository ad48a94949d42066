@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore
import Foundation

/// Records one transaction in the history, inside the SQLite transaction that writes it.
final class HistoryWriter {
  /// A row within the schema. Keys are unique in the tree of a root entity.
  private struct Row: Hashable {
    var root: RootIndex
    var key: Int64
  }

  private let tables: HistoryTables
  private let plans: SchemaPlans
  private let connection: Connection
  /// The preserved values of deleted rows.
  private var tombstones: [Row: [StoreValue]] = [:]
  /// Changed properties besides those of written rows, by row: the entity in whose layout the slots are.
  private var touches: [Row: [(entity: EntityIndex, properties: PropertySet)]] = [:]
  /// The number of the recorded transaction; 0 if nothing was recorded.
  private(set) var transaction: Int64 = 0
  private var lastChange: Int64 = 0
  private var encoded: (entity: EntityIndex, properties: PropertySet, bytes: [UInt8])?
  private var run = Run()

  /// Changes of one kind that follow each other, and are written by one statement.
  private struct Run {
    var kind = StoreHistoryChange.Kind.inserted
    var entity: EntityIndex = 0
    var properties = PropertySet()
    var keys: [Int64] = []

    static let longest = 4096
  }

  private static let task = "Recording the history"
  private static let processName = ProcessInfo.processInfo.processName
  private static let bundleIdentifier = Bundle.main.bundleIdentifier ?? processName

  /// - Returns: nil if the store records no history.
  init?(_ plans: SchemaPlans, _ connection: Connection) {
    guard plans.recordsHistory, let tables = plans.history else { return nil }
    self.tables = tables
    self.plans = plans
    self.connection = connection
  }

  private func row(_ entity: EntityIndex, _ key: Int64) -> Row {
    Row(root: plans.schema.entities[entity].root, key: key)
  }

  // MARK: Before rows are deleted

  /// Reads the values of a row that the history preserves. Costs nothing for entities without such attributes.
  func preserve(_ entity: EntityIndex, key: Int64) throws(StoreError) {
    let preserved = tables.entities[entity].preserved
    if preserved.isEmpty { return }
    let columns = preserved.map { quoted($0.column) }.joined(separator: ", ")
    var values: [StoreValue] = []
    try connection.forEachRow(
      "SELECT \(columns) FROM \(quoted(plans.physical.tableName(of: entity))) WHERE Z_PK = ?",
      [.integer(key)],
      while: Self.task
    ) { statement in
      values = preserved.indices.map { StoreValue(column: Int32($0), of: statement) }
    }
    tombstones[row(entity, key)] = values
  }

  // MARK: Recording

  /// Records a transaction whose rows are written.
  ///
  /// - Parameters:
  ///   - transaction: the transaction.
  ///   - links: the links of the transaction that were written.
  ///   - permanent: the key that a row of the transaction has now.
  func record(
    _ transaction: StoreTransaction, _ links: [LinkChange], permanent: (Int64, RootIndex) -> Int64
  ) throws(StoreError) {
    for touch in transaction.touched { note(touch.entity, touch.key, touch.properties, permanent) }
    for link in links {
      note(link.entity, link.owner, [link.slot], permanent)
      let end = plans.schema.end(of: link.slot, in: link.entity)
      if let inverse = end.inverseSlot { note(end.destination, link.member, [inverse], permanent) }
    }
    noteDerived()
    let isEmpty =
      transaction.inserted.allSatisfy { $0.count == 0 }
      && transaction.updated.allSatisfy { $0.batch.count == 0 }
      && transaction.deleted.isEmpty
    if isEmpty, touches.isEmpty { return }
    try begin(author: transaction.author, contextName: transaction.contextName)
    for batch in transaction.inserted {
      let (entity, root) = (batch.layout.entity, batch.layout.root)
      for index in 0..<batch.count { try add(.inserted, entity, key: permanent(batch.key(index), root)) }
      if touches.isEmpty { continue }
      for index in 0..<batch.count {
        touches[Row(root: root, key: permanent(batch.key(index), root))] = nil
      }
    }
    for update in transaction.updated {
      let entity = update.batch.layout.entity
      for index in 0..<update.batch.count {
        try insertUpdate(of: entity, key: update.batch.key(index), update.changed[index])
      }
    }
    for deletion in transaction.deleted { try insertDeletion(of: deletion.entity, key: deletion.key) }
    try end()
  }

  /// Records an insertion whose rows are written.
  ///
  /// - Parameter base: the last key that was assigned before.
  func record(_ insertion: StoreInsertion, after base: Int64) throws(StoreError) {
    if insertion.count == 0 { return }
    try begin(author: insertion.author, contextName: insertion.contextName)
    for index in 0..<insertion.count { try add(.inserted, insertion.entity, key: base + 1 + Int64(index)) }
    try end()
  }

  /// Records a batch whose changes are written.
  func record(_ batch: StoreBatch, _ result: StoreBatchResult) throws(StoreError) {
    for change in result.nullified { note(change.row.entity, change.row.key, [change.slot]) }
    for change in result.touched { note(change.row.entity, change.row.key, [change.slot]) }
    noteDerived()
    if result.rows.isEmpty { return }
    switch batch {
    case .update(let update):
      try begin(author: update.author, contextName: update.contextName)
      var changed: [EntityIndex: PropertySet] = [:]
      for (index, values) in update.values.enumerated() {
        let computed = update.computed.isEmpty ? [] : update.computed[index].map(\.slot)
        changed[values.batch.layout.entity] = values.changed[0].union(PropertySet(computed))
      }
      for row in result.rows { try insertUpdate(of: row.entity, key: row.key, changed[row.entity] ?? []) }
    case .delete(let delete):
      try begin(author: delete.author, contextName: delete.contextName)
      for row in result.rows + result.cascaded { try insertDeletion(of: row.entity, key: row.key) }
    }
    try end()
  }

  private func note(
    _ entity: EntityIndex, _ key: Int64, _ properties: PropertySet, _ permanent: (Int64, RootIndex) -> Int64
  ) {
    note(entity, permanent(key, plans.schema.entities[entity].root), properties)
  }

  private func note(_ entity: EntityIndex, _ key: Int64, _ properties: PropertySet) {
    touches[row(entity, key), default: []].append((entity, properties))
  }

  /// Triggers report rows, and not which of their derived attributes changed.
  private func noteDerived() {
    guard plans.physical.hasDerivedColumns else { return }
    for (number, keys) in connection.derived.keys() {
      guard let entity = plans.physical.indexes[number], !tables.entities[entity].computed.isEmpty else {
        continue
      }
      for key in keys { note(entity, key, tables.entities[entity].computed) }
    }
  }

  /// The noted properties of a row, which is then recorded, in the layout of its concrete entity.
  private func takeTouches(_ row: Row, of entity: EntityIndex) -> PropertySet {
    guard let noted = touches.removeValue(forKey: row) else { return [] }
    var result = PropertySet()
    let layout = plans.schema.entities[entity].layout
    for (other, properties) in noted {
      if other == entity {
        result.formUnion(properties)
        continue
      }
      let names = plans.schema.entities[other].layout.properties
      for slot in properties {
        if let own = layout.slot(named: names[slot].name) { result.insert(own) }
      }
    }
    return result
  }

  // MARK: Rows of the history

  /// Numbers the transaction and writes its row.
  private func begin(author: String?, contextName: String?) throws(StoreError) {
    // The counters are valid, unless another writer inserted rows without raising them.
    try connection.forEachRow(
      "SELECT max(ifnull((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001), 0), "
        + "ifnull((SELECT max(Z_PK) FROM ACHANGE), 0)), "
        + "max(ifnull((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16002), 0), "
        + "ifnull((SELECT max(Z_PK) FROM ATRANSACTION), 0))", while: Self.task
    ) { statement in
      lastChange = sqlite3_column_int64(statement, 0)
      transaction = sqlite3_column_int64(statement, 1) + 1
    }
    let texts = [author, Self.bundleIdentifier, contextName, Self.processName]
    var values: [StoreValue] = []
    for text in texts {
      guard let text else {
        values.append(.null)
        continue
      }
      values.append(tables.hasStrings ? .integer(try number(of: text)) : .text(text))
    }
    let columns = HistoryTables.textColumns.map { tables.hasStrings ? $0 + "TS" : $0 }.joined(separator: ", ")
    try connection.run(
      "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, \(columns)) VALUES (?, 16002, ?, ?, ?, ?, ?)",
      [.integer(transaction), .real(Date().timeIntervalSinceReferenceDate)] + values, while: Self.task)
  }

  /// The number of a text in the table of strings, which is added if it is not there.
  private func number(of text: String) throws(StoreError) -> Int64 {
    if let known = connection.historyStrings[text] { return known }
    let select = "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?"
    var number = try connection.integer(select, [.text(text)], while: Self.task)
    if number == nil {
      let last = try connection.integer(
        "SELECT max(ifnull((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16003), 0), "
          + "ifnull((SELECT max(Z_PK) FROM ATRANSACTIONSTRING), 0))", while: Self.task)
      number = (last ?? 0) + 1
      try connection.run(
        "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, 16003, ?)",
        [.integer(number!), .text(text)], while: Self.task)
      try connection.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = 16003", [.integer(number!)], while: Self.task)
    }
    connection.historyStrings[text] = number
    return number!
  }

  /// Writes what is noted besides written rows, and raises the counters.
  private func end() throws(StoreError) {
    let names = plans.schema.entities
    for row in touches.keys.sorted(by: { ($0.root, $0.key) < ($1.root, $1.key) }) {
      guard let entity = try concreteEntity(of: row) else { continue }
      let properties = takeTouches(row, of: entity)
      guard names.indices.contains(entity), !properties.isEmpty else { continue }
      try add(.updated, entity, properties, key: row.key)
    }
    touches = [:]
    try writeRun()
    try connection.run(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_ENT WHEN 16001 THEN ? ELSE ? END WHERE Z_ENT IN (16001, 16002)",
      [.integer(lastChange), .integer(transaction)], while: Self.task)
  }

  /// The entity of a row that the transaction did not write; nil if there is none.
  private func concreteEntity(of row: Row) throws(StoreError) -> EntityIndex? {
    let number = try connection.integer(
      "SELECT Z_ENT FROM \(quoted(plans.physical.tableName(of: row.root))) WHERE Z_PK = ?",
      [.integer(row.key)],
      while: Self.task)
    return number.flatMap { plans.physical.indexes[$0] }
  }

  private func insertUpdate(of entity: EntityIndex, key: Int64, _ changed: PropertySet) throws(StoreError) {
    var properties = changed
    if !touches.isEmpty { properties.formUnion(takeTouches(row(entity, key), of: entity)) }
    try add(.updated, entity, properties, key: key)
  }

  private func insertDeletion(of entity: EntityIndex, key: Int64) throws(StoreError) {
    let row = row(entity, key)
    touches[row] = nil
    guard let values = tombstones[row] else { return try add(.deleted, entity, key: key) }
    try writeRun()
    lastChange += 1
    let columns = values.indices.map { ", ZTOMBSTONE\($0)" }.joined()
    let marks = values.map { _ in ", ?" }.joined()
    try connection.run(
      "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID\(columns)) "
        + "VALUES (?, 16001, 2, ?, ?, ?\(marks))",
      [
        .integer(lastChange), .integer(plans.physical.numbers[entity]), .integer(key), .integer(transaction),
      ] + values, while: Self.task)
  }

  /// Adds the change of a row. It is written with its run.
  private func add(
    _ kind: StoreHistoryChange.Kind, _ entity: EntityIndex, _ properties: PropertySet = [], key: Int64
  ) throws(StoreError) {
    if run.keys.count == Run.longest || run.kind != kind || run.entity != entity
      || run.properties != properties
    {
      try writeRun()
      (run.kind, run.entity, run.properties) = (kind, entity, properties)
    }
    run.keys.append(key)
  }

  /// The statements that write one change or a list of them, with or without the changed columns. The row numbers of a list
  /// begin at 1.
  private static func statement(isList: Bool, hasBits: Bool) -> String {
    let columns = hasBits ? ", ZCOLUMNS" : ""
    let bits = hasBits ? ", ?6" : ""
    let head =
      "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID\(columns)) "
    return isList
      ? head + "SELECT ?1 + rowid, 16001, ?2, ?3, value, ?4\(bits) FROM \(ListTable.name)(?5)"
      : head + "VALUES (?1 + 1, 16001, ?2, ?3, ?5, ?4\(bits))"
  }

  private static let one = (
    bare: statement(isList: false, hasBits: false), full: statement(isList: false, hasBits: true)
  )
  private static let many = (
    bare: statement(isList: true, hasBits: false), full: statement(isList: true, hasBits: true)
  )

  private func writeRun() throws(StoreError) {
    guard let first = run.keys.first else { return }
    let isList = run.keys.count > 1
    var values: [StoreValue] = [
      .integer(lastChange), .integer(run.kind.rawValue), .integer(plans.physical.numbers[run.entity]),
      .integer(transaction), isList ? .blob(ListBytes.encoded(run.keys)) : .integer(first),
    ]
    let hasBits = run.kind == .updated && tables.hasColumns
    if hasBits { values.append(.blob(Data(bits(of: run.properties, in: run.entity)))) }
    let statements = isList ? Self.many : Self.one
    try connection.run(hasBits ? statements.full : statements.bare, values, while: Self.task)
    lastChange += Int64(run.keys.count)
    run.keys.removeAll(keepingCapacity: true)
  }

  private func bits(of properties: PropertySet, in entity: EntityIndex) -> [UInt8] {
    if let encoded, encoded.entity == entity, encoded.properties == properties { return encoded.bytes }
    let bytes = tables.entities[entity].encode(properties)
    encoded = (entity, properties, bytes)
    return bytes
  }
}
