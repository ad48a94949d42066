import CDESQLite

/// Where a decoder finds the values of a statement's current row.
protocol RowValueSource: ~Copyable {
  /// The value of a column, valid until the next step.
  subscript(column: Int32) -> OpaquePointer? { get }
}

/// The values of one row. Each access asks the statement.
struct SingleRow: RowValueSource {
  let statement: OpaquePointer

  @inline(__always)
  subscript(column: Int32) -> OpaquePointer? { sqlite3_column_value(statement, column) }
}

/// The values of many rows.
///
/// A statement writes the columns of a row into neighbouring registers, and most statements use the same ones for each
/// row. SQLite checks the statement at each access to a column, which takes longer than reading an integer. So the
/// registers are found again only if the first column has another one.
///
/// A value may be read without SQLite's lock, because no other thread uses the connection.
struct RowValues: ~Copyable, RowValueSource {
  private let values: UnsafeMutablePointer<OpaquePointer?>
  private let count: Int32

  /// - Parameter count: the number of columns that are read.
  init(columns count: Int32) {
    self.count = max(count, 1)
    values = .allocate(capacity: Int(self.count))
    values.initialize(repeating: nil, count: Int(self.count))
  }

  deinit { values.deallocate() }

  /// Finds the values of a row. Call this after each step.
  @inline(__always)
  func move(to statement: OpaquePointer) {
    let first = sqlite3_column_value(statement, 0)
    if first != values[0] { find(statement, first) }
  }

  @inline(never)
  private func find(_ statement: OpaquePointer, _ first: OpaquePointer?) {
    values[0] = first
    for column in 1..<max(count, 1) { values[Int(column)] = sqlite3_column_value(statement, column) }
  }

  @inline(__always)
  subscript(column: Int32) -> OpaquePointer? { values[Int(column)] }
}
