internal import Foundation
@_spi(Reflection) internal import Swift

/// What the compiler records of a type: the stored properties of a struct, the cases of an enumeration.
@_spi(CDE) public enum TypeFields {
  public struct Field {
    public let name: String
    public let type: Any.Type
  }

  public struct Case: Hashable {
    public let name: String
    public let hasPayload: Bool
  }

  /// The standard library's own constant of this name is a variable, which Swift 6 does not let code read.
  private static let ignoreUnknown = _EachFieldOptions(rawValue: 1 << 1)

  /// The stored properties of a struct in declared order; empty for other types, and for modules that are compiled without
  /// reflection.
  public static func fields(of type: Any.Type) -> [Field] {
    guard kind(of: type) == .structure else { return [] }
    var result: [Field] = []
    _ = _forEachField(of: type, options: TypeFields.ignoreUnknown) { name, _, type, _ in
      result.append(Field(name: String(cString: name), type: type))
      return true
    }
    return result
  }

  /// The cases of an enumeration, those with associated values first; nil for other types, and for modules that are compiled
  /// without reflection.
  public static func cases(of type: Any.Type) -> [Case]? {
    guard kind(of: type) == .enumeration else { return nil }
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    // Metadata: kind, descriptor. Descriptor: flags, parent, name, access function, fields; each of 32 bits, and the last four
    // are distances from their own place.
    let descriptor = metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer.self)
    guard let fields = follow(descriptor + 16) else { return nil }
    // Fields: type name, superclass, 16 bits of kind, 16 bits of a record's size, count. Record: flags, type name, name.
    let size = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
    let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
    return (0..<count).compactMap { index in
      let record = fields + 16 + index * size
      guard let name = follow(record + 8) else { return nil }
      return Case(
        name: String(cString: name.assumingMemoryBound(to: CChar.self)), hasPayload: follow(record + 4) != nil
      )
    }
  }

  /// A case without associated values, of an enumeration that has no others.
  ///
  /// - Parameter tag: the place of the case in declared order.
  public static func value<T>(of type: T.Type, tag: Int) -> T {
    // Such an enumeration is a number of as many bytes as its cases need, and none if it has one case.
    withUnsafeTemporaryAllocation(
      byteCount: max(MemoryLayout<T>.size, 1), alignment: MemoryLayout<T>.alignment
    ) { buffer in
      for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: tag >> (8 * index)) }
      return buffer.baseAddress!.assumingMemoryBound(to: T.self).pointee
    }
  }

  /// Whether a type is an optional. Asking for a conformance takes ten times as long.
  public static func isOptional(_ type: Any.Type) -> Bool { kind(of: type) == .optional }

  private enum Kind: UInt {
    case structure = 0x200
    case enumeration = 0x201
    case optional = 0x202
  }

  private static func kind(of type: Any.Type) -> Kind? {
    Kind(rawValue: unsafeBitCast(type, to: UnsafeRawPointer.self).load(as: UInt.self))
  }

  /// The place that lies at a distance from the number which says how far; nil if that is zero.
  private static func follow(_ place: UnsafeRawPointer) -> UnsafeRawPointer? {
    let distance = place.loadUnaligned(as: Int32.self)
    return distance == 0 ? nil : place + Int(distance)
  }
}
