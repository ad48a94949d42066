@_spi(CDE) internal import CDEExecutors

extension ResolvedSchema {
  /// Makes sure that rows have a layout of this schema. Engines write and compare cells by position, so those of another schema would
  /// land in wrong columns.
  ///
  /// - Precondition: the layout is one of this schema's, or has the same cells.
  @_spi(CDE) public func requireOwn(_ layout: RowLayout) {
    let isOwn =
      entities.indices.contains(layout.entity)
      && (entities[layout.entity].layout === layout
        || (entities[layout.entity].source.name == layout.entityName
          && entities[layout.entity].layout.cells == layout.cells))
    checkPrecondition(
      isOwn, "A transaction's rows have to be made with the layouts of the store's own schema.")
  }
}
