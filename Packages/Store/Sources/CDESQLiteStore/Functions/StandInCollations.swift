import CDESQLite
import CDEStore
import Foundation

/// Stand-ins for collations that only the program has that made a file.
///
/// Without them SQLite reads no table that has an index in such an order. The stand-ins compare bytes. No query of this library asks
/// for the order, and a store with such an index is not written, see `ForeignCode`.
final class StandInCollations {
  /// The names that the connection asked for.
  private(set) var names: Set<String> = []

  /// Makes a stand-in whenever the connection does not know a collation.
  ///
  /// - Precondition: this object outlives the connection.
  func register(on handle: OpaquePointer) {
    sqlite3_collation_needed(handle, Unmanaged.passUnretained(self).toOpaque()) { context, handle, _, name in
      guard let context, let name else { return }
      let collations = Unmanaged<StandInCollations>.fromOpaque(context).takeUnretainedValue()
      collations.names.insert(String(cString: name))
      sqlite3_create_collation_v2(
        handle, name, SQLITE_UTF8, nil,
        { _, count, left, otherCount, right in
          let shared = Int(min(count, otherCount))
          let order = left.flatMap { left in right.map { memcmp(left, $0, shared) } } ?? 0
          return order != 0 ? order : count - otherCount
        }, nil)
    }
  }
}
