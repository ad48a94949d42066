import CDEManagedModel
import CDESQLiteStore
import Foundation

/// The tables of many-to-many relationships: pairs of keys.
struct JoinTables {
  /// A column of keys, and the table with their rows.
  struct Side: Hashable {
    let column: String
    let entity: String
    let rows: String
  }

  struct Pairs: Hashable {
    let table: String
    let sides: [Side]

    /// The pairs of which a side has no row.
    var strays: String {
      sides.map {
        "NOT EXISTS (SELECT 1 FROM \(RawFile.quoted($0.rows)) r WHERE r.Z_PK = \(RawFile.quoted(table)).\(RawFile.quoted($0.column)))"
      }.joined(separator: " OR ")
    }
  }

  let all: [Pairs]

  /// Reads the tables' names: `Z_2TAGS` with `Z_2BOOKS` and `Z_5TAGS` has keys of the entities with the numbers 2 and 5.
  init(_ raw: RawFile, _ inspection: StoreInspection, _ model: NSManagedObjectModel) throws(ToolError) {
    var roots: [Int: (entity: String, rows: String)] = [:]
    for row in try raw.texts("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") {
      guard let number = Int(row[0]), let entity = model.entitiesByName[row[1]] else { continue }
      var root = entity
      while let parent = root.superentity { root = parent }
      let table = "Z\((root.name ?? "").uppercased())"
      if inspection.tables[table] != nil { roots[number] = (row[1], table) }
    }
    all = inspection.tables.keys.sorted().compactMap { table in
      guard Self.number(table) != nil, let columns = inspection.tables[table] else { return nil }
      let sides = columns.sorted().compactMap { column -> Side? in
        // REFLEXIVE has keys of the same entity as the other column.
        let name = column == "REFLEXIVE" ? columns.first { Self.number($0) != nil } ?? "" : column
        guard let number = Self.number(name), let root = roots[number] else { return nil }
        return Side(column: column, entity: root.entity, rows: root.rows)
      }
      return sides.count == 2 ? Pairs(table: table, sides: sides) : nil
    }
  }

  /// The number of an entity in a name such as `Z_12TAGS`; nil for other names, orders among them.
  static func number(_ name: String) -> Int? {
    guard name.hasPrefix("Z_") else { return nil }
    let digits = name.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
    return Int(digits)
  }
}

extension StoreCheck {
  /// Pairs that lead to no row. Core Data's own deletions remove pairs; other programs' may not.
  func strayPairs(_ raw: RawFile, _ tables: JoinTables) throws -> [Finding] {
    try tables.all.compactMap { pairs in
      let count =
        Int(
          try raw.texts("SELECT count(*) FROM \(RawFile.quoted(pairs.table)) WHERE \(pairs.strays)").first?
            .first ?? "") ?? 0
      guard count > 0 else { return nil }
      let entities = pairs.sides.map(\.entity).joined(separator: " and ")
      return Finding(
        kind: .strayPair, place: pairs.table, count: count,
        detail: "Pairs of a many-to-many relationship of \(entities) lead to rows that are not there.",
        repair: "delete the pairs")
    }
  }

  /// Deletes the pairs that findings name.
  func deletePairs(_ findings: [Finding], _ url: URL, _ model: NSManagedObjectModel) throws {
    let named = Set(findings.filter { $0.kind == .strayPair }.map(\.place))
    if named.isEmpty { return }
    let inspection = try StorePlace.inspection(of: url)
    let tables = try JoinTables(try RawFile(url), inspection, model)
    try RawFile.change(
      url,
      tables.all.filter { named.contains($0.table) }.map {
        "DELETE FROM \(RawFile.quoted($0.table)) WHERE \($0.strays)"
      })
  }
}
