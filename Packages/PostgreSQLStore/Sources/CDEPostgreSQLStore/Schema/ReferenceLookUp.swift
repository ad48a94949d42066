#if PostgreSQL
  @_spi(CDE) internal import CDESQL

  /// The statement that finds the rows which refer to others by a column.
  struct ReferenceLookUp: Sendable {
    let column: ReferenceColumn
    /// Finds the rows that refer to keys: their keys, entity numbers, and the referenced keys. The parameter is an array.
    let select: String

    init(_ column: ReferenceColumn) {
      self.column = column
      select =
        "SELECT \"Z_PK\", \"Z_ENT\", \(column.column) FROM \(column.table) WHERE \(column.column) = ANY($1)"
    }
  }
#endif
