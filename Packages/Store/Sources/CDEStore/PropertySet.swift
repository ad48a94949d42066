/// A set of an entity's property slots. Change tracking, UPDATE column lists, merging, history and
/// observation use it.
///
/// Entities with up to 64 properties need no allocation. Each operation then costs a few nanoseconds.
public struct PropertySet: Hashable, Sendable, Sequence, ExpressibleByArrayLiteral {
  @usableFromInline var low: UInt64
  // Words for slots from 64 on. There are no trailing zero words, so that equal sets have equal words.
  @usableFromInline var high: [UInt64]

  /// Makes an empty set.
  @inlinable public init() {
    low = 0
    high = []
  }

  /// Makes a set of the given slots.
  public init(arrayLiteral slots: Int...) {
    self.init(slots)
  }

  /// Makes a set of the slots in a sequence, which may contain duplicates.
  ///
  /// - Parameter slots: property slots, none below zero.
  public init(_ slots: some Sequence<Int>) {
    self.init()
    for slot in slots { insert(slot) }
  }

  /// The set of all slots below `count`.
  public init(allBelow count: Int) {
    self.init((0..<count))
  }

  /// Whether the set contains no slot.
  @inlinable public var isEmpty: Bool { low == 0 && high.isEmpty }

  /// The number of slots in the set.
  public var count: Int {
    high.reduce(low.nonzeroBitCount) { $0 + $1.nonzeroBitCount }
  }

  /// Whether the set contains a slot. Accepts any slot from zero on.
  @inlinable public func contains(_ slot: Int) -> Bool {
    if slot < 64 { return low & (1 << UInt64(slot)) != 0 }
    let word = slot / 64 - 1
    return word < high.count && high[word] & (1 << UInt64(slot % 64)) != 0
  }

  /// Adds a slot. Allocates only for slots from 64 on.
  @inlinable public mutating func insert(_ slot: Int) {
    if slot < 64 { low |= 1 << UInt64(slot) } else { insertHigh(slot) }
  }

  @usableFromInline mutating func insertHigh(_ slot: Int) {
    let word = slot / 64 - 1
    while high.count <= word { high.append(0) }
    high[word] |= 1 << UInt64(slot % 64)
  }

  /// Removes a slot. Does nothing if the set does not contain it.
  public mutating func remove(_ slot: Int) {
    if slot < 64 {
      low &= ~(1 << UInt64(slot))
      return
    }
    let word = slot / 64 - 1
    guard word < high.count else { return }
    high[word] &= ~(1 << UInt64(slot % 64))
    trim()
  }

  /// Adds all slots of another set.
  @inlinable public mutating func formUnion(_ other: PropertySet) {
    low |= other.low
    if !other.high.isEmpty { formUnionHigh(other.high) }
  }

  @usableFromInline mutating func formUnionHigh(_ other: [UInt64]) {
    while high.count < other.count { high.append(0) }
    for index in other.indices { high[index] |= other[index] }
  }

  /// The slots in this set, in the other one or in both.
  public func union(_ other: PropertySet) -> PropertySet {
    var result = self
    result.formUnion(other)
    return result
  }

  /// The slots in both sets.
  @inlinable public func intersection(_ other: PropertySet) -> PropertySet {
    var result = PropertySet()
    result.low = low & other.low
    if !high.isEmpty { result.formHighIntersection(high, other.high) }
    return result
  }

  @usableFromInline mutating func formHighIntersection(_ one: [UInt64], _ other: [UInt64]) {
    high = zip(one, other).map { $0 & $1 }
    trim()
  }

  /// The slots of this set that are not in the other one.
  public func subtracting(_ other: PropertySet) -> PropertySet {
    var result = self
    result.low &= ~other.low
    for index in result.high.indices where index < other.high.count {
      result.high[index] &= ~other.high[index]
    }
    result.trim()
    return result
  }

  /// Whether the sets have a common slot. Allocates nothing.
  @inlinable public func intersects(_ other: PropertySet) -> Bool {
    low & other.low != 0 || zip(high, other.high).contains { $0 & $1 != 0 }
  }

  /// Whether the other set contains all slots of this one.
  public func isSubset(of other: PropertySet) -> Bool { subtracting(other).isEmpty }

  private mutating func trim() {
    while high.last == 0 { high.removeLast() }
  }

  /// Visits the slots in ascending order.
  public func makeIterator() -> Iterator { Iterator(set: self) }

  /// Returns the slots of a set in ascending order.
  public struct Iterator: IteratorProtocol {
    private var word: UInt64
    private var base = 0
    private var next64 = 0
    private let high: [UInt64]

    init(set: PropertySet) {
      word = set.low
      high = set.high
    }

    /// The next slot, `nil` at the end.
    public mutating func next() -> Int? {
      while word == 0 {
        guard next64 < high.count else { return nil }
        word = high[next64]
        next64 += 1
        base = next64 * 64
      }
      defer { word &= word - 1 }
      return base + word.trailingZeroBitCount
    }
  }
}

extension PropertySet: CustomStringConvertible {
  public var description: String { "{\(map(String.init).joined(separator: ", "))}" }
}
