/// The compression of RFC 1951, without a header or checksum around it.
///
/// Core Data compresses the copy of the model in a store this way. The code is here because Linux has no such library without a
/// further package.
@_spi(CDE) public enum Deflate {
  /// Why bytes can't be decompressed.
  public enum Failure: Error, Hashable, Sendable {
    /// The bytes are not of the format, or are cut off.
    case damaged
    /// The result would be longer than the limit.
    case tooLarge
  }

  static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
    227, 258,
  ]
  static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
    4097, 6145, 8193, 12289, 16385, 24577,
  ]
  static let distanceBits = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
  ]

  /// Compresses bytes, with the format's fixed codes. Equal bytes give equal results.
  ///
  /// - Parameter bytes: any bytes.
  /// - Returns: one block. An archive of a model becomes a quarter to a half as long.
  public static func compress(_ bytes: [UInt8]) -> [UInt8] {
    var writer = DeflateWriter()
    writer.write(1, bits: 1)
    writer.write(1, bits: 2)
    // The last place of each hash of three bytes.
    var places = [Int](repeating: -1, count: 1 << 14)
    func hash(_ index: Int) -> Int {
      let word = UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
      return Int((word &* 0x9E37_79B1) >> 18)
    }
    var index = 0
    while index < bytes.count {
      var length = 0
      var distance = 0
      if index + 3 <= bytes.count {
        let key = hash(index)
        let place = places[key]
        places[key] = index
        if place >= 0, index - place <= 32_768 {
          let limit = min(258, bytes.count - index)
          while length < limit, bytes[place + length] == bytes[index + length] { length += 1 }
          distance = index - place
        }
      }
      if length >= 3 {
        writer.writeMatch(length: length, distance: distance)
        for skipped in (index + 1)..<(index + length) where skipped + 3 <= bytes.count {
          places[hash(skipped)] = skipped
        }
        index += length
      } else {
        writer.writeSymbol(Int(bytes[index]))
        index += 1
      }
    }
    writer.writeSymbol(256)
    return writer.finish()
  }

  /// Decompresses bytes.
  ///
  /// - Parameters:
  ///   - bytes: compressed bytes of any origin.
  ///   - limit: the greatest length of the result.
  /// - Throws: ``Failure``.
  public static func decompress(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    var reader = DeflateReader(bytes: bytes, limit: limit)
    return try reader.read()
  }
}

/// Writes bits, the lowest first.
private struct DeflateWriter {
  private var bytes: [UInt8] = []
  private var pending: UInt32 = 0
  private var count = 0

  mutating func write(_ value: Int, bits: Int) {
    pending |= UInt32(value) << UInt32(count)
    count += bits
    while count >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: pending))
      pending >>= 8
      count -= 8
    }
  }

  /// Codes are written with their highest bit first.
  private mutating func writeCode(_ code: Int, bits: Int) {
    var reversed = 0
    for bit in 0..<bits where code & (1 << bit) != 0 { reversed |= 1 << (bits - 1 - bit) }
    write(reversed, bits: bits)
  }

  /// A byte, the end of the block (256) or a length, in the fixed code.
  mutating func writeSymbol(_ symbol: Int) {
    switch symbol {
    case ..<144: writeCode(0x30 + symbol, bits: 8)
    case ..<256: writeCode(0x190 + symbol - 144, bits: 9)
    case ..<280: writeCode(symbol - 256, bits: 7)
    default: writeCode(0xC0 + symbol - 280, bits: 8)
    }
  }

  mutating func writeMatch(length: Int, distance: Int) {
    let kind = Deflate.lengthBases.lastIndex { $0 <= length }!
    writeSymbol(257 + kind)
    write(length - Deflate.lengthBases[kind], bits: Deflate.lengthBits[kind])
    let far = Deflate.distanceBases.lastIndex { $0 <= distance }!
    writeCode(far, bits: 5)
    write(distance - Deflate.distanceBases[far], bits: Deflate.distanceBits[far])
  }

  mutating func finish() -> [UInt8] {
    if count > 0 { write(0, bits: 8 - count) }
    return bytes
  }
}
