/// Damages the frame of a binary property list: lengths, offsets and references that lie, with all other bytes in place.
struct BinaryListDamage {
  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  private let table: Int

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    func number(_ start: Int) -> Int { bytes[start..<(start + 8)].reduce(0) { $0 << 8 | Int($1) } }
    count = number(trailer + 8)
    table = number(trailer + 24)
  }

  func damaged(_ random: inout RoundRandom) -> [UInt8] {
    var result = bytes
    for _ in 0...random.below(3) {
      switch random.below(8) {
      case 0: damageTrailer(&result, &random)
      case 1..<4: damageOffset(&result, &random)
      case 4..<6: damageLength(&result, &random)
      default: damageReference(&result, &random)
      }
    }
    return result
  }

  private func write(_ value: UInt64, _ size: Int, at start: Int, to result: inout [UInt8]) {
    for place in 0..<size where start + place < result.count {
      let shift = UInt64(8 * (size - 1 - place))
      result[start + place] = shift < 64 ? UInt8(truncatingIfNeeded: value >> shift) : 0
    }
  }

  private func damageTrailer(_ result: inout [UInt8], _ random: inout RoundRandom) {
    let trailer = result.count - 32
    if random.below(3) == 0 {
      result[trailer + 6 + random.below(2)] = [0, 1, 2, 3, 4, 8, 9, 16, 255][random.below(9)]
    } else {
      let field = trailer + 8 + 8 * random.below(3)
      let end = UInt64(bytes.count)
      let values: [UInt64] = [
        0, 1, 8, UInt64(count) - 1, UInt64(count) + 1, UInt64(table) - 1, UInt64(table) + 1, end - 32,
        end - 1, end,
        1 << 31, 1 << 32, 1 << 48, UInt64(Int64.max), 1 << 63, .max, .max / 4,
      ]
      write(values[random.below(values.count)], 8, at: field, to: &result)
    }
  }

  /// Gives an object the place of another one, or one in the middle of another, or behind all.
  private func damageOffset(_ result: inout [UInt8], _ random: inout RoundRandom) {
    let entry = table + offsetSize * random.below(count)
    let value: UInt64 =
      switch random.below(4) {
      case 0: [0, 7, UInt64(table) - 1, UInt64(table), UInt64(bytes.count), .max][random.below(6)]
      case 1: UInt64(random.below(table))
      default: UInt64(offset(random.below(count)))
      }
    write(value, offsetSize, at: entry, to: &result)
  }

  private func offset(_ object: Int) -> Int {
    let start = table + offsetSize * object
    return bytes[start..<(start + offsetSize)].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Changes the kind of an object, its length, or the length of its length.
  private func damageLength(_ result: inout [UInt8], _ random: inout RoundRandom) {
    let start = offset(random.below(count))
    switch random.below(4) {
    case 0: result[start] = result[start] & 0xF0 | UInt8(random.below(16))
    case 1: result[start] = UInt8(random.below(16)) << 4 | result[start] & 0x0F
    default:
      // A length behind the marker, of up to 32,768 bytes, and huge.
      result[start] |= 0x0F
      let power = random.below(5)
      guard start + 1 < result.count else { return }
      result[start + 1] = 0x10 | UInt8(random.below(4) == 0 ? random.below(16) : power)
      let values: [UInt64] = [
        0, 1, 14, UInt64(count), UInt64(table), UInt64(bytes.count), 1 << 32, 1 << 60, UInt64(Int64.max),
        .max,
      ]
      write(values[random.below(values.count)], 1 << power, at: start + 2, to: &result)
    }
  }

  /// Lets a list contain itself, the list around it, or any other object.
  private func damageReference(_ result: inout [UInt8], _ random: inout RoundRandom) {
    for _ in 0..<20 {
      let object = random.below(count)
      var start = offset(object)
      let marker = bytes[start]
      guard marker & 0xF0 == 0xA0 || marker & 0xF0 == 0xD0, marker & 0x0F != 0 else { continue }
      var members = Int(marker & 0x0F)
      start += 1
      if members == 0x0F {
        let size = 1 << Int(bytes[start] & 0x0F)
        members = bytes[(start + 1)..<(start + 1 + size)].reduce(0) { $0 << 8 | Int($1) }
        start += 1 + size
      }
      if marker & 0xF0 == 0xD0 { members *= 2 }
      let other = [object, random.below(count), random.below(count), count, 0][random.below(5)]
      // Sometimes all members are one object.
      let all = random.below(6) == 0 ? 0..<members : { $0..<($0 + 1) }(random.below(members))
      for place in all { write(UInt64(other), referenceSize, at: start + place * referenceSize, to: &result) }
      return
    }
  }
}
