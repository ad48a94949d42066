/// Reads compressed bytes of any origin: damaged ones give an error.
struct DeflateReader {
  private let bytes: [UInt8]
  private let limit: Int
  private var place = 0
  private var pending: UInt32 = 0
  private var count = 0
  private var result: [UInt8] = []

  init(bytes: [UInt8], limit: Int) {
    self.bytes = bytes
    self.limit = limit
  }

  mutating func read() throws(Deflate.Failure) -> [UInt8] {
    var isLast = false
    while !isLast {
      isLast = try bits(1) == 1
      switch try bits(2) {
      case 0: try readStored()
      case 1: try readBlock(Self.fixedLiterals, Self.fixedDistances)
      case 2:
        let (literals, distances) = try readCodes()
        try readBlock(literals, distances)
      default: throw .damaged
      }
    }
    return result
  }

  private mutating func bits(_ wanted: Int) throws(Deflate.Failure) -> Int {
    while count < wanted {
      guard place < bytes.count else { throw .damaged }
      pending |= UInt32(bytes[place]) << UInt32(count)
      place += 1
      count += 8
    }
    let value = Int(pending & ((1 << UInt32(wanted)) - 1))
    pending >>= UInt32(wanted)
    count -= wanted
    return value
  }

  private mutating func append(_ byte: UInt8) throws(Deflate.Failure) {
    guard result.count < limit else { throw .tooLarge }
    result.append(byte)
  }

  // MARK: Blocks

  private mutating func readStored() throws(Deflate.Failure) {
    // The rest of the byte is not used. No further byte has been taken.
    (pending, count) = (0, 0)
    guard place + 4 <= bytes.count else { throw .damaged }
    let length = Int(bytes[place]) | Int(bytes[place + 1]) << 8
    let check = Int(bytes[place + 2]) | Int(bytes[place + 3]) << 8
    place += 4
    guard length == ~check & 0xFFFF, place + length <= bytes.count else { throw .damaged }
    guard result.count + length <= limit else { throw .tooLarge }
    result += bytes[place..<(place + length)]
    place += length
  }

  private mutating func readBlock(_ literals: PrefixCode, _ distances: PrefixCode) throws(Deflate.Failure) {
    while true {
      let symbol = try self.symbol(literals)
      if symbol < 256 {
        try append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      let kind = symbol - 257
      guard kind < Deflate.lengthBases.count else { throw .damaged }
      let length = Deflate.lengthBases[kind] + (try bits(Deflate.lengthBits[kind]))
      let far = try self.symbol(distances)
      guard far < Deflate.distanceBases.count else { throw .damaged }
      let distance = Deflate.distanceBases[far] + (try bits(Deflate.distanceBits[far]))
      guard distance <= result.count else { throw .damaged }
      for _ in 0..<length { try append(result[result.count - distance]) }
    }
  }

  // MARK: Codes

  /// A code of symbols by the lengths of their words.
  private struct PrefixCode {
    /// The number of symbols of each length.
    var counts = [Int](repeating: 0, count: 16)
    /// The symbols, by length and then by number.
    var symbols: [Int] = []

    init(lengths: [Int]) {
      for length in lengths where length > 0 { counts[length] += 1 }
      for length in 1...15 {
        symbols += lengths.indices.filter { lengths[$0] == length }
      }
    }
  }

  private static let fixedLiterals = PrefixCode(
    lengths: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  private static let fixedDistances = PrefixCode(lengths: Array(repeating: 5, count: 30))

  private mutating func symbol(_ code: PrefixCode) throws(Deflate.Failure) -> Int {
    var (word, first, index) = (0, 0, 0)
    for length in 1...15 {
      word |= try bits(1)
      let count = code.counts[length]
      if word - first < count { return code.symbols[index + word - first] }
      index += count
      first = (first + count) << 1
      word <<= 1
    }
    throw .damaged
  }

  private mutating func readCodes() throws(Deflate.Failure) -> (PrefixCode, PrefixCode) {
    let literalCount = try bits(5) + 257
    let distanceCount = try bits(5) + 1
    let ownCount = try bits(4) + 4
    var own = [Int](repeating: 0, count: 19)
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    for index in 0..<ownCount { own[order[index]] = try bits(3) }
    let code = PrefixCode(lengths: own)
    var lengths: [Int] = []
    while lengths.count < literalCount + distanceCount {
      let symbol = try self.symbol(code)
      switch symbol {
      case ..<16: lengths.append(symbol)
      case 16:
        guard let last = lengths.last else { throw .damaged }
        lengths += Array(repeating: last, count: try bits(2) + 3)
      case 17: lengths += Array(repeating: 0, count: try bits(3) + 3)
      default: lengths += Array(repeating: 0, count: try bits(7) + 11)
      }
    }
    guard lengths.count == literalCount + distanceCount else { throw .damaged }
    return (
      PrefixCode(lengths: Array(lengths[..<literalCount])),
      PrefixCode(lengths: Array(lengths[literalCount...]))
    )
  }
}
