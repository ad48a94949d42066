@_spi(CDE) internal import CDEExecutors

/// Notes about single values of rows and of histories. They can't be thrown: the other values can be read.
@_spi(CDE) public enum ValueReports {
  /// Notes that a row holds a value of another type than its column.
  ///
  /// - Parameter found: what was found, as a noun.
  public static func noteStranger(_ found: String, _ cell: CellIndex, ofRow key: Int64, in layout: RowLayout)
  {
    let place = "\(layout.entityName).\(layout.cells[cell].name)"
    LayerReports.note(place) {
      "\(place) of row \(key), and perhaps of others, holds \(found) in a column of numbers: it reads as nothing."
    }
  }

  /// Notes that a history names changed columns by bits of another length than those of the entity.
  ///
  /// - Parameters:
  ///   - found: the length in bytes.
  ///   - expected: the length that the schema explains.
  ///   - entity: the name of the entity.
  public static func noteUnexplainedBits(_ found: Int, expected: Int, of entity: String) {
    LayerReports.note("history of \(entity)") {
      "The history names changed columns of \(entity) by \(found) bytes, and the model has \(expected) for them: it was "
        + "written for other columns. Such a change counts as one of all properties. Purge the history "
        + "(NSPersistentHistoryChangeRequest.deleteHistory) when all readers have read it."
    }
  }
}
