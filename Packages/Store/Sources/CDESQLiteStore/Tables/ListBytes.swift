import CDESQLite
import CDEStore
import Foundation

/// A list of values as the bytes that a statement binds, for ``ListTable``.
///
/// Each value is one byte for its kind, then eight bytes for a number, or for the number of bytes of a text or blob that
/// follow. Numbers are in the byte order of the machine. The bytes are never stored.
enum ListBytes {
  enum Kind: UInt8 { case null, integer, real, text, blob }

  static let numberSize = 9

  static func encoded(_ keys: [Int64]) -> Data {
    var data = Data(count: keys.count * numberSize)
    data.withUnsafeMutableBytes { bytes in
      for (index, key) in keys.enumerated() {
        bytes[index &* numberSize] = Kind.integer.rawValue
        bytes.storeBytes(of: key, toByteOffset: index &* numberSize &+ 1, as: Int64.self)
      }
    }
    return data
  }

  static func encoded(_ values: [StoreValue]) -> Data {
    var data = Data(capacity: values.count * numberSize)
    func append(_ kind: Kind, _ number: Int64) {
      data.append(kind.rawValue)
      withUnsafeBytes(of: number) { data.append(contentsOf: $0) }
    }
    for value in values {
      switch value {
      case .null: data.append(Kind.null.rawValue)
      case .integer(let integer), .reference(_, let integer): append(.integer, integer)
      case .real(let real): append(.real, Int64(bitPattern: real.bitPattern))
      case .text(let text):
        append(.text, Int64(text.utf8.count))
        data.append(contentsOf: text.utf8)
      case .blob(let blob):
        append(.blob, Int64(blob.count))
        data.append(blob)
      }
    }
    return data
  }
}

/// Reads the values of ``ListBytes`` one after the other.
struct ListReader {
  private var rest: UnsafeRawBufferPointer
  private var kind = ListBytes.Kind.null
  private var number: Int64 = 0
  private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)

  /// - Precondition: the bytes outlive the reader.
  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  /// Reads the next value.
  ///
  /// - Returns: false if there is none, or if the bytes end within it.
  mutating func next() -> Bool {
    guard let first = rest.first, let kind = ListBytes.Kind(rawValue: first) else { return false }
    self.kind = kind
    if kind == .null {
      rest = UnsafeRawBufferPointer(rebasing: rest[1...])
      return true
    }
    guard rest.count >= ListBytes.numberSize else { return false }
    number = rest.loadUnaligned(fromByteOffset: 1, as: Int64.self)
    rest = UnsafeRawBufferPointer(rebasing: rest[ListBytes.numberSize...])
    if kind == .text || kind == .blob {
      guard number >= 0, number <= rest.count else { return false }
      bytes = UnsafeRawBufferPointer(rebasing: rest[..<Int(number)])
      rest = UnsafeRawBufferPointer(rebasing: rest[Int(number)...])
    }
    return true
  }

  /// Gives the value that was read to SQLite.
  func give(to context: OpaquePointer?) {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch kind {
    case .null: sqlite3_result_null(context)
    case .integer: sqlite3_result_int64(context, number)
    case .real: sqlite3_result_double(context, Double(bitPattern: UInt64(bitPattern: number)))
    case .text:
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      sqlite3_result_text64(context, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
    case .blob:
      // Without an address SQLite would take it for NULL.
      if bytes.isEmpty { return sqlite3_result_zeroblob(context, 0) }
      sqlite3_result_blob64(context, bytes.baseAddress, UInt64(bytes.count), transient)
    }
  }
}
