import CDESQLite
@_spi(CDE) import CDEStore

/// Statements that a connection keeps for entities. They are found by the entity's number instead of by their text.
struct EntityStatements {
  private var statements: IndexedArray<EntityIndex, OpaquePointer?> = []

  /// The statement of an entity.
  ///
  /// - Parameter prepare: makes the statement at the first call. It must not use these statements.
  @inline(__always)
  mutating func statement(
    of entity: EntityIndex, in schema: ResolvedSchema, _ prepare: () throws(StoreError) -> OpaquePointer
  ) throws(StoreError) -> OpaquePointer {
    if statements.isEmpty { statements = IndexedArray(repeating: nil, count: schema.entities.count) }
    if let statement = statements[entity] { return statement }
    let statement = try prepare()
    statements[entity] = statement
    return statement
  }

  func finalize() { for statement in statements { sqlite3_finalize(statement) } }
}
