@_spi(CDE) internal import CDEExecutors

/// Receives notes about single values of rows and of histories. They can't be thrown: the other values can be read.
///
/// A higher layer knows where notes go, and sets the handler. Without one they are dropped.
@_spi(CDE) public enum ValueReports {
  /// Gets what the note is about, which is the same for all rows, and the note.
  public typealias Handler = @Sendable (_ topic: String, _ message: () -> String) -> Void

  /// A structure, because a lock that holds a closure itself wraps it once more at every access.
  private struct Stored: Sendable { let handler: Handler }

  private static let stored = Lock<Stored?>(nil)

  /// Sets the handler of this process.
  public static func setHandler(_ handler: @escaping Handler) {
    stored.withLock { $0 = Stored(handler: handler) }
  }

  /// Notes that a row holds a value of another type than its column.
  ///
  /// - Parameter found: what was found, as a noun.
  public static func noteStranger(_ found: String, _ cell: CellIndex, ofRow key: Int64, in layout: RowLayout)
  {
    guard let handler = stored.withLock({ $0 })?.handler else { return }
    let place = "\(layout.entityName).\(layout.cells[cell].name)"
    handler(place) {
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
    guard let handler = stored.withLock({ $0 })?.handler else { return }
    handler("history of \(entity)") {
      "The history names changed columns of \(entity) by \(found) bytes, and the model has \(expected) for them: it was "
        + "written for other columns. Such a change counts as one of all properties. Purge the history "
        + "(NSPersistentHistoryChangeRequest.deleteHistory) when all readers have read it."
    }
  }
}
