import CDESQLite

/// Where the value of a cell goes. The memory of texts and blobs outlives the statement's step.
///
/// Each member returns a result code of SQLite.
protocol CellTarget {
  func takeNull() -> Int32
  func take(_ integer: Int64) -> Int32
  func take(_ real: Double) -> Int32
  func take(text: UnsafeRawBufferPointer) -> Int32
  func take(blob: UnsafeRawBufferPointer) -> Int32
  /// Takes a copy of a blob.
  func take(copying blob: [UInt8]) -> Int32
}

private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// A parameter of a statement.
struct StatementParameter: CellTarget {
  let statement: OpaquePointer
  let index: Int32

  @inline(__always)
  func takeNull() -> Int32 { sqlite3_bind_null(statement, index) }

  @inline(__always)
  func take(_ integer: Int64) -> Int32 { sqlite3_bind_int64(statement, index, integer) }

  @inline(__always)
  func take(_ real: Double) -> Int32 { sqlite3_bind_double(statement, index, real) }

  @inline(__always)
  func take(text: UnsafeRawBufferPointer) -> Int32 {
    sqlite3_bind_text64(
      statement, index, text.baseAddress!.assumingMemoryBound(to: CChar.self), UInt64(text.count), nil,
      UInt8(SQLITE_UTF8))
  }

  @inline(__always)
  func take(blob: UnsafeRawBufferPointer) -> Int32 {
    sqlite3_bind_blob64(statement, index, blob.baseAddress!, UInt64(blob.count), nil)
  }

  func take(copying blob: [UInt8]) -> Int32 {
    blob.withUnsafeBytes {
      sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), transient)
    }
  }
}

/// The result of an SQL function.
struct FunctionResult: CellTarget {
  let context: OpaquePointer?

  @inline(__always)
  func takeNull() -> Int32 {
    sqlite3_result_null(context)
    return SQLITE_OK
  }

  @inline(__always)
  func take(_ integer: Int64) -> Int32 {
    sqlite3_result_int64(context, integer)
    return SQLITE_OK
  }

  @inline(__always)
  func take(_ real: Double) -> Int32 {
    sqlite3_result_double(context, real)
    return SQLITE_OK
  }

  @inline(__always)
  func take(text: UnsafeRawBufferPointer) -> Int32 {
    sqlite3_result_text64(
      context, text.baseAddress!.assumingMemoryBound(to: CChar.self), UInt64(text.count), nil,
      UInt8(SQLITE_UTF8))
    return SQLITE_OK
  }

  @inline(__always)
  func take(blob: UnsafeRawBufferPointer) -> Int32 {
    sqlite3_result_blob64(context, blob.baseAddress!, UInt64(blob.count), nil)
    return SQLITE_OK
  }

  func take(copying blob: [UInt8]) -> Int32 {
    blob.withUnsafeBytes { sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), transient) }
    return SQLITE_OK
  }
}
