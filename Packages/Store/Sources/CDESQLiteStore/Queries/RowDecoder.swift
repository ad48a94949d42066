@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore

enum RowDecoder {
  // A batch lives as long as any of its rows, so its number of rows and bytes is limited.
  static let rowsPerBatch = 512
  static let bytesPerBatch = 4 << 20

  /// Decodes a row of a statement.
  ///
  /// - Returns: `false` when a value can't be stored: out of memory, or beyond the arena's limit.
  @inline(__always)
  static func decode(
    _ values: borrowing some RowValueSource & ~Copyable, _ steps: UnsafeBufferPointer<ColumnStep>,
    numbers: [Int64: EntityIndex], key: Int64, into builder: inout RowBatchBuilder
  ) -> Bool {
    builder.beginRow(key: key, version: sqlite3_value_int64(values[1]))
    for step in steps {
      let value = values[step.column]
      let cell = step.cell.index
      switch step.kind {
      case .integer:
        // SQLite stores any value in any column, and reads a text that is no number as zero. Text that is a number counts as one.
        let type = sqlite3_value_numeric_type(value)
        if type == SQLITE_INTEGER {
          builder.setInteger(cell, sqlite3_value_int64(value))
        } else if type != SQLITE_NULL {
          setStrangeInteger(value, type, cell, key, &builder)
        }
      case .real:
        let type = sqlite3_value_numeric_type(value)
        if type == SQLITE_FLOAT || type == SQLITE_INTEGER {
          builder.setReal(cell, sqlite3_value_double(value))
        } else if type != SQLITE_NULL {
          noteStranger(type, cell, key, builder)
        }
      case .text:
        guard let start = sqlite3_value_text(value) else {
          if sqlite3_value_type(value) == SQLITE_NULL { continue }
          return false
        }
        let count = Int(sqlite3_value_bytes(value))
        guard builder.arenaCount &+ count <= Int(UInt32.max) else { return false }
        builder.setBytes(cell, UnsafeRawBufferPointer(start: start, count: count))
      case .blob, .uuid:
        guard let start = sqlite3_value_blob(value) else {
          if sqlite3_value_type(value) != SQLITE_NULL {
            builder.setBytes(cell, UnsafeRawBufferPointer(start: nil, count: 0))
          }
          continue
        }
        let count = Int(sqlite3_value_bytes(value))
        guard builder.arenaCount &+ count <= Int(UInt32.max) else { return false }
        let bytes = UnsafeRawBufferPointer(start: start, count: count)
        if step.kind == .uuid, count == 36 {
          setUUID(bytes, cell, &builder)
        } else {
          builder.setBytes(cell, bytes)
        }
      case .key:
        // Keys begin at 1. In memory lower keys belong to rows to be inserted. A stored lower key would be
        // taken for a new object's key, so it counts as NULL.
        let key = sqlite3_value_int64(value)
        if key > 0 { builder.setInteger(cell, key) }
      case .entity:
        if let index = numbers[sqlite3_value_int64(value)] {
          builder.setEntity(cell, index)
        }
      }
    }
    return true
  }

  /// A fraction loses what follows its point, as in Core Data.
  @inline(never)
  private static func setStrangeInteger(
    _ value: OpaquePointer?, _ type: Int32, _ cell: CellIndex, _ key: Int64, _ builder: inout RowBatchBuilder
  ) {
    guard type == SQLITE_FLOAT else { return noteStranger(type, cell, key, builder) }
    let number = sqlite3_value_double(value)
    if let integer = Int64(exactly: number.rounded(.towardZero)) {
      builder.setInteger(cell, integer)
    } else {
      ValueReports.noteStranger("\(number), which is no integer,", cell, ofRow: key, in: builder.layout)
    }
  }

  @inline(never)
  private static func noteStranger(
    _ type: Int32, _ cell: CellIndex, _ key: Int64, _ builder: borrowing RowBatchBuilder
  ) {
    ValueReports.noteStranger(
      type == SQLITE_TEXT ? "text" : "binary data", cell, ofRow: key, in: builder.layout)
  }

  /// Some libraries store UUIDs as text.
  @inline(never)
  private static func setUUID(
    _ text: UnsafeRawBufferPointer, _ cell: CellIndex, _ builder: inout RowBatchBuilder
  ) {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text where character != 0x2D {
      let digit: UInt8
      switch character {
      case 0x30...0x39: digit = character - 0x30
      case 0x41...0x46: digit = character - 0x41 + 10
      case 0x61...0x66: digit = character - 0x61 + 10
      default: return builder.setBytes(cell, text)
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    guard bytes.count == 16, high == nil else { return builder.setBytes(cell, text) }
    bytes.withUnsafeBytes { builder.setBytes(cell, $0) }
  }
}
