public import Foundation

/// The objects of a binary property list by number, each of which is read when it is asked for.
///
/// Data from outside is not trusted. All offsets are checked, and what is damaged is nil.
@_spi(CDE) public struct BinaryPropertyListIndex: Sendable {
  /// The numbers of the members of a list, as they stand in the file.
  public struct Members: Sendable {
    fileprivate let start: Int
    /// How many members there are.
    public let count: Int
  }

  /// One object, without its members.
  public enum Object: Sendable {
    /// A value that is no collection.
    case leaf(PropertyListNode)
    case array(Members)
    case dictionary(keys: Members, values: Members)
  }

  private let bytes: [UInt8]
  private let offsets: [Int]
  private let referenceSize: Int
  /// The number of the object that contains the others.
  public let top: Int

  /// The number of objects.
  public var count: Int { offsets.count }

  /// Checks the frame of a property list. Reads no object.
  public init?(_ data: Data) {
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
    var position = table
    for _ in 0..<count {
      var offset = 0
      for _ in 0..<offsetSize {
        // An offset of eight bytes may be too large for a number; it is then none below the table.
        offset = offset < 1 << 48 ? offset << 8 | Int(bytes[position]) : .max
        position += 1
      }
      guard offset < table else { return nil }
      offsets.append(offset)
    }
    self.bytes = bytes
    self.offsets = offsets
    top = first
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

  /// The number of a list's member. A number that leads to no object is -1.
  ///
  /// - Parameters:
  ///   - position: A position below the list's count.
  ///   - members: A list of this file.
  public func member(_ position: Int, of members: Members) -> Int {
    let start = members.start + position * referenceSize
    // Lists were checked to end in the file.
    let number =
      referenceSize == 2
      ? Int(bytes[start]) << 8 | Int(bytes[start + 1]) : Self.number(bytes, start, referenceSize) ?? -1
    return number < offsets.count ? number : -1
  }

  /// The object with a number; nil when there is none, or when it is damaged.
  public func object(_ index: Int) -> Object? {
    guard offsets.indices.contains(index) else { return nil }
    var position = offsets[index]
    let marker = bytes[position]
    position += 1
    let low = Int(marker & 0x0F)
    switch marker & 0xF0 {
    case 0x00:
      switch low {
      case 0: return .leaf(.null)
      case 8: return .leaf(.bool(false))
      case 9: return .leaf(.bool(true))
      default: return nil
      }
    case 0x10: return integer(position, 1 << low).map { .leaf(.integer($0)) }
    case 0x20: return real(position, 1 << low).map { .leaf(.real($0)) }
    case 0x30: return real(position, 8).map { .leaf(.date($0)) }
    case 0x80: return Self.number(bytes, position, low + 1).map { .leaf(.reference($0)) }
    default: break
    }
    guard let count = count(low, &position) else { return nil }
    switch marker & 0xF0 {
    case 0x40: return slice(position, count).map { .leaf(.data(Data($0))) }
    case 0x50: return slice(position, count).map { .leaf(.string(String(decoding: $0, as: UTF8.self))) }
    case 0x60:
      guard count <= bytes.count, let units = slice(position, 2 * count) else { return nil }
      let base = units.startIndex
      let utf16 = (0..<count).map { UInt16(units[base + 2 * $0]) << 8 | UInt16(units[base + 2 * $0 + 1]) }
      return .leaf(.string(String(decoding: utf16, as: UTF16.self)))
    case 0xA0, 0xC0: return members(position, count).map { .array($0) }
    case 0xD0:
      guard let keys = members(position, count),
        let values = members(position + count * referenceSize, count)
      else { return nil }
      return .dictionary(keys: keys, values: values)
    default: return nil
    }
  }

  /// Whether an object is a text of only these ASCII characters.
  public func object(_ index: Int, isText text: StaticString) -> Bool {
    guard offsets.indices.contains(index), bytes[offsets[index]] & 0xF0 == 0x50 else { return false }
    var position = offsets[index] + 1
    guard count(Int(bytes[position - 1] & 0x0F), &position) == text.utf8CodeUnitCount,
      position <= bytes.count - text.utf8CodeUnitCount
    else { return false }
    for place in 0..<text.utf8CodeUnitCount where bytes[position + place] != text.utf8Start[place] {
      return false
    }
    return true
  }

  private func members(_ start: Int, _ count: Int) -> Members? {
    guard count <= bytes.count / referenceSize, start <= bytes.count - count * referenceSize else {
      return nil
    }
    return Members(start: start, count: count)
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
