public import CDEStore

@_spi(CDE) extension PhysicalSchema {
  /// Refuses an index that is no entity's of the store. A caller may have it from another store.
  ///
  /// - Throws: `.unsupportedQuery`.
  public func checkEntity(_ entity: EntityIndex) throws(StoreError) {
    guard schema.entities.indices.contains(entity) else {
      throw StoreError(
        .unsupportedQuery,
        "The schema has no entity with the index \(entity). Use indexes of this store's schema.")
    }
    guard numbers[entity] > 0 else {
      let name = schema.entities[entity].source.name
      throw StoreError(
        .unsupportedQuery, "The store holds a part of the schema, to which \(name) does not belong.",
        entity: name)
    }
  }
}
