public import CDEStore

@_spi(CDE) extension PhysicalSchema {
  /// The statements that remove what the relationships of deleted rows have in other tables: pairs, and references from the members of
  /// relationships without an inverse.
  ///
  /// - Parameters:
  ///   - entity: the entity of the deleted rows.
  ///   - condition: the end of a condition that follows a column with keys of these rows, such as `= ?`.
  public func removals(of entity: EntityIndex, where condition: String) -> [String] {
    var statements: [String] = []
    for property in schema.entities[entity].layout.properties {
      let key = PropertyKey(entity: property.declaringEntity, property: property.name)
      if let side = joinSides[key] {
        for column in side.isReflexive ? [side.owner, side.member] : [side.owner] {
          statements.append("DELETE FROM \(quoted(side.table)) WHERE \(quoted(column)) \(condition)")
        }
      }
      if let implied = impliedColumns[key] {
        let order = implied.order.map { ", \(quoted($0)) = NULL" } ?? ""
        statements.append(
          "UPDATE \(quoted(implied.table)) SET \(quoted(implied.key)) = NULL\(order) "
            + "WHERE \(quoted(implied.key)) \(condition)")
      }
    }
    return statements
  }
}
