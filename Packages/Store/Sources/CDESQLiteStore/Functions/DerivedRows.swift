/// The rows whose derived attributes triggers changed, by entity number and key.
///
/// Triggers report them through SQL functions, on the thread that runs the statement.
final class DerivedRows {
  private struct Row: Hashable {
    var entity: Int64
    var key: Int64
  }

  private var rows: Set<Row> = []

  func note(entity: Int64, key: Int64) { rows.insert(Row(entity: entity, key: key)) }

  func clear() { rows.removeAll(keepingCapacity: rows.count <= 1024) }

  /// The rows so far: the keys for each entity number.
  func keys() -> [Int64: [Int64]] {
    Dictionary(grouping: rows, by: \.entity).mapValues { $0.map(\.key) }
  }
}
