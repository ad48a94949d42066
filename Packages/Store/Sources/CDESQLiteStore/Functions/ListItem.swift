import CDESQLite
import CDEStore
import Foundation

/// Encodes values of long lists as plain JSON strings: a letter for the type, then digits.
enum ListItem {
  static func encoded(_ value: StoreValue) -> String {
    switch value {
    case .null: "n"
    case .integer(let integer), .reference(_, let integer): "i\(integer)"
    case .real(let real): "r\(Int64(bitPattern: real.bitPattern))"
    case .text(let text): "t" + hexadecimal(text.utf8)
    case .blob(let data): "b" + hexadecimal(data)
    }
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var result: [UInt8] = []
    for byte in bytes { result += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: result, as: UTF8.self)
  }

  /// Decodes a value and returns it as the result of an SQL function.
  static func decode(_ value: OpaquePointer?, _ context: OpaquePointer?) {
    guard let start = sqlite3_value_text(value) else { return sqlite3_result_null(context) }
    let text = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    guard let type = text.first else { return sqlite3_result_null(context) }
    let rest = text.dropFirst()
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch type {
    case UInt8(ascii: "i"):
      sqlite3_result_int64(context, Int64(String(decoding: rest, as: UTF8.self)) ?? 0)
    case UInt8(ascii: "r"):
      let bits = Int64(String(decoding: rest, as: UTF8.self)) ?? 0
      sqlite3_result_double(context, Double(bitPattern: UInt64(bitPattern: bits)))
    case UInt8(ascii: "t"), UInt8(ascii: "b"):
      func digit(_ character: UInt8) -> UInt8 { character < 0x3A ? character - 0x30 : character - 0x57 }
      var bytes = stride(from: rest.startIndex, to: rest.endIndex - 1, by: 2).map {
        digit(rest[$0]) << 4 | digit(rest[$0 + 1])
      }
      let count = bytes.count
      // An empty array may have no address, which SQLite would treat as NULL.
      bytes.append(0)
      bytes.withUnsafeBytes {
        if type == UInt8(ascii: "t") {
          sqlite3_result_text64(
            context, $0.baseAddress!.assumingMemoryBound(to: CChar.self), UInt64(count), transient,
            UInt8(SQLITE_UTF8))
        } else {
          sqlite3_result_blob64(context, $0.baseAddress!, UInt64(count), transient)
        }
      }
    default: sqlite3_result_null(context)
    }
  }
}
