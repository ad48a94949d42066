import CoreDataEvolution
import Hummingbird

/// Writes JSON text into a buffer, without a tree of values in between.
struct JSONWriter {
  private(set) var buffer = ByteBuffer()
  private var needsComma = false

  mutating func beginObject(_ name: String? = nil) { open(name, UInt8(ascii: "{")) }
  mutating func endObject() { close(UInt8(ascii: "}")) }
  mutating func beginArray(_ name: String? = nil) { open(name, UInt8(ascii: "[")) }
  mutating func endArray() { close(UInt8(ascii: "]")) }

  mutating func member(_ name: String, _ value: FieldValue) {
    separate()
    string(name)
    buffer.writeInteger(UInt8(ascii: ":"))
    write(value)
    needsComma = true
  }

  /// A member whose value is JSON already.
  mutating func member(_ name: String, json value: ByteBuffer) {
    separate()
    string(name)
    buffer.writeInteger(UInt8(ascii: ":"))
    buffer.writeImmutableBuffer(value)
    needsComma = true
  }

  private mutating func write(_ value: FieldValue) {
    switch value {
    case .null: buffer.writeStaticString("null")
    case .flag(let flag): buffer.writeStaticString(flag ? "true" : "false")
    case .integer(let number): buffer.writeString(String(number))
    case .text(let text): string(text)
    case .texts(let texts):
      buffer.writeInteger(UInt8(ascii: "["))
      for (index, text) in texts.enumerated() {
        if index > 0 { buffer.writeInteger(UInt8(ascii: ",")) }
        string(text)
      }
      buffer.writeInteger(UInt8(ascii: "]"))
    }
  }

  private mutating func open(_ name: String?, _ bracket: UInt8) {
    separate()
    if let name {
      string(name)
      buffer.writeInteger(UInt8(ascii: ":"))
    }
    buffer.writeInteger(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    buffer.writeInteger(bracket)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { buffer.writeInteger(UInt8(ascii: ",")) }
  }

  private mutating func string(_ text: String) {
    buffer.writeInteger(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { bytes in
      var start = 0
      for (index, byte) in bytes.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
        buffer.writeBytes(bytes[start..<index])
        start = index + 1
        escape(byte)
      }
      buffer.writeBytes(bytes[start...])
    }
    buffer.writeInteger(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 0x22: buffer.writeStaticString("\\\"")
    case 0x5C: buffer.writeStaticString("\\\\")
    case 0x0A: buffer.writeStaticString("\\n")
    case 0x0D: buffer.writeStaticString("\\r")
    case 0x09: buffer.writeStaticString("\\t")
    default:
      let digits = String(byte, radix: 16)
      buffer.writeString("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
    }
  }
}
