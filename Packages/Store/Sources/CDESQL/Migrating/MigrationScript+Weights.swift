import CDEStore

// How the work is divided, by the greatest keys of the tables: counting the rows would take a pass over them.
extension MigrationScript {
  private var rows: Double { moves.lastKeys.values.reduce(0) { $0 + Double($1) } }

  /// The weight of looking for obstacles.
  public var checkWeight: Double { rows }

  /// The weight of a statement that inserts rows. A row that is written takes about three times as long as one that is read.
  public func weight(of insert: Insert) -> Double { 3 * Double(insert.lastKey) }

  /// The weight of what is made after all rows, such as indexes.
  public var completionWeight: Double { 1 + rows }

  /// The weight of all the work.
  public var totalWeight: Double {
    tables.filter { $0.kept == nil }.flatMap(\.inserts)
      .reduce(checkWeight + completionWeight) { $0 + weight(of: $1) }
  }
}
