import CoreDataEvolution
import Hummingbird

/// Writes JSON text, without a tree of values in between.
struct JSONWriter {
  private var bytes: [UInt8] = []
  private var needsComma = false

  /// What was written.
  var buffer: ByteBuffer { ByteBuffer(bytes: bytes) }

  mutating func beginObject(_ name: String? = nil) { open(name, UInt8(ascii: "{")) }
  mutating func endObject() { close(UInt8(ascii: "}")) }
  mutating func beginArray(_ name: String? = nil) { open(name, UInt8(ascii: "[")) }
  mutating func endArray() { close(UInt8(ascii: "]")) }

  mutating func member(_ name: String, _ value: FieldValue) {
    separate()
    string(name)
    bytes.append(UInt8(ascii: ":"))
    write(value)
    needsComma = true
  }

  /// A member whose value is JSON already.
  mutating func member(_ name: String, json value: ByteBuffer) {
    separate()
    string(name)
    bytes.append(UInt8(ascii: ":"))
    bytes += value.readableBytesView
    needsComma = true
  }

  private mutating func write(_ value: FieldValue) {
    switch value {
    case .null: bytes += "null".utf8
    case .flag(let flag): bytes += (flag ? "true" : "false").utf8
    case .integer(let number): bytes += String(number).utf8
    case .text(let text): string(text)
    case .texts(let texts):
      bytes.append(UInt8(ascii: "["))
      for (index, text) in texts.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        string(text)
      }
      bytes.append(UInt8(ascii: "]"))
    }
  }

  private mutating func open(_ name: String?, _ bracket: UInt8) {
    separate()
    if let name {
      string(name)
      bytes.append(UInt8(ascii: ":"))
    }
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { plain in
      // Without an early end the compiler compares many bytes at once.
      let escapes = plain.reduce(into: UInt8(0)) { $0 |= Self.needsEscape($1) ? 1 : 0 }
      guard escapes > 0 else { return bytes.append(contentsOf: plain) }
      var start = 0
      for (index, byte) in plain.enumerated() where Self.needsEscape(byte) {
        bytes += plain[start..<index]
        start = index + 1
        escape(byte)
      }
      bytes += plain[start...]
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5C }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 0x22: bytes += "\\\"".utf8
    case 0x5C: bytes += "\\\\".utf8
    case 0x0A: bytes += "\\n".utf8
    case 0x0D: bytes += "\\r".utf8
    case 0x09: bytes += "\\t".utf8
    default:
      let digits = String(byte, radix: 16)
      bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
    }
  }
}
