@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore

// What belongs to the rows: references, key counters, metadata, and the notes of the report.
extension StoreSalvage {
  /// Removes references to rows that were not copied.
  mutating func removeReferences(on connection: Connection) throws(StoreError) {
    let task = "Removing references to lost rows"
    func count(_ name: String) {
      let changes = Int(sqlite3_changes(connection.handle))
      if changes > 0 { report.removedReferences[name] = changes }
    }
    for table in new.tables.values {
      for column in table.columns {
        let destination: EntityIndex
        switch column.source {
        case .property(_, .key):
          let layout = schema.entities[column.declaringEntity].layout
          guard let slot = layout.slot(named: column.property) else { continue }
          destination = schema.end(of: slot, in: column.declaringEntity).destination
        case .impliedKey: destination = column.declaringEntity
        case .property, .impliedOrder: continue
        }
        // The entity and the place in an order belong to the reference.
        let parts = table.columns.filter {
          $0.property == column.property && $0.declaringEntity == column.declaringEntity
        }
        try connection.run(
          "UPDATE \(quoted(table.name)) SET \(parts.map { "\(quoted($0.name)) = NULL" }.joined(separator: ", ")) "
            + "WHERE \(quoted(column.name)) IS NOT NULL "
            + "AND \(quoted(column.name)) NOT IN (SELECT Z_PK FROM \(quoted(new.tableName(of: destination))))",
          while: task)
        count("\(table.name).\(column.name)")
      }
    }
    for table in new.joinTables {
      // The first column has keys of the relationship that names the table, the second those of the other.
      let (left, right) = (new.tableName(of: table.naming.entity), new.tableName(of: table.other.entity))
      try connection.run(
        "DELETE FROM \(quoted(table.name)) WHERE \(quoted(table.first)) NOT IN (SELECT Z_PK FROM \(quoted(left))) "
          + "OR \(quoted(table.second)) NOT IN (SELECT Z_PK FROM \(quoted(right)))", while: task)
      count(table.name)
    }
  }

  /// Sets the key counters so that no key of a lost row is given out again, as far as it is known.
  mutating func setCounters(on connection: Connection) throws(StoreError) {
    var stored: [Int64: Int64] = [:]
    for row in file.rows(of: .keys) {
      if case .integer(let number)? = row["Z_ENT"], case .integer(let last)? = row["Z_MAX"] {
        stored[number] = last
      }
    }
    for root in new.tables.keys {
      let known = stored[old.numbers[root.entity]]
      if known == nil {
        report.notes.append(
          "The key counter of \(schema.entities[root.entity].source.name) is lost. New rows may get the keys of lost ones."
        )
      }
      try connection.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = max(?, ifnull((SELECT max(Z_PK) FROM \(quoted(new.tableName(of: root)))), 0)) "
          + "WHERE Z_ENT = ?", [.integer(known ?? 0), .integer(new.numbers[root.entity])],
        while: "Setting key counters")
    }
  }

  mutating func setMetadata(on connection: Connection) throws(StoreError) {
    guard case .text(let identifier)? = file.rows(of: .metadata).first?["Z_UUID"], !identifier.isEmpty else {
      report.notes.append(
        "The metadata are lost. The new store has an identifier of its own, and objects other IDs.")
      return
    }
    try connection.run(
      "UPDATE Z_METADATA SET Z_UUID = ? WHERE Z_VERSION = 1", [.text(identifier)],
      while: "Writing the metadata")
    guard case .blob(let list)? = file.rows(of: .metadata).first?["Z_PLIST"],
      let metadata = try? PropertyList.decode(list, remedy: MetadataTable.remedy)
    else {
      report.notes.append("The metadata of the application are lost.")
      return
    }
    try MetadataTable.replace(metadata, on: connection)
  }

  mutating func addNotes() {
    let copied = Set(old.tables.values.map(\.name) + old.joinTables.map(\.name))
    let own: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    let left = file.definitions.keys.filter {
      !copied.contains($0) && !own.contains($0) && !$0.hasPrefix("sqlite_")
    }
    if !left.isEmpty {
      report.notes.append("These tables were left out: \(left.sorted().joined(separator: ", ")).")
    }
    if file.damagedIndexPages > 0 {
      report.notes.append(
        "\(file.damagedIndexPages) pages of indexes are damaged. Nothing is lost by that: the new store has its own."
      )
    }
  }
}
