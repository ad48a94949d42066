public import Foundation

/// The parts of a binary property list that keyed archives and compiled models contain.
///
/// Foundation's reader hides the references between the objects of an archive, and its writer can't write
/// them.
@_spi(CDE) public enum PropertyListNode: Sendable {
  /// No value.
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  /// Seconds since 2001.
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
@_spi(CDE) public struct BinaryPropertyListWriter {
  private var bytes = Array("bplist00".utf8)
  private var offsets: [Int] = []
  private var strings: [ExactText: Int] = [:]
  /// The objects that are references, by the number that they lead to; -1 for none. As in Apple's files, a
  /// reference is written once.
  private var references: [Int] = []

  /// The bytes of a property list. Equal nodes give equal bytes.
  public static func data(_ root: PropertyListNode) -> Data {
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
      if references.indices.contains(index), references[index] >= 0 { return references[index] }
      let reference = object {
        $0.bytes.append(0x83)
        $0.appendInteger(UInt64(index), bytes: 4)
      }
      // An archive that was read may have references that lead far away, to nothing.
      if index < 1 << 20 {
        while references.count <= index { references.append(-1) }
        references[index] = reference
      }
      return reference
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

/// Reads binary property lists as a whole. Damaged data gives nil.
@_spi(CDE) public struct BinaryPropertyListReader {
  private let index: BinaryPropertyListIndex
  /// The number of objects that may still be made. Without it, lists that refer to themselves, or
  /// repeatedly to the same part, would never end.
  private var budget: Int
  /// Texts and data by object. Without them, a list that refers to a long text many times would fill the
  /// memory with copies of it.
  private var leaves: [PropertyListNode?]

  /// The property list in `data`; nil when it is none, or damaged.
  public static func read(_ data: Data) -> PropertyListNode? {
    guard let index = BinaryPropertyListIndex(data) else { return nil }
    var reader = Self(index)
    return reader.node(index.top, depth: 0)
  }

  private init(_ index: BinaryPropertyListIndex) {
    self.index = index
    budget = 16 * index.count + 1024
    leaves = Array(repeating: nil, count: index.count)
  }

  private mutating func node(_ object: Int, depth: Int) -> PropertyListNode? {
    guard depth < 64, budget > 0, leaves.indices.contains(object) else { return nil }
    budget -= 1
    if let leaf = leaves[object] { return leaf }
    switch index.object(object) {
    case .leaf(let node)?:
      leaves[object] = node
      return node
    case .array(let members)?: return nodes(members, depth).map { .array($0) }
    case .dictionary(let keys, let values)?:
      guard let keys = nodes(keys, depth), let values = nodes(values, depth) else { return nil }
      var members: [String: PropertyListNode] = [:]
      for (key, value) in zip(keys, values) {
        guard case .string(let key) = key else { return nil }
        members[key] = value
      }
      return .dictionary(members)
    case nil: return nil
    }
  }

  private mutating func nodes(
    _ members: BinaryPropertyListIndex.Members, _ depth: Int
  ) -> [PropertyListNode]? {
    var result: [PropertyListNode] = []
    result.reserveCapacity(members.count)
    for position in 0..<members.count {
      guard let node = node(index.member(position, of: members), depth: depth + 1) else { return nil }
      result.append(node)
    }
    return result
  }
}
