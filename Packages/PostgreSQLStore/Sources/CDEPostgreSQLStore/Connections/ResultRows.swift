#if PostgreSQL
  internal import CDELibPQ
  internal import Foundation

  /// The rows of one result, in the server's binary format.
  ///
  /// Values are valid while the result exists. The caller knows the types, because it wrote the statement.
  struct ResultRows: ~Copyable {
    private let handle: OpaquePointer
    /// The number of rows.
    let count: Int

    /// Takes ownership of a result of libpq's.
    init(_ handle: OpaquePointer) {
      self.handle = handle
      count = Int(PQntuples(handle))
    }

    deinit { PQclear(handle) }

    /// The number of rows that the statement inserted, changed or deleted.
    var affected: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The server's number for the type of a column.
    func type(_ column: Int32) -> UInt32 { PQftype(handle, column) }

    @inline(__always)
    func isNull(_ row: Int, _ column: Int32) -> Bool {
      PQgetisnull(handle, Int32(truncatingIfNeeded: row), column) != 0
    }

    /// The value's bytes; empty for null.
    @inline(__always)
    func bytes(_ row: Int, _ column: Int32) -> UnsafeRawBufferPointer {
      let row = Int32(truncatingIfNeeded: row)
      return UnsafeRawBufferPointer(
        start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
    }

    /// The value of a column of the type `int8`. A value of another size counts as zero, and so does null.
    @inline(__always)
    func integer(_ row: Int, _ column: Int32) -> Int64 { Self.integer(bytes(row, column)) }

    /// The value of a column of the type `float8`.
    @inline(__always)
    func double(_ row: Int, _ column: Int32) -> Double { Self.double(bytes(row, column)) }

    /// The value whose bytes are given, as ``integer(_:_:)`` reads it.
    @inline(__always)
    static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64 {
      bytes.count == 8 ? Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) : 0
    }

    /// The value whose bytes are given, as ``double(_:_:)`` reads it.
    @inline(__always)
    static func double(_ bytes: UnsafeRawBufferPointer) -> Double {
      Double(bitPattern: UInt64(bitPattern: integer(bytes)))
    }

    /// The value of a column of the type `bool`.
    @inline(__always)
    func boolean(_ row: Int, _ column: Int32) -> Bool { bytes(row, column).first == 1 }

    /// The value of a column of the type `text`; nil for null.
    func text(_ row: Int, _ column: Int32) -> String? {
      isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self)
    }
  }
#endif
