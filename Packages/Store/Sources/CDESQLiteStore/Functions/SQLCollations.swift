import CDESQLite
import CDEStore
import Foundation

/// The orders of texts that follow a locale, as SQLite's collations.
///
/// No index and no constraint uses them, so other programs can open the file without them.
enum SQLCollations {
  static let localized = "CDE_LOCALIZED"
  static let localizedStandard = "CDE_LOCALIZED_STANDARD"

  private typealias Body =
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
    ) -> Int32

  /// Makes the collations known to a connection.
  static func register(on handle: OpaquePointer) throws(StoreError) {
    try register(localized, on: handle) { _, count, left, otherCount, right in
      Int32(SQLCollations.text(left, count).localizedCompare(SQLCollations.text(right, otherCount)).rawValue)
    }
    try register(localizedStandard, on: handle) { _, count, left, otherCount, right in
      Int32(
        SQLCollations.text(left, count).localizedStandardCompare(SQLCollations.text(right, otherCount))
          .rawValue)
    }
  }

  private static func register(
    _ name: String, on handle: OpaquePointer, _ body: Body
  ) throws(StoreError) {
    let code = sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, body, nil)
    guard code == SQLITE_OK else {
      throw EngineError.make(code, on: handle, while: "Registering the collation \(name)")
    }
  }

  private static func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }
}
