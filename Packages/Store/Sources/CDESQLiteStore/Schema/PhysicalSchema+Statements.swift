@_spi(CDE) import CDESQL
import CDEStore

extension PhysicalSchema.Column {
  /// The column's type as Core Data declares it.
  var declaration: String {
    switch type {
    case nil, .integer16, .integer32, .integer64, .boolean: "INTEGER"
    case .date: "TIMESTAMP"
    case .double, .float: "FLOAT"
    case .decimal: "DECIMAL"
    case .string, .uri, .undefined, .objectID: "VARCHAR"
    case .uuid, .transformable, .binary, .composite: "BLOB"
    }
  }
}

extension PhysicalSchema {
  struct Definition: Sendable, Hashable {
    var name: String
    var sql: String
    /// Fills what the statement made from rows that exist already; nil if there is nothing to fill.
    var filling: String?
  }

  /// The statements that create the tables and indexes of an empty store, in a valid order.
  func definitions() throws(StoreError) -> [Definition] {
    var result: [Definition] = []
    let roots = tables.keys.sorted()
    for root in roots {
      let table = tables[root]!
      let columns = table.columns.map { "\(bare($0.name)) \($0.declaration)" }
      let head = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
      result.append(
        Definition(
          name: table.name,
          sql: "CREATE TABLE \(bare(table.name)) ( \(([head] + columns).joined(separator: ", ")) )"))
    }
    for table in joinTables {
      result.append(Definition(name: table.name, sql: table.createStatement))
      result.append(Definition(name: table.indexName, sql: table.indexStatement))
    }
    for root in roots {
      for index in try indexes(of: tables[root]!) { result += definitions(of: index, tables[root]!.name) }
    }
    for derived in try derivedColumns() { result += derived.triggers }
    for name in ["Z_PRIMARYKEY", "Z_METADATA"] {
      result.append(Definition(name: name, sql: Self.bookkeeping[name]!))
    }
    return result
  }

  static let bookkeeping = [
    "Z_PRIMARYKEY":
      "CREATE TABLE Z_PRIMARYKEY "
      + "(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "Z_METADATA":
      "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
  ]

  private func definitions(of index: TableIndex, _ table: String) -> [Definition] {
    let columns: [String]
    switch index.kind {
    case .declared(let declared) where declared.isSpatial:
      return spatialDefinitions(
        "Z_RT_\(index.entity.source.name)_\(declared.name)", index.columns.map(\.name), table)
    case .reference, .entity: columns = index.columns.map { bare($0.name) }
    case .declared(let declared) where declared.kind == .indexedAttribute:
      columns = index.columns.map { bare($0.name) }
    case .declared, .unique:
      columns = index.columns.map { "\(bare($0.name)) COLLATE BINARY \($0.isAscending ? "ASC" : "DESC")" }
    }
    let unique = if case .unique = index.kind { "UNIQUE " } else { "" }
    let present = index.present.map { "\(bare($0)) IS NOT NULL" }
    return [
      Definition(
        name: index.name,
        sql:
          "CREATE \(unique)INDEX \(bare(index.name)) ON \(bare(table)) (\(columns.joined(separator: ", ")))"
          + (present.isEmpty ? "" : " WHERE  " + present.joined(separator: " AND ")))
    ]
  }

  private func spatialDefinitions(_ name: String, _ columns: [String], _ table: String) -> [Definition] {
    let bounds = columns.flatMap { ["\(bare("\($0)_MIN")) FLOAT", "\(bare("\($0)_MAX")) FLOAT"] }
    let values = columns.flatMap { ["NEW.\(bare($0))", "NEW.\(bare($0))"] }.joined(separator: ", ")
    let present = columns.map { "NEW.\(bare($0)) IS NOT NULL" }.joined(separator: " AND ")
    let insert = "INSERT OR REPLACE INTO \(bare(name)) SELECT NEW.Z_PK, \(values) WHERE \(present)"
    let remove = "DELETE FROM \(bare(name)) WHERE Z_PK = OLD.Z_PK"
    let on = bare(table)
    return [
      Definition(
        name: name,
        sql: "CREATE VIRTUAL TABLE \(bare(name)) USING RTREE "
          + "(Z_PK INTEGER PRIMARY KEY, \(bounds.joined(separator: ", ")))",
        filling: "INSERT INTO \(bare(name)) SELECT Z_PK, "
          + columns.flatMap { [bare($0), bare($0)] }.joined(separator: ", ")
          + " FROM \(on) WHERE " + columns.map { "\(bare($0)) IS NOT NULL" }.joined(separator: " AND ")),
      Definition(
        name: name + "_INSERT",
        sql: "CREATE TRIGGER \(bare(name + "_INSERT")) AFTER INSERT ON \(on) "
          + "FOR EACH ROW BEGIN \(insert); END"),
      Definition(
        name: name + "_UPDATE",
        sql: "CREATE TRIGGER \(bare(name + "_UPDATE")) AFTER UPDATE OF "
          + "\(columns.map(bare).joined(separator: ", ")) ON \(on) FOR EACH ROW "
          + "BEGIN \(remove); \(insert); END"),
      Definition(
        name: name + "_DELETE",
        sql: "CREATE TRIGGER \(bare(name + "_DELETE")) AFTER DELETE ON \(on) "
          + "FOR EACH ROW BEGIN \(remove); END"),
    ]
  }
}
