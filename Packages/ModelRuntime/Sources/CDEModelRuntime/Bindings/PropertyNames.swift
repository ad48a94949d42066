internal import CDEStore

/// The name of a property, as accessors in rewritten Core Data sources give it.
///
/// The number is computed when the source is rewritten, so that an access looks nothing up by text.
@frozen
public struct _CDName: Sendable {
  @usableFromInline let text: StaticString
  @usableFromInline let hash: UInt64

  /// - Precondition: the number is ``hash(of:)`` of the text.
  @inlinable @inline(__always)
  public init(_ text: StaticString, _ hash: UInt64) {
    self.text = text
    self.hash = hash
  }

  /// FNV-1a over the name's UTF-8, which the rewriter computes in the same way.
  static func hash(of name: some StringProtocol) -> UInt64 {
    name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

/// The properties of an entity by the numbers of their names: one multiplication and two loads find an ordinal.
///
/// Built once for an entity whose class names properties. It never changes afterwards.
@usableFromInline
struct PropertyNames {
  /// Spreads the numbers over the table so that no two meet.
  @usableFromInline let multiplier: UInt64
  @usableFromInline let shift: UInt64
  /// What an unknown name finds: the ordinal of a place without a property.
  @usableFromInline let unknown: Int
  /// Ordinals by place in the table.
  @usableFromInline let table: UnsafePointer<UInt16>
  /// Numbers of names by ordinal. The last one, of no property, ends the list.
  @usableFromInline let hashes: UnsafePointer<UInt64>

  /// - Precondition: the names differ, and there are fewer than 65,535.
  init(_ names: [String], unknown: Int) {
    let numbers = names.map(_CDName.hash(of:))
    var bits: UInt64 = 1
    while 1 << bits < 2 * names.count { bits += 1 }
    var multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15
    search: while true {
      // A table of the square of the number of names has a multiplier after some two tries. Smaller ones are tried first.
      for _ in 0..<64 {
        multiplier = multiplier &* 0x5851_f42d_4c95_7f2d &+ 0x1405_7b7e_f767_814f | 1
        if Set(numbers.map { ($0 &* multiplier) >> (64 - bits) }).count == numbers.count { break search }
      }
      bits += 1
    }
    let table = UnsafeMutablePointer<UInt16>.allocate(capacity: 1 << bits)
    table.initialize(repeating: UInt16(names.count), count: 1 << bits)
    let hashes = UnsafeMutablePointer<UInt64>.allocate(capacity: names.count + 1)
    for (ordinal, number) in numbers.enumerated() {
      table[Int((number &* multiplier) >> (64 - bits))] = UInt16(ordinal)
      (hashes + ordinal).initialize(to: number)
    }
    (hashes + names.count).initialize(to: 0)
    self.multiplier = multiplier
    shift = 64 - bits
    self.table = UnsafePointer(table)
    self.hashes = UnsafePointer(hashes)
    self.unknown = unknown
  }

  /// The ordinal of a name; `unknown` for a name that the entity lacks.
  @inlinable @inline(__always)
  func ordinal(of name: _CDName) -> Int {
    let found = Int(table[Int(truncatingIfNeeded: (name.hash &* multiplier) &>> shift)])
    return hashes[found] == name.hash ? found : unknown
  }

  func free() {
    table.deallocate()
    hashes.deallocate()
  }
}
