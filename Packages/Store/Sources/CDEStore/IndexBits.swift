/// A set of an entity's property slots. Change tracking, UPDATE column lists, merging, history and
/// observation use it.
public typealias PropertySet = IndexBits<SlotIndex>

/// A set of indexes of one kind, as bits.
///
/// Indexes up to 63 need no allocation. Each operation then costs a few nanoseconds. All of it is inlinable, because
/// other modules specialise it for their kind of index.
@frozen
public struct IndexBits<Index: TypedIndex>: Hashable, Sendable, Sequence, ExpressibleByArrayLiteral {
  @usableFromInline var low: UInt64
  // Words for indexes from 64 on. There are no trailing zero words, so that equal sets have equal words.
  @usableFromInline var high: [UInt64]

  /// Makes an empty set.
  @inlinable public init() {
    low = 0
    high = []
  }

  /// Makes a set of the given indexes.
  @inlinable public init(arrayLiteral indexes: Index...) {
    self.init(indexes)
  }

  /// Makes a set of the indexes in a sequence, which may contain duplicates.
  ///
  /// - Parameter indexes: indexes, none below zero.
  @inlinable public init(_ indexes: some Sequence<Index>) {
    self.init()
    for index in indexes { insert(index) }
  }

  /// The set of all indexes below `count`.
  @inlinable public init(allBelow count: Int) {
    self.init(Index(0)..<Index(count))
  }

  /// Whether two sets have the same indexes.
  @inlinable public static func == (one: Self, other: Self) -> Bool {
    one.low == other.low && one.high == other.high
  }

  @inlinable public func hash(into hasher: inout Hasher) {
    hasher.combine(low)
    hasher.combine(high)
  }

  /// Whether the set contains no index.
  @inlinable public var isEmpty: Bool { low == 0 && high.isEmpty }

  /// The number of indexes in the set.
  @inlinable public var count: Int {
    high.reduce(low.nonzeroBitCount) { $0 + $1.nonzeroBitCount }
  }

  /// Whether the set contains an index. Accepts any index from zero on.
  @inlinable public func contains(_ index: Index) -> Bool {
    let number = index.rawValue
    if number < 64 { return low & (1 << UInt64(number)) != 0 }
    let word = number / 64 - 1
    return word < high.count && high[word] & (1 << UInt64(number % 64)) != 0
  }

  /// Adds an index. Allocates only for indexes from 64 on.
  @inlinable public mutating func insert(_ index: Index) {
    let number = index.rawValue
    if number < 64 { low |= 1 << UInt64(number) } else { insertHigh(number) }
  }

  @inlinable mutating func insertHigh(_ number: Int) {
    let word = number / 64 - 1
    while high.count <= word { high.append(0) }
    high[word] |= 1 << UInt64(number % 64)
  }

  /// Removes an index. Does nothing if the set does not contain it.
  @inlinable public mutating func remove(_ index: Index) {
    let number = index.rawValue
    if number < 64 {
      low &= ~(1 << UInt64(number))
      return
    }
    let word = number / 64 - 1
    guard word < high.count else { return }
    high[word] &= ~(1 << UInt64(number % 64))
    trim()
  }

  /// Adds all indexes of another set.
  @inlinable public mutating func formUnion(_ other: Self) {
    low |= other.low
    if !other.high.isEmpty { formUnionHigh(other.high) }
  }

  @inlinable mutating func formUnionHigh(_ other: [UInt64]) {
    while high.count < other.count { high.append(0) }
    for word in other.indices { high[word] |= other[word] }
  }

  /// The indexes in this set, in the other one or in both.
  @inlinable public func union(_ other: Self) -> Self {
    var result = self
    result.formUnion(other)
    return result
  }

  /// The indexes in both sets.
  @inlinable public func intersection(_ other: Self) -> Self {
    var result = Self()
    result.low = low & other.low
    if !high.isEmpty { result.formHighIntersection(high, other.high) }
    return result
  }

  @inlinable mutating func formHighIntersection(_ one: [UInt64], _ other: [UInt64]) {
    high = zip(one, other).map { $0 & $1 }
    trim()
  }

  /// The indexes of this set that are not in the other one.
  @inlinable public func subtracting(_ other: Self) -> Self {
    var result = self
    result.low &= ~other.low
    if !high.isEmpty { result.subtractHigh(other.high) }
    return result
  }

  @inlinable mutating func subtractHigh(_ other: [UInt64]) {
    for word in high.indices where word < other.count { high[word] &= ~other[word] }
    trim()
  }

  /// Whether the sets have a common index. Allocates nothing.
  @inlinable public func intersects(_ other: Self) -> Bool {
    low & other.low != 0 || zip(high, other.high).contains { $0 & $1 != 0 }
  }

  /// Whether the other set contains all indexes of this one.
  @inlinable public func isSubset(of other: Self) -> Bool { subtracting(other).isEmpty }

  @inlinable mutating func trim() {
    while high.last == 0 { high.removeLast() }
  }

  /// Visits the indexes in ascending order.
  @inlinable public func makeIterator() -> Iterator { Iterator(set: self) }

  /// Returns the indexes of a set in ascending order.
  @frozen
  public struct Iterator: IteratorProtocol {
    @usableFromInline var word: UInt64
    @usableFromInline var base = 0
    @usableFromInline var next64 = 0
    @usableFromInline let high: [UInt64]

    @inlinable init(set: IndexBits) {
      word = set.low
      high = set.high
    }

    /// The next index, `nil` at the end.
    @inlinable public mutating func next() -> Index? {
      while word == 0 {
        guard next64 < high.count else { return nil }
        word = high[next64]
        next64 += 1
        base = next64 * 64
      }
      defer { word &= word - 1 }
      return Index(base + word.trailingZeroBitCount)
    }
  }
}

extension IndexBits: CustomStringConvertible {
  public var description: String { "{\(map(\.description).joined(separator: ", "))}" }
}
