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
        if let type = ServerType.all.first(where: { $0.rawValue == types[index] }) {
          return type.literal(bytes)
        }
        let element = ServerType.all.first { $0.array == types[index] }
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
        parts.append(type.literal(UnsafeRawBufferPointer(rebasing: bytes[place..<place + length])))
        place += length
      }
      return "ARRAY[\(parts.joined(separator: ", "))]::\(type.name)[]"
    }
  }
#endif
