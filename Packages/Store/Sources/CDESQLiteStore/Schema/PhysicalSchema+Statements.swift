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
    for root in roots { try appendIndexes(of: tables[root]!, to: &result) }
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

  private func appendIndexes(of table: Table, to result: inout [Definition]) throws(StoreError) {
    var names: Set<String> = []
    func append(_ name: String, unique: Bool = false, _ columns: [String], tail: String = "") {
      guard names.insert(name).inserted else { return }
      result.append(
        Definition(
          name: name,
          sql: "CREATE \(unique ? "UNIQUE " : "")INDEX \(bare(name)) ON \(bare(table.name)) "
            + "(\(columns.joined(separator: ", ")))\(tail)"))
    }
    for column in table.columns {
      switch column.source {
      case .property(_, .key), .impliedKey:
        append("\(table.name)_\(column.name)_INDEX", [bare(column.name)])
      default: break
      }
    }
    let root = schema.entities[table.root.entity]
    if root.subtree.count(where: held.contains) > 1 { append("\(table.name)_Z_ENT_INDEX", ["Z_ENT"]) }
    for index in root.subtree where held.contains(index) {
      let entity = schema.entities[index]
      for definition in entity.source.indexes {
        if definition.elements.contains(where: \.isSpatial) {
          try appendSpatial(definition, entity: entity, table: table, to: &result)
          continue
        }
        guard !isOnlyRelationship(definition, in: entity) else { continue }
        var columns: [String] = []
        for element in definition.elements {
          for column in try indexColumns(element.property, entity: entity) {
            switch definition.kind {
            case .indexedAttribute: columns.append(bare(column))
            case .fetchIndex, .compound:
              columns.append("\(bare(column)) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")")
            }
          }
        }
        var tail = ""
        if !definition.partialNotNil.isEmpty {
          var conditions: [String] = []
          for name in definition.partialNotNil {
            conditions += try indexColumns(name, entity: entity).map { "\(bare($0)) IS NOT NULL" }
          }
          tail = " WHERE  " + conditions.joined(separator: " AND ")
        }
        let name =
          switch definition.kind {
          case .fetchIndex: "Z_\(entity.source.name)_\(definition.name)"
          case .compound:
            "Z_\(entity.source.name)_"
              + definition.elements.map(\.property).joined(separator: "_")
          case .indexedAttribute:
            "\(table.name)_\(try indexColumns(definition.elements[0].property, entity: entity)[0])_INDEX"
          }
        append(name, columns, tail: tail)
      }
      for constraint in entity.source.uniquenessConstraints {
        var columns: [String] = []
        for name in constraint {
          columns += try indexColumns(name, entity: entity, ofConstraint: true).map {
            "\(bare($0)) COLLATE BINARY ASC"
          }
        }
        append(Self.constraintName(constraint, entity: entity), unique: true, columns)
      }
    }
  }

  static func constraintName(_ constraint: [String], entity: ResolvedSchema.Entity) -> String {
    "Z_\(entity.source.name)_UNIQUE_\(constraint.joined(separator: "_"))"
  }

  /// Core Data omits fetch indexes over a single relationship, because its column is indexed in any case.
  private func isOnlyRelationship(_ index: StoreIndex, in entity: ResolvedSchema.Entity) -> Bool {
    guard index.elements.count == 1,
      let property = entity.layout.property(named: index.elements[0].property)
    else { return false }
    switch property.kind {
    case .toOne, .toMany: return true
    case .attribute, .composite: return false
    }
  }

  private func indexColumns(
    _ name: String, entity: ResolvedSchema.Entity, ofConstraint: Bool = false
  ) throws(StoreError) -> [String] {
    let found = ofConstraint ? columns(of: name, in: entity.index) : indexColumns(of: name, in: entity.index)
    guard let columns = found, !columns.isEmpty else {
      throw StoreError(
        .invalidSchema,
        "An index or constraint of \(entity.source.name) names \(name), which has no column. Name a "
          + "persistent attribute or a to-one relationship.",
        entity: entity.source.name, properties: [name])
    }
    return columns
  }

  private func appendSpatial(
    _ index: StoreIndex, entity: ResolvedSchema.Entity, table: Table, to result: inout [Definition]
  ) throws(StoreError) {
    let name = "Z_RT_\(entity.source.name)_\(index.name)"
    var columns: [String] = []
    for element in index.elements { columns += try indexColumns(element.property, entity: entity) }
    let bounds = columns.flatMap { ["\(bare("\($0)_MIN")) FLOAT", "\(bare("\($0)_MAX")) FLOAT"] }
    result.append(
      Definition(
        name: name,
        sql: "CREATE VIRTUAL TABLE \(bare(name)) USING RTREE "
          + "(Z_PK INTEGER PRIMARY KEY, \(bounds.joined(separator: ", ")))",
        filling: "INSERT INTO \(bare(name)) SELECT Z_PK, "
          + columns.flatMap { [bare($0), bare($0)] }.joined(separator: ", ")
          + " FROM \(bare(table.name)) WHERE "
          + columns.map { "\(bare($0)) IS NOT NULL" }.joined(separator: " AND ")))
    let values = columns.flatMap { ["NEW.\(bare($0))", "NEW.\(bare($0))"] }.joined(separator: ", ")
    let present = columns.map { "NEW.\(bare($0)) IS NOT NULL" }.joined(separator: " AND ")
    let insert = "INSERT OR REPLACE INTO \(bare(name)) SELECT NEW.Z_PK, \(values) WHERE \(present)"
    let remove = "DELETE FROM \(bare(name)) WHERE Z_PK = OLD.Z_PK"
    let on = bare(table.name)
    result.append(
      Definition(
        name: name + "_INSERT",
        sql: "CREATE TRIGGER \(bare(name + "_INSERT")) AFTER INSERT ON \(on) "
          + "FOR EACH ROW BEGIN \(insert); END"))
    result.append(
      Definition(
        name: name + "_UPDATE",
        sql: "CREATE TRIGGER \(bare(name + "_UPDATE")) AFTER UPDATE OF "
          + "\(columns.map(bare).joined(separator: ", ")) ON \(on) FOR EACH ROW "
          + "BEGIN \(remove); \(insert); END"))
    result.append(
      Definition(
        name: name + "_DELETE",
        sql: "CREATE TRIGGER \(bare(name + "_DELETE")) AFTER DELETE ON \(on) "
          + "FOR EACH ROW BEGIN \(remove); END"))
  }
}
