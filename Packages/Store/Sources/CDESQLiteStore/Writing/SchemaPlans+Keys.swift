@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

extension SchemaPlans {
  /// Raises a tree's key counter.
  ///
  /// - Parameter limit: the greatest key that may be assigned.
  /// - Returns: the last key assigned before.
  func takeKeys(_ count: Int, upTo limit: Int64 = .max, root: RootIndex, on connection: Connection)
    throws(StoreError) -> Int64
  {
    let number = physical.numbers[root.entity]
    let task = "Handing out keys"
    // The counter is valid, unless another writer inserted rows without raising it.
    let base =
      try connection.integer(
        "SELECT max(ifnull((SELECT CAST(Z_MAX AS INTEGER) FROM Z_PRIMARYKEY WHERE Z_ENT = ?), 0), "
          + "ifnull((SELECT max(Z_PK) FROM \(quoted(physical.tableName(of: root)))), 0))",
        [.integer(number)], while: task) ?? 0
    let (last, overflows) = max(base, 0).addingReportingOverflow(Int64(count))
    guard !overflows, last <= limit else {
      throw StoreError(
        .full,
        "\(schema.entities[root.entity].source.name) has used all primary keys: the greatest Z_PK of "
          + "\(physical.tableName(of: root)), or its Z_MAX in Z_PRIMARYKEY, is \(base). If few rows have such keys, give them lower "
          + "ones, and lower Z_MAX.",
        entity: schema.entities[root.entity].source.name)
    }
    try connection.run(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(last), .integer(number)], while: task)
    guard sqlite3_changes(connection.handle) == 1 else {
      throw StoreError(
        .unreadable,
        "Z_PRIMARYKEY has no row for \(schema.entities[root.entity].source.name) any more, so the store is damaged. Restore it "
          + "from a backup, or copy what can be read with salvage.",
        entity: schema.entities[root.entity].source.name)
    }
    return max(base, 0)
  }
}
