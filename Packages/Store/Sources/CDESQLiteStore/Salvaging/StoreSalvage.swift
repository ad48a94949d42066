@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// Copies the rows of a damaged file into a new store.
struct StoreSalvage {
  let schema: ResolvedSchema
  private let held: Set<EntityIndex>
  var file: DamagedFile
  /// The places of the schema's parts in the damaged file and in the new store.
  let old: PhysicalSchema
  let new: PhysicalSchema
  /// Entities by their numbers in the damaged file.
  private let entities: [Int64: EntityIndex]
  var report: SalvageReport
  /// The compressed copy of the model in the damaged file; nil if it is lost.
  let modelCache: [UInt8]?
  /// The names of the files with external values.
  private let externals: Set<String>

  init(
    path: String, destination: String, schema: ResolvedSchema, held: Set<EntityIndex>, files: FileSystem
  ) throws(StoreError) {
    var file = try DamagedFile(at: path, in: files)
    self.schema = schema
    self.held = held
    var numbers = PhysicalSchema.newNumbers(of: held)
    new = PhysicalSchema(schema, numbers: numbers)
    report = SalvageReport(path: path, destination: destination, pageCount: file.pages.count)
    report.notes = file.pages.notes
    var stored: [String: Int64] = [:]
    for row in file.rows(of: .keys) {
      if case .text(let name)? = row["Z_NAME"], case .integer(let number)? = row["Z_ENT"] {
        stored[name] = number
      }
    }
    for index in held {
      if let number = stored[schema.entities[index].source.name], number > 0 { numbers[index] = number }
    }
    if Set(numbers.values).count < numbers.count { numbers = PhysicalSchema.newNumbers(of: held) }
    var old = PhysicalSchema(schema, numbers: numbers)
    for index in old.joinTables.indices {
      var table = old.joinTables[index]
      if file.definitions[table.name] == nil, file.definitions[table.alternativeName] != nil {
        table.name = table.alternativeName
      }
      table.adoptColumns(file.definitions[table.name]?.columns ?? [], old.numbers)
      old.joinTables[index] = table
    }
    self.old = old
    entities = Dictionary(numbers.map { ($1, $0) }) { first, _ in first }
    externals = Set(ExternalStorage(storePath: path, files: files).names())
    modelCache = file.modelCache
    self.file = file
  }

  /// Fills a new store, which has the tables and no rows.
  ///
  /// - Precondition: triggers are switched off on the connection.
  mutating func run(on connection: Connection) throws(StoreError) {
    let roots = old.tables.keys.sorted { old.tableName(of: $0) < old.tableName(of: $1) }
    for root in roots { try copyRows(of: root, on: connection) }
    for (source, target) in zip(old.joinTables, new.joinTables) {
      try copyPairs(source, target, on: connection)
    }
    try removeReferences(on: connection)
    for derived in try new.derivedColumns() {
      try connection.run(derived.recomputation, while: "Computing derived attributes")
    }
    try setCounters(on: connection)
    try setMetadata(on: connection)
    report.damages = file.damages
    report.tables.sort { $0.name < $1.name }
    addNotes()
  }

  // MARK: Rows of entities

  /// Where a column of the new store comes from.
  private struct Cell {
    /// The place in a record of the damaged file; nil for a column that the file lacks.
    var place: Int?
    /// The column; nil for those that each table has.
    var column: PhysicalSchema.Column?
    /// Whether the value is the number of an entity.
    var isEntity: Bool
  }

  private mutating func copyRows(of root: RootIndex, on connection: Connection) throws(StoreError) {
    guard let source = old.tables[root], let target = new.tables[root] else { return }
    let modelColumns = ["Z_PK", "Z_ENT", "Z_OPT"] + source.columns.map(\.name)
    let defined = definedColumns(of: source.name, modelColumns)
    let columns = defined ?? modelColumns
    let cells =
      [
        Cell(place: columns.firstIndex(of: "Z_ENT"), column: nil, isEntity: true),
        Cell(place: columns.firstIndex(of: "Z_OPT"), column: nil, isEntity: false),
      ]
      + source.columns.map { column in
        Cell(
          place: columns.firstIndex(of: column.name), column: column,
          isEntity: column.source == .property(leaf: 0, role: .entity))
      }
    let insert =
      "INSERT INTO \(quoted(target.name)) (Z_PK, Z_ENT, Z_OPT"
      + target.columns.map { ", " + quoted($0.name) }.joined() + ") VALUES (?"
      + String(repeating: ", ?", count: cells.count) + ")"
    var entry = SalvageReport.Table(name: target.name)
    let subtree = schema.entities[root.entity].subtree
    var seen: Set<Int64> = []
    let owned = file.leaves[source.name] ?? []
    // Whole pages first: of two rows with one key the first counts.
    let leaves =
      owned.map { ($0, true) }
      + (file.definitions[source.name] == nil ? file.leaves.values.flatMap { $0 } : []).map { ($0, false) }
      + file.strays.map { ($0, false) }
    var later: [(key: Int64, record: DamagedRecord)] = []
    for (page, isOwned) in leaves {
      var found: [(key: Int64, record: DamagedRecord, isDoubtful: Bool)] = []
      var lost: [Int64] = []
      try file.forEachRow(of: page) { (key, record, isDoubtful) throws(StoreError) in
        guard let record else { return lost.append(key) }
        let values = record.values
        guard values.count > 1, values.count <= columns.count,
          defined != nil || values.count == columns.count,
          case .null = values[0], case .integer(let number) = values[1], let entity = entities[number],
          subtree.contains(entity)
        else {
          if isOwned { lost.append(key) }
          return
        }
        found.append((key, record, isDoubtful))
      }
      if isOwned {
        for key in lost {
          report.losses.append(
            .init(table: source.name, key: key, reason: "page \(page), or one of a long value, is damaged"))
        }
      }
      for row in found {
        if row.isDoubtful {
          later.append((row.key, row.record))
        } else {
          try write(row.key, row.record, cells, insert, source, &entry, &seen, on: connection)
        }
      }
    }
    for (key, record) in later where !seen.contains(key) {
      let before = entry.rows
      try write(key, record, cells, insert, source, &entry, &seen, on: connection)
      if entry.rows > before { entry.doubtfulKeys.append(key) }
    }
    report.tables.append(entry)
  }

  /// The columns of a table by its definition; nil if that is lost, or lacks a column that the model has.
  private mutating func definedColumns(of table: String, _ modelColumns: [String]) -> [String]? {
    if let found = file.definitions[table]?.columns, Set(modelColumns).isSubset(of: found) { return found }
    report.notes.append(
      "The definition of the table \(table) is lost or damaged. Its columns were taken in the order of the model."
    )
    return nil
  }

  private mutating func write(
    _ key: Int64, _ record: DamagedRecord, _ cells: [Cell], _ insert: String, _ source: PhysicalSchema.Table,
    _ entry: inout SalvageReport.Table, _ seen: inout Set<Int64>,
    on connection: Connection
  ) throws(StoreError) {
    func refuse(_ reason: String) {
      report.losses.append(.init(table: source.name, key: key, reason: reason))
    }
    guard key > 0 else { return refuse("keys begin at 1") }
    guard seen.insert(key).inserted else { return refuse("another row has the same key") }
    var bindings: [StoreValue] = [.integer(key)]
    for cell in cells {
      var value = cell.place.flatMap { $0 < record.values.count ? record.values[$0] : nil } ?? .null
      if cell.isEntity, case .integer(let number) = value {
        value = entities[number].map { .integer(new.numbers[$0]) } ?? .null
      }
      if let column = cell.column, case .blob(let bytes) = value, let name = missingFile(column, bytes) {
        report.losses.append(
          .init(table: source.name, key: key, column: column.name, reason: "the file \(name) is missing"))
        value = .null
      }
      bindings.append(value)
    }
    do throws(StoreError) {
      try connection.run(insert, bindings, while: "Copying the row \(key) of \(source.name)")
      entry.rows += 1
    } catch {
      guard error.code == .uniqueness || error.code == .constraint else { throw error }
      refuse("another row has the same unique values")
    }
  }

  /// The name of the file that a cell refers to, if there is none.
  private func missingFile(_ column: PhysicalSchema.Column, _ bytes: Data) -> String? {
    let layout = schema.entities[column.declaringEntity].layout
    guard let property = layout.property(named: column.property),
      property.cells.contains(where: { layout.cells[$0].allowsExternalStorage }),
      case .file(let name)? = bytes.withUnsafeBytes({ ExternalValue(cell: $0) }), !externals.contains(name)
    else { return nil }
    return name
  }

  // MARK: Pairs of many-to-many relationships

  private mutating func copyPairs(
    _ source: JoinTable, _ target: JoinTable, on connection: Connection
  ) throws(StoreError) {
    var entry = SalvageReport.Table(name: target.name)
    defer { report.tables.append(entry) }
    let pairs = [
      (source.first, target.first), (source.second, target.second), (source.firstOrder, target.firstOrder),
      (source.secondOrder, target.secondOrder),
    ].compactMap { pair in pair.0.flatMap { from in pair.1.map { (from, $0) } } }
    let modelColumns = [source.first, source.second, source.secondOrder, source.firstOrder].compactMap { $0 }
    let defined = definedColumns(of: source.name, modelColumns)
    let columns = defined ?? modelColumns
    let insert =
      "INSERT OR IGNORE INTO \(quoted(target.name)) (\(pairs.map { quoted($0.1) }.joined(separator: ", "))) "
      + "VALUES (\(pairs.map { _ in "?" }.joined(separator: ", ")))"
    let places = pairs.map { columns.firstIndex(of: $0.0) }
    for page in file.leaves[source.name] ?? [] {
      var rows: [[StoreValue]] = []
      var losses: [SalvageReport.Loss] = []
      try file.forEachRow(of: page) { (key, record, isDoubtful) throws(StoreError) in
        let values = record.map { record in
          places.map { place in place.flatMap { $0 < record.values.count ? record.values[$0] : nil } ?? .null
          }
        }
        // A pair has nothing by which a wrong one could be told, so those of damaged pages are left out.
        guard let values, !isDoubtful, defined != nil || record?.values.count == columns.count,
          case .integer = values[0], case .integer = values[1]
        else {
          return losses.append(.init(table: source.name, key: key, reason: "page \(page) is damaged"))
        }
        rows.append(values)
      }
      report.losses += losses
      for row in rows {
        try connection.run(insert, row, while: "Copying rows of \(source.name)")
        entry.rows += Int(sqlite3_changes(connection.handle))
      }
    }
  }
}
