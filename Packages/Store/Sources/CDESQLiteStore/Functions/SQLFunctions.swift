@_spi(CDE) import CDEOperators
@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore
import Foundation

/// Functions for conditions whose meaning differs from SQLite's own, and functions that the triggers of Core
/// Data's stores call.
enum SQLFunctions {
  static let fold = "cde_fold"
  static let lowercase = "cde_lower"
  static let uppercase = "cde_upper"
  static let length = "cde_length"

  /// The function of a text operator.
  static func name(of op: TextOperator) -> String { "cde_\(op.rawValue.lowercased())" }

  /// A flag in addition to the text options in the last argument of a text operator: the subject is already
  /// folded.
  static let isSubjectFolded: UInt8 = 4
  static let isPartFolded: UInt8 = 8

  typealias Body = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

  /// The functions that triggers of derived attributes call for each changed row, with table, entity number,
  /// key, attribute and value. The second one is for rows being inserted.
  static let derivedUpdate = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
  static let derivedInsert = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"

  /// - Parameter derived: collects the rows that triggers changed.
  /// - Precondition: `derived` outlives the connection.
  static func register(on handle: OpaquePointer, derived: DerivedRows) throws(StoreError) {
    try SQLCollations.register(on: handle)
    let noting: Body = { context, count, values in
      sqlite3_result_null(context)
      guard count >= 3, let values, let rows = sqlite3_user_data(context) else { return }
      Unmanaged<DerivedRows>.fromOpaque(rows)._withUnsafeGuaranteedRef {
        $0.note(entity: sqlite3_value_int64(values[1]), key: sqlite3_value_int64(values[2]))
      }
    }
    let rows = Unmanaged.passUnretained(derived).toOpaque()
    for name in [derivedUpdate, derivedInsert] {
      try register(name, -1, on: handle, isDeterministic: false, data: rows, noting)
    }
    // Functions of older triggers, with unknown arguments. At this time the file already has the values.
    try register("NSCoreDataTriggerUpdateAffectedObjectValue", -1, on: handle) { context, _, _ in
      sqlite3_result_null(context)
    }
    try register(fold, 2, on: handle) { context, _, values in
      // Only text has case. Other values do not change.
      guard sqlite3_value_type(values![0]) == SQLITE_TEXT else {
        return sqlite3_result_value(context, values![0])
      }
      let options = StoreFilter.TextOptions(
        flags: UInt8(truncatingIfNeeded: sqlite3_value_int(values![1])))
      SQLFunctions.text(context, values) { TextComparison.folded($0, options) }
    }
    try register(lowercase, 1, on: handle) { context, _, values in
      SQLFunctions.text(context, values) { $0.lowercased() }
    }
    try register(uppercase, 1, on: handle) { context, _, values in
      SQLFunctions.text(context, values) { $0.uppercased() }
    }
    try register(length, 1, on: handle) { context, _, values in
      guard let value = SQLFunctions.string(values![0]) else { return sqlite3_result_null(context) }
      sqlite3_result_int64(context, Int64(value.unicodeScalars.count))
    }
    for (number, op) in TextOperator.all.enumerated() {
      try register(name(of: op), 3, on: handle, data: UnsafeMutableRawPointer(bitPattern: number + 1)) {
        context, _, values in
        guard let context, let values else { return }
        let op = TextOperator.all[Int(bitPattern: sqlite3_user_data(context)) - 1]
        if op.hasPattern {
          SQLFunctions.match(op, context, values)
        } else {
          SQLFunctions.bytes(context, values) { text, part in op.holds(text, part) }
        }
      }
    }
  }

  /// An operator with a pattern in the second argument. It is prepared once for a constant one.
  private static func match(
    _ op: TextOperator, _ context: OpaquePointer, _ values: UnsafeMutablePointer<OpaquePointer?>
  ) {
    guard sqlite3_value_type(values[1]) != SQLITE_NULL, let text = string(values[0]) else {
      return sqlite3_result_null(context)
    }
    let flags = UInt8(truncatingIfNeeded: sqlite3_value_int(values[2]))
    let pattern = kept(context) { () -> TextPattern? in
      string(values[1]).flatMap {
        op.pattern($0, .init(flags: flags), isFolded: flags & isPartFolded != 0)
      }
    }
    guard let pattern else { return sqlite3_result_error(context, "the regular expression is not valid", -1) }
    sqlite3_result_int(context, pattern.matches(text, isFolded: flags & isSubjectFolded != 0) ? 1 : 0)
  }

  /// The value prepared from the second argument. SQLite caches it while the argument stays the same.
  private static func kept<Prepared: AnyObject>(
    _ context: OpaquePointer?, _ prepare: () -> Prepared?
  ) -> Prepared? {
    if let kept = sqlite3_get_auxdata(context, 1) {
      return Unmanaged<Prepared>.fromOpaque(kept).takeUnretainedValue()
    }
    guard let made = prepare() else { return nil }
    sqlite3_set_auxdata(
      context, 1, Unmanaged.passRetained(made).toOpaque(),
      { Unmanaged<AnyObject>.fromOpaque($0!).release() })
    return made
  }

  static func register(
    _ name: String, _ arguments: Int32, on handle: OpaquePointer, isDeterministic: Bool = true,
    data: UnsafeMutableRawPointer? = nil, _ body: Body
  ) throws(StoreError) {
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
    let code = sqlite3_create_function_v2(handle, name, arguments, flags, data, body, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw EngineError.make(code, on: handle, while: "Registering the function \(name)")
    }
  }

  /// The value as text, `nil` for NULL.
  static func string(_ value: OpaquePointer?) -> String? {
    guard let value, let start = sqlite3_value_text(value) else { return nil }
    return String(
      decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
  }

  private static func text(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: (String) -> String
  ) {
    guard let value = string(values![0]) else { return sqlite3_result_null(context) }
    var result = body(value)
    result.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_result_text64(
          context, $0.baseAddress ?? UnsafePointer(bitPattern: 1), UInt64($0.count),
          unsafeBitCast(-1, to: sqlite3_destructor_type.self), UInt8(SQLITE_UTF8))
      }
    }
  }

  /// A condition on the bytes of two texts, folded by the options in the third argument. A text that needs no
  /// folding is not converted to a string.
  private static func bytes(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
  ) {
    let flags = UInt8(truncatingIfNeeded: sqlite3_value_int(values![2]))
    let options = StoreFilter.TextOptions(flags: flags)
    let holds = withBytes(values![0], options, isFolded: flags & isSubjectFolded != 0) { text in
      withBytes(values![1], options, isFolded: flags & isPartFolded != 0) { part in body(text, part) }
    }
    guard let holds = holds ?? nil else { return sqlite3_result_null(context) }
    sqlite3_result_int(context, holds ? 1 : 0)
  }

  private static func withBytes<R>(
    _ value: OpaquePointer?, _ options: StoreFilter.TextOptions, isFolded: Bool,
    _ body: (UnsafeBufferPointer<UInt8>) -> R
  ) -> R? {
    if options.isEmpty || isFolded {
      guard let start = sqlite3_value_text(value) else { return nil }
      return body(UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    }
    guard let text = string(value) else { return nil }
    var folded = TextComparison.folded(text, options)
    return folded.withUTF8(body)
  }
}

extension StoreFilter.TextOptions {
  /// The options in the flags of a text operator's function.
  fileprivate init(flags: UInt8) {
    self = Self(rawValue: flags).intersection([.caseInsensitive, .diacriticInsensitive])
  }
}
