@_spi(CDE) import CDEManagedModel
import Foundation

/// Random numbers of one round, which depend on the seed and the round alone.
struct RoundRandom: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self) }
}

/// Damages to the bytes of a file, to the words of a text, and to the objects of an archive.
enum ModelFileDamage {

  static func bytes(_ original: [UInt8], _ random: inout RoundRandom) -> [UInt8] {
    var result = original
    for _ in 0...random.below(4) {
      guard !result.isEmpty else { return result }
      let place = random.below(result.count)
      switch random.below(7) {
      case 0: result[place] ^= 1 << UInt8(random.below(8))
      case 1: result[place] = UInt8(random.below(256))
      case 2: result.removeSubrange(place..<min(result.count, place + 1 + random.below(20)))
      case 3:
        result.insert(contentsOf: (0...random.below(6)).map { _ in UInt8(random.below(256)) }, at: place)
      case 4:
        result.insert(contentsOf: result[place..<min(result.count, place + random.below(200))], at: place)
      case 5: if random.below(4) == 0 { result.removeSubrange(place...) }
      default:
        let end = min(result.count, place + 8)
        for index in place..<end { result[index] = [0, 0xFF, 0x7F, 0x80][random.below(4)] }
      }
    }
    return result
  }

  static let odd = [
    "", "-1", "0", "9999999999999999999999", "NaN", "inf", "1e308", "YES", "Item", "Base", "Owner", "Inner",
    "Place", "str", "parts", "self", "$x", "\u{e9}", "e\u{301}", "\u{1F600}", "a.b", "@count", "(((((((",
    "TRUEPREDICATE", "SELF", "count:(", "Integer 16", "Composite", "Transformable", "Date", ".", "..", "/",
    "2147483648", "&#65;", "name",
  ]

  /// Replaces values in quotes by other values of the file or odd ones, and moves whole lines.
  static func words(_ original: [UInt8], _ random: inout RoundRandom) -> [UInt8] {
    var parts = String(decoding: original, as: UTF8.self).split(
      separator: "\"", omittingEmptySubsequences: false
    ).map(String.init)
    for _ in 0...random.below(4) {
      let place = random.below(parts.count / 2) * 2 + 1
      switch random.below(4) {
      case 0: parts[place] = Self.odd[random.below(Self.odd.count)]
      case 1: parts[place] = parts[random.below(parts.count / 2) * 2 + 1]
      case 2: parts[place] += Self.odd[random.below(Self.odd.count)]
      default:
        let other = random.below(parts.count / 2) * 2
        parts.swapAt(place - 1, other)
      }
    }
    return Array(parts.joined(separator: "\"").utf8)
  }

  /// An archive that is a good property list, with other values and references in its objects.
  static func graph(_ original: [PropertyListNode], _ random: inout RoundRandom) -> Data {
    var objects = original
    for _ in 0...random.below(4) {
      let place = random.below(objects.count)
      switch objects[place] {
      case .dictionary(var fields):
        let keys = fields.keys.sorted()
        let key = keys[random.below(keys.count)]
        switch random.below(4) {
        case 0: fields[key] = nil
        case 1: fields[key] = value(objects, &random)
        case 2:
          if case .array(var members)? = fields[key], !members.isEmpty {
            let other = random.below(4) == 0 ? place : random.below(objects.count + 2)
            members[random.below(members.count)] = .reference(other)
            if random.below(3) == 0 { members += members }
            fields[key] = .array(members)
          }
        default:
          // Sometimes the object itself, so that a chain of objects has no end.
          fields[key] = .reference(random.below(4) == 0 ? place : random.below(objects.count + 2))
        }
        objects[place] = .dictionary(fields)
      default: objects[place] = value(objects, &random)
      }
    }
    return BinaryPropertyListWriter.data(
      .dictionary(["$top": .dictionary(["root": .reference(1)]), "$objects": .array(objects)]))
  }

  private static func value(_ objects: [PropertyListNode], _ random: inout RoundRandom) -> PropertyListNode {
    switch random.below(10) {
    case 0: .null
    case 1: .bool(random.below(2) == 0)
    case 2: .integer([0, 1, -1, 2100, 1800, .max, .min, 65536, Int64(Int32.max) + 1][random.below(9)])
    case 3: .real([0, .nan, .infinity, -1.5, 1e300][random.below(5)])
    case 4: .date(.nan)
    case 5: .data(Data(repeating: 0xFF, count: random.below(20)))
    case 6: .string(Self.odd[random.below(Self.odd.count)])
    case 7: .reference(random.below(objects.count))
    case 8: .string(String(repeating: "x", count: random.below(20) == 0 ? 300_000 : 300))
    default: objects[random.below(objects.count)]
    }
  }
}
