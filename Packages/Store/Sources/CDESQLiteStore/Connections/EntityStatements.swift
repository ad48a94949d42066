import CDESQLite
@_spi(CDE) import CDEStore

/// Statements that a connection keeps for entities. They are found by the entity's number instead of by their text.
struct EntityStatements {
  private var statements: IndexedArray<EntityIndex, OpaquePointer?> = []

  @inline(__always)
  subscript(entity: EntityIndex) -> OpaquePointer? { statements.isEmpty ? nil : statements[entity] }

  /// Keeps a statement, and returns it.
  mutating func keep(
    _ statement: OpaquePointer, for entity: EntityIndex, of schema: ResolvedSchema
  ) -> OpaquePointer {
    if statements.isEmpty { statements = IndexedArray(repeating: nil, count: schema.entities.count) }
    statements[entity] = statement
    return statement
  }

  func finalize() { for statement in statements { sqlite3_finalize(statement) } }
}
