#if !canImport(ObjectiveC)
  internal import Foundation

  /// The parts of a binary property list that keyed archives contain.
  ///
  /// Foundation's reader hides the references between the objects of an archive, and its writer can't write
  /// them.
  indirect enum PropertyListNode {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case date(Double)
    case data(Data)
    case string(String)
    /// A reference to an object of the archive.
    case reference(Int)
    case array([PropertyListNode])
    case dictionary([String: PropertyListNode])
  }

  /// A text that is compared by bytes. Swift treats composed and decomposed characters as equal.
  struct ExactText: Hashable {
    let text: String

    static func == (one: ExactText, other: ExactText) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    func hash(into hasher: inout Hasher) {
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
  }

  /// Writes nodes in the format `bplist00`.
  struct BinaryPropertyListWriter {
    private var bytes = Array("bplist00".utf8)
    private var offsets: [Int] = []
    private var strings: [ExactText: Int] = [:]

    static func data(_ root: PropertyListNode) -> Data {
      var writer = Self()
      // References are written before the objects that they lead to, so their size must be known. Two bytes
      // are enough for archives of usual attribute values, four for all others.
      let size = count(root) < 0xFFFF ? 2 : 4
      let top = writer.append(root, size)
      let table = writer.bytes.count
      for offset in writer.offsets { writer.appendInteger(UInt64(offset), bytes: 4) }
      writer.bytes += [0, 0, 0, 0, 0, 0, 4, UInt8(size)]
      writer.appendInteger(UInt64(writer.offsets.count), bytes: 8)
      writer.appendInteger(UInt64(top), bytes: 8)
      writer.appendInteger(UInt64(table), bytes: 8)
      return Data(writer.bytes)
    }

    private static func count(_ node: PropertyListNode) -> Int {
      switch node {
      case .array(let members): members.reduce(1) { $0 + count($1) }
      case .dictionary(let members): members.values.reduce(1 + members.count) { $0 + count($1) }
      default: 1
      }
    }

    private mutating func append(_ node: PropertyListNode, _ size: Int) -> Int {
      switch node {
      case .array(let members):
        let references = members.map { append($0, size) }
        return object {
          $0.appendHead(0xA0, members.count)
          for reference in references { $0.appendInteger(UInt64(reference), bytes: size) }
        }
      case .dictionary(let members):
        let sorted = members.sorted { $0.key < $1.key }
        let references =
          sorted.map { append(.string($0.key), size) } + sorted.map { append($0.value, size) }
        return object {
          $0.appendHead(0xD0, members.count)
          for reference in references { $0.appendInteger(UInt64(reference), bytes: size) }
        }
      case .string(let text):
        let exact = ExactText(text: text)
        if let known = strings[exact] { return known }
        let index = object { $0.append(text) }
        strings[exact] = index
        return index
      case .null: return object { $0.bytes.append(0x00) }
      case .bool(let value): return object { $0.bytes.append(value ? 0x09 : 0x08) }
      case .integer(let value): return object { $0.append(value) }
      case .real(let value):
        return object {
          $0.bytes.append(0x23)
          $0.appendInteger(value.bitPattern, bytes: 8)
        }
      case .date(let value):
        return object {
          $0.bytes.append(0x33)
          $0.appendInteger(value.bitPattern, bytes: 8)
        }
      case .data(let data):
        return object {
          $0.appendHead(0x40, data.count)
          $0.bytes += data
        }
      case .reference(let index):
        return object {
          $0.bytes.append(0x83)
          $0.appendInteger(UInt64(index), bytes: 4)
        }
      }
    }

    private mutating func object(_ write: (inout Self) -> Void) -> Int {
      offsets.append(bytes.count)
      write(&self)
      return offsets.count - 1
    }

    private mutating func append(_ text: String) {
      if text.utf8.allSatisfy({ $0 < 0x80 }) {
        appendHead(0x50, text.utf8.count)
        bytes += text.utf8
      } else {
        appendHead(0x60, text.utf16.count)
        for unit in text.utf16 { appendInteger(UInt64(unit), bytes: 2) }
      }
    }

    /// Negative numbers need the full width. Shorter ones are read without a sign.
    private mutating func append(_ value: Int64) {
      let (marker, count): (UInt8, Int) =
        switch value {
        case 0..<0x100: (0x10, 1)
        case 0..<0x1_0000: (0x11, 2)
        case 0..<0x1_0000_0000: (0x12, 4)
        default: (0x13, 8)
        }
      bytes.append(marker)
      appendInteger(UInt64(bitPattern: value), bytes: count)
    }

    private mutating func appendHead(_ marker: UInt8, _ count: Int) {
      if count < 15 {
        bytes.append(marker | UInt8(count))
      } else {
        bytes.append(marker | 0x0F)
        append(Int64(count))
      }
    }

    private mutating func appendInteger(_ value: UInt64, bytes count: Int) {
      for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
      }
    }
  }

  /// Reads binary property lists. Data from outside is not trusted. All offsets are checked, and damaged data
  /// gives nil.
  struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private let offsets: [Int]
    private let referenceSize: Int
    /// The number of objects that may still be made. Without it, lists that refer to themselves, or
    /// repeatedly to the same part, would never end.
    private var budget: Int

    static func read(_ data: Data) -> PropertyListNode? {
      guard var reader = Self(data), let top = reader.top else { return nil }
      return reader.node(top, depth: 0)
    }

    private let top: Int?

    private init?(_ data: Data) {
      let bytes = [UInt8](data)
      guard bytes.count >= 40, bytes.starts(with: "bplist0".utf8) else { return nil }
      let trailer = bytes.count - 32
      func number(_ start: Int, _ count: Int) -> Int? { Self.number(bytes, start, count) }
      let offsetSize = Int(bytes[trailer + 6])
      referenceSize = Int(bytes[trailer + 7])
      guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
        let count = number(trailer + 8, 8), let first = number(trailer + 16, 8),
        let table = number(trailer + 24, 8), count > 0, first < count, table <= trailer,
        count <= (trailer - table) / offsetSize
      else { return nil }
      var offsets: [Int] = []
      offsets.reserveCapacity(count)
      for index in 0..<count {
        guard let offset = number(table + index * offsetSize, offsetSize), offset < table else { return nil }
        offsets.append(offset)
      }
      self.bytes = bytes
      self.offsets = offsets
      top = first
      budget = 16 * count + 1024
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
      guard start >= 0, count >= 0, count <= bytes.count, start <= bytes.count - count else { return nil }
      var result: UInt64 = 0
      for byte in bytes[start..<(start + count)] {
        guard result >> 56 == 0 else { return nil }
        result = result << 8 | UInt64(byte)
      }
      return Int(exactly: result)
    }

    private mutating func node(_ index: Int, depth: Int) -> PropertyListNode? {
      guard depth < 64, budget > 0, offsets.indices.contains(index) else { return nil }
      budget -= 1
      var position = offsets[index]
      let marker = bytes[position]
      position += 1
      let low = Int(marker & 0x0F)
      switch marker & 0xF0 {
      case 0x00:
        switch low {
        case 0: return .null
        case 8: return .bool(false)
        case 9: return .bool(true)
        default: return nil
        }
      case 0x10: return integer(position, 1 << low).map { .integer($0) }
      case 0x20: return real(position, 1 << low).map { .real($0) }
      case 0x30: return real(position, 8).map { .date($0) }
      case 0x80: return Self.number(bytes, position, low + 1).map { .reference($0) }
      default: break
      }
      guard let count = count(low, &position) else { return nil }
      switch marker & 0xF0 {
      case 0x40: return slice(position, count).map { .data(Data($0)) }
      case 0x50: return slice(position, count).map { .string(String(decoding: $0, as: UTF8.self)) }
      case 0x60:
        guard count <= bytes.count, let units = slice(position, 2 * count) else { return nil }
        let base = units.startIndex
        let utf16 = (0..<count).map { UInt16(units[base + 2 * $0]) << 8 | UInt16(units[base + 2 * $0 + 1]) }
        return .string(String(decoding: utf16, as: UTF16.self))
      case 0xA0, 0xC0: return nodes(position, count, depth).map { .array($0) }
      case 0xD0:
        guard count <= bytes.count, let all = nodes(position, 2 * count, depth) else { return nil }
        var members: [String: PropertyListNode] = [:]
        for (key, value) in zip(all[..<count], all[count...]) {
          guard case .string(let key) = key else { return nil }
          members[key] = value
        }
        return .dictionary(members)
      default: return nil
      }
    }

    private mutating func nodes(_ position: Int, _ count: Int, _ depth: Int) -> [PropertyListNode]? {
      guard count <= bytes.count / referenceSize else { return nil }
      var result: [PropertyListNode] = []
      result.reserveCapacity(count)
      for index in 0..<count {
        guard let reference = Self.number(bytes, position + index * referenceSize, referenceSize),
          let node = node(reference, depth: depth + 1)
        else { return nil }
        result.append(node)
      }
      return result
    }

    /// The count of a marker: in the marker itself, or in an integer after it.
    private func count(_ low: Int, _ position: inout Int) -> Int? {
      guard low == 0x0F else { return low }
      guard position < bytes.count, bytes[position] & 0xF0 == 0x10 else { return nil }
      let size = 1 << Int(bytes[position] & 0x0F)
      guard let count = Self.number(bytes, position + 1, size) else { return nil }
      position += 1 + size
      return count
    }

    /// Only integers of eight bytes have a sign. Those of 16 bytes contain unsigned 64-bit integers.
    private func integer(_ position: Int, _ size: Int) -> Int64? {
      guard size <= 16, let part = slice(position, size) else { return nil }
      guard size < 16 || part.prefix(8).allSatisfy({ $0 == 0 }) else { return nil }
      let bits = part.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return size == 16 ? Int64(exactly: bits) : Int64(bitPattern: bits)
    }

    private func real(_ position: Int, _ size: Int) -> Double? {
      guard size == 4 || size == 8, let part = slice(position, size) else { return nil }
      let bits = part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return size == 8
        ? Double(bitPattern: bits) : Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    }

    private func slice(_ start: Int, _ count: Int) -> ArraySlice<UInt8>? {
      guard start >= 0, count >= 0, count <= bytes.count, start <= bytes.count - count else { return nil }
      return bytes[start..<(start + count)]
    }
  }
#endif
