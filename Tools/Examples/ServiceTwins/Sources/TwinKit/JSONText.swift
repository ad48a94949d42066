import Hummingbird

/// Writes JSON into a buffer, as the service does: without a tree of values in between.
struct JSONText {
  private(set) var buffer = ByteBuffer()

  mutating func raw(_ text: StaticString) { buffer.writeStaticString(text) }
  mutating func number(_ number: Int64) { buffer.writeString(String(number)) }
  mutating func flag(_ flag: Bool) { raw(flag ? "true" : "false") }

  mutating func text(_ text: String?) {
    guard var text else { return raw("null") }
    raw("\"")
    text.withUTF8 { bytes in
      var start = 0
      for (index, byte) in bytes.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
        buffer.writeBytes(bytes[start..<index])
        start = index + 1
        escape(byte)
      }
      buffer.writeBytes(bytes[start...])
    }
    raw("\"")
  }

  mutating func texts(_ texts: [String]) {
    raw("[")
    for (index, text) in texts.enumerated() {
      if index > 0 { raw(",") }
      self.text(text)
    }
    raw("]")
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 0x22: raw("\\\"")
    case 0x5C: raw("\\\\")
    case 0x0A: raw("\\n")
    case 0x0D: raw("\\r")
    case 0x09: raw("\\t")
    default:
      let digits = String(byte, radix: 16)
      buffer.writeString("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
    }
  }
}

extension JSONText {
  mutating func version(_ row: VersionRow, isDetail: Bool) {
    raw("{\"id\":\"p")
    number(row.id)
    raw("\",\"key\":")
    text(row.key)
    raw(",\"package\":")
    text(row.package)
    raw(",\"number\":")
    text(row.number)
    raw(",\"architecture\":")
    text(row.architecture)
    raw(",\"summary\":")
    text(row.summary)
    raw(",\"installedSize\":")
    number(row.installedSize)
    raw(",\"isInstalled\":")
    flag(row.isInstalled)
    raw(",\"section\":")
    text(row.section)
    raw(",\"maintainer\":")
    text(row.maintainer)
    if isDetail {
      raw(",\"dependencies\":")
      texts(row.dependencies)
      raw(",\"provides\":")
      texts(row.provides)
    }
    raw("}")
  }

  /// The entity tag of an object that was written so.
  func tag(id: Int64, revision: Int64) -> String {
    // FNV-1a.
    var checksum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in buffer.readableBytesView { checksum = (checksum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return "\"p\(id)-\(revision)-\(String(checksum, radix: 36))\""
  }
}
