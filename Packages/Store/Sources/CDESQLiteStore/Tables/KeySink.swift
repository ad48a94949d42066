import CDESQLite
import CDEStore

/// Takes the keys of a statement's rows within the statement, by an aggregate function.
///
/// A statement that returns each key stops for it, and SQLite checks the statement for each step and each access to the column.
/// That takes longer than finding the key.
struct KeySink {
  /// The aggregate function. It takes a key, and returns NULL.
  static let name = "cde_take"

  /// The keys, as entries of ``entity``.
  private(set) var entries: [FetchedRows.Entry] = []
  /// A key below 1, at which the statement ended with an error.
  private(set) var damagedKey: Int64?
  /// Whether the statement ended because its task was cancelled.
  private(set) var wasCancelled = false
  private let entity: NarrowIndex<EntityIndex>

  init(_ entity: EntityIndex) { self.entity = NarrowIndex(entity) }

  @inline(__always)
  private mutating func take(_ value: OpaquePointer?, _ context: OpaquePointer?) {
    let key = sqlite3_value_int64(value)
    if key > 0 {
      entries.append(FetchedRows.Entry(key: key, entity: entity))
      if entries.count & 511 == 0, Task<Never, Never>.isCancelled {
        wasCancelled = true
        sqlite3_result_error(context, "the task was cancelled", -1)
      }
    } else {
      damagedKey = key
      sqlite3_result_error(context, "the key is below 1", -1)
    }
  }

  /// - Parameter sink: the sink of the connection's statements; nil while none of them needs one.
  /// - Precondition: The sink outlives the connection.
  static func register(
    on handle: OpaquePointer, _ sink: UnsafeMutablePointer<KeySink?>
  ) throws(StoreError) {
    let code = sqlite3_create_function_v2(
      handle, name, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, sink, nil,
      { context, _, values in
        let sink = sqlite3_user_data(context).assumingMemoryBound(to: KeySink?.self)
        sink.pointee?.take(values![0], context)
      },
      { context in sqlite3_result_null(context) }, nil)
    guard code == SQLITE_OK else {
      throw EngineError.make(code, on: handle, while: "Registering the function \(name)")
    }
  }
}
