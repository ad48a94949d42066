import Foundation

extension JSONValue {
  /// Reads a document. Numbers stay as they are written.
  ///
  /// - Throws: ``ToolError`` that names the line.
  public init(reading data: Data) throws(ToolError) {
    var reader = JSONReader(bytes: [UInt8](data))
    self = try reader.document()
  }
}

private struct JSONReader {
  let bytes: [UInt8]
  var position = 0

  mutating func document() throws(ToolError) -> JSONValue {
    let value = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw failure("more text follows the value") }
    return value
  }

  private func failure(_ reason: String) -> ToolError {
    let line = bytes.prefix(position).count { $0 == 0x0A } + 1
    return ToolError("Line \(line) is no JSON: \(reason). Correct the file.")
  }

  private mutating func skipSpace() {
    while position < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[position]) { position += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(ToolError) -> JSONValue {
    // A deeper document would overflow the stack.
    guard depth < 200 else { throw failure("values are nested more than 200 levels") }
    skipSpace()
    guard position < bytes.count else { throw failure("a value is missing") }
    switch bytes[position] {
    case 0x7B: return try object(depth)
    case 0x5B: return try array(depth)
    case 0x22: return .string(try string())
    default: return try word()
    }
  }

  private mutating func object(_ depth: Int) throws(ToolError) -> JSONValue {
    position += 1
    var members: [JSONValue.Member] = []
    if take(0x7D) { return .object([]) }
    repeat {
      skipSpace()
      guard position < bytes.count, bytes[position] == 0x22 else { throw failure("a key is missing") }
      let key = try string()
      guard take(0x3A) else { throw failure("a colon is missing") }
      members.append(.init(key, try value(depth: depth + 1)))
    } while take(0x2C)
    guard take(0x7D) else { throw failure("a brace is missing") }
    return .object(members)
  }

  private mutating func array(_ depth: Int) throws(ToolError) -> JSONValue {
    position += 1
    var values: [JSONValue] = []
    if take(0x5D) { return .array([]) }
    repeat { values.append(try value(depth: depth + 1)) } while take(0x2C)
    guard take(0x5D) else { throw failure("a bracket is missing") }
    return .array(values)
  }

  private mutating func string() throws(ToolError) -> String {
    let start = position
    position += 1
    var isPlain = true
    while position < bytes.count, bytes[position] != 0x22 {
      if bytes[position] == 0x5C {
        isPlain = false
        position += 1
      }
      position += 1
    }
    guard position < bytes.count else { throw failure("a text has no end") }
    position += 1
    if isPlain { return String(decoding: bytes[(start + 1)..<(position - 1)], as: UTF8.self) }
    // Escapes are rare, so Foundation reads them.
    let data = Data([0x5B] + bytes[start..<position] + [0x5D])
    guard let list = try? JSONSerialization.jsonObject(with: data) as? [String], let text = list.first else {
      throw failure("a text has an unknown escape")
    }
    return text
  }

  private mutating func word() throws(ToolError) -> JSONValue {
    let start = position
    while position < bytes.count, !Set(" \n\r\t,]}:".utf8).contains(bytes[position]) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    switch text {
    case "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default:
      guard text.wholeMatch(of: #/-?\d+(\.\d+)?([eE][+-]?\d+)?/#) != nil else {
        throw failure("“\(text.prefix(20))” is no value")
      }
      return .number(text)
    }
  }
}

/// Rows of a file with commas, as RFC 4180 describes it.
enum CSVReader {
  static func rows(_ text: String) throws(ToolError) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field = String.UnicodeScalarView()
    var isQuoted = false
    var line = 1
    var scalars = Array(text.unicodeScalars)
    if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
    var position = 0
    func next() -> Unicode.Scalar? { position + 1 < scalars.count ? scalars[position + 1] : nil }
    while position < scalars.count {
      let scalar = scalars[position]
      if scalar == "\n" { line += 1 }
      switch scalar {
      case "\"" where isQuoted && next() == "\"":
        field.append("\"")
        position += 1
      case "\"" where isQuoted || field.isEmpty: isQuoted.toggle()
      case "," where !isQuoted:
        row.append(String(field))
        field = .init()
      case "\r" where !isQuoted && next() == "\n": break
      case "\n" where !isQuoted:
        row.append(String(field))
        rows.append(row)
        row = []
        field = .init()
      default: field.append(scalar)
      }
      position += 1
    }
    guard !isQuoted else {
      throw ToolError("Line \(line) has a quotation mark without its partner. Correct the file.")
    }
    if !field.isEmpty || !row.isEmpty { rows.append(row + [String(field)]) }
    return rows
  }
}
