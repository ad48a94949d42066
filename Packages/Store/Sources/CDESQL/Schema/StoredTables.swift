public import CDEStore

/// The entities and tables that a database has, by their names.
@_spi(CDE) public struct StoredTables: Sendable {
  private let numbers: [String: Int64]
  private let columns: [String: Set<String>]

  /// - Parameters:
  ///   - numbers: `Z_ENT` by the names of entities.
  ///   - columns: the names of columns by those of tables.
  public init(numbers: [String: Int64], columns: [String: Set<String>]) {
    self.numbers = numbers
    self.columns = columns
  }

  /// Compares the tables of a schema's entities with those of the database, by the names of their columns.
  ///
  /// - Parameter nameLimit: the longest name in bytes that the database accepts; nil without a limit.
  /// - Returns: each column that only one side has, and each table and entity that the database lacks, as text; sorted.
  public func differences(
    from schema: ResolvedSchema, entities: Set<EntityIndex>, nameLimit: Int? = nil
  ) -> [String] {
    var known: [EntityIndex: Int64] = [:]
    var result: [String] = []
    for index in entities {
      let name = schema.entities[index].source.name
      known[index] = numbers[name]
      if numbers[name] == nil { result.append("Z_PRIMARYKEY has no entity \(name)") }
    }
    for table in PhysicalSchema(schema, numbers: known, nameLimit: nameLimit).tables.values {
      guard let stored = columns[table.name] else {
        result.append("there is no table \(table.name)")
        continue
      }
      let expected = Set(table.columns.map(\.name) + ["Z_PK", "Z_ENT", "Z_OPT"])
      result += expected.subtracting(stored).map { "\(table.name) has no column \($0)" }
      result += stored.subtracting(expected).map { "\(table.name).\($0) belongs to no property" }
    }
    return result.sorted()
  }
}
