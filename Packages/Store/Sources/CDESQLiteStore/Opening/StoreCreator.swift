@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore
import Foundation

/// Creates the tables of an empty file, all or none.
struct StoreCreator {
  let schema: ResolvedSchema
  let held: Set<EntityIndex>
  /// The content of `Z_MODELCACHE`; nil leaves the table out.
  var modelCache: (@Sendable () -> [UInt8]?)?

  /// The statements that make the store. They are checked for colliding names.
  func layout() throws(StoreError) -> [PhysicalSchema.Definition] {
    let physical = PhysicalSchema(schema, numbers: PhysicalSchema.newNumbers(of: held))
    try checkNames(physical)
    return try physical.definitions()
  }

  func create(on connection: Connection) throws(StoreError) {
    let definitions = try layout()
    do throws(StoreError) {
      // The pragma writes the file's first page, so it takes the lock. Outside a transaction it would leave a
      // file with a page but without tables for a moment. After BEGIN IMMEDIATE it has no effect.
      try connection.execute("BEGIN; PRAGMA auto_vacuum = 2", while: "Creating the store")
      // If another process created the store meanwhile, it is opened like any other store.
      guard try FileContents.isEmpty(connection) else { return connection.rollBack() }
      for definition in definitions {
        try connection.execute(definition.sql, while: "Creating \(definition.name)")
      }
      let numbers = PhysicalSchema.newNumbers(of: held)
      for entity in schema.entities where held.contains(entity.index) {
        try connection.run(
          "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
          [
            .integer(numbers[entity.index]!), .text(entity.source.name),
            .integer(entity.parent.flatMap { numbers[$0] } ?? 0),
          ], while: "Creating the store")
      }
      try MetadataTable.insert(
        identifier: UUID().uuidString, MetadataTable.initial(for: schema, held: held), on: connection)
      if let model = modelCache?() { try ModelCacheTable.write(model, on: connection) }
      try connection.execute("COMMIT", while: "Creating the store")
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Entities whose names differ only in case would have the same table.
  private func checkNames(_ physical: PhysicalSchema) throws(StoreError) {
    var owners: [String: String] = [
      "Z_PRIMARYKEY": "the store", "Z_METADATA": "the store", "Z_MODELCACHE": "the store",
    ]
    for (root, table) in physical.tables.sorted(by: { $0.key < $1.key }) {
      let name = schema.entities[root.entity].source.name
      if let other = owners.updateValue(name, forKey: table.name.uppercased()) {
        throw StoreError(
          .invalidSchema,
          "The tables of \(name) and \(other) would both be named \(table.name). Rename one entity.",
          entity: name)
      }
    }
  }
}
