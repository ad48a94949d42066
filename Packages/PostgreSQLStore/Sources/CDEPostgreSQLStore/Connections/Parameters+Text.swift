#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import Foundation

  extension Parameters {
    /// A statement with its values in place of `$1`, `$2` and so on. Nothing runs it: it is for people to read.
    borrowing func expanded(_ sql: String) -> String {
      var result = ""
      var rest = sql[...]
      while let dollar = rest.firstIndex(of: "$") {
        result += rest[..<dollar]
        let digits = rest[rest.index(after: dollar)...].prefix { $0.isASCII && $0.isNumber }
        rest = rest[digits.endIndex...]
        if let number = Int(digits), number > 0, number <= count {
          result += text(number - 1)
        } else {
          result += "$" + digits
        }
      }
      return result + rest
    }

    private borrowing func text(_ index: Int) -> String {
      withPointers { values, lengths, _ in
        guard let start = values[index] else { return "NULL" }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(lengths[index]))
        if let type = ServerType(rawValue: types[index]) { return Self.text(bytes, type) }
        let element = ServerType.allCases.first { $0.array == types[index] }
        return element.map { Self.list(bytes, $0) } ?? "?"
      }
    }

    /// An array in the server's binary format: three numbers, the size and the first index, then lengths and elements.
    private static func list(_ bytes: UnsafeRawBufferPointer, _ type: ServerType) -> String {
      var parts: [String] = []
      var place = 20
      while place + 4 <= bytes.count {
        let length = Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)))
        place += 4
        if length < 0 {
          parts.append("NULL")
          continue
        }
        parts.append(text(UnsafeRawBufferPointer(rebasing: bytes[place..<place + length]), type))
        place += length
      }
      return "ARRAY[\(parts.joined(separator: ", "))]::\(type.name)[]"
    }

    private static func text(_ bytes: UnsafeRawBufferPointer, _ type: ServerType) -> String {
      switch type {
      case .boolean: bytes.first == 0 ? "false" : "true"
      case .integer: String(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
      case .double:
        String(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
      case .text: "'" + String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "'", with: "''") + "'"
      case .bytes: "'\\x" + bytes.map { String(format: "%02x", $0) }.joined() + "'"
      case .uuid: "'\(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString)'"
      }
    }
  }
#endif
