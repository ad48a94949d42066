/// A number that counts things of one kind from 0 on: entities, roots, slots, cells.
///
/// Each kind has a type of its own. A swap of two kinds does not compile, and costs nothing: the types have one
/// field, and all of this is inlined. A bare number becomes an index only by name, `SlotIndex(number)`, or as a literal.
public protocol TypedIndex: Hashable, Strideable, Sendable, ExpressibleByIntegerLiteral,
  CustomStringConvertible
where Stride == Int, IntegerLiteralType == Int {
  /// The number, from 0 on.
  var rawValue: Int { get }
  /// The index with a number.
  init(_ rawValue: Int)
}

extension TypedIndex {
  /// The index that a source names.
  @inlinable @inline(__always)
  public init(integerLiteral value: Int) { self.init(value) }

  /// The index some places after another one.
  @inlinable @inline(__always)
  public static func + (first: Self, distance: Int) -> Self { Self(first.rawValue + distance) }

  /// The number of places from this index to another one.
  @inlinable @inline(__always)
  public func distance(to other: Self) -> Int { other.rawValue - rawValue }

  /// The index some places after this one.
  @inlinable @inline(__always)
  public func advanced(by distance: Int) -> Self { Self(rawValue + distance) }

  /// The number.
  public var description: String { String(rawValue) }
}

/// An array whose elements are found by indexes of one kind.
///
/// It has an array's speed: it is one, and no other index compiles.
@frozen
public struct IndexedArray<Index: TypedIndex, Element> {
  /// The elements, in the order of their indexes.
  public var elements: [Element]

  /// Takes the elements of an array, in their order.
  @inlinable @inline(__always)
  public init(_ elements: [Element]) { self.elements = elements }
}

extension IndexedArray: RandomAccessCollection, MutableCollection, ExpressibleByArrayLiteral {
  public typealias Indices = Range<Index>

  @inlinable public init(arrayLiteral elements: Element...) { self.elements = elements }

  /// An array that repeats one element.
  @inlinable
  public init(repeating element: Element, count: Int) { elements = Array(repeating: element, count: count) }

  @inlinable @inline(__always)
  public var startIndex: Index { Index(0) }

  @inlinable @inline(__always)
  public var endIndex: Index { Index(elements.count) }

  @inlinable @inline(__always)
  public var indices: Range<Index> { startIndex..<endIndex }

  @inlinable @inline(__always)
  public var count: Int { elements.count }

  @inlinable @inline(__always)
  public var isEmpty: Bool { elements.isEmpty }

  /// The element at an index.
  @inlinable
  public subscript(index: Index) -> Element {
    @inline(__always) get { elements[index.rawValue] }
    @inline(__always) _modify { yield &elements[index.rawValue] }
  }

  @inlinable @inline(__always)
  public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

  @inlinable
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<Element>) throws -> Result
  ) rethrows -> Result? {
    try elements.withContiguousStorageIfAvailable(body)
  }

  /// Adds an element. Its index is the last one.
  @inlinable public mutating func append(_ element: Element) { elements.append(element) }

  /// The elements that `body` makes of these ones, found by the same indexes.
  @inlinable
  public func mapped<Other, Failure>(
    _ body: (Element) throws(Failure) -> Other
  ) throws(Failure) -> IndexedArray<Index, Other> {
    IndexedArray<Index, Other>(try elements.map(body))
  }
}

extension IndexedArray: Equatable where Element: Equatable {}
extension IndexedArray: Hashable where Element: Hashable {}
extension IndexedArray: Sendable where Element: Sendable {}

/// An index in four bytes, for tables that are read often.
@frozen
public struct NarrowIndex<Index: TypedIndex>: Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// The number; below zero where the table has no index.
  public let rawValue: Int32

  /// The index in four bytes.
  ///
  /// - Precondition: the number fits. Models are far smaller.
  @inlinable @inline(__always)
  public init(_ index: Index) { rawValue = Int32(index.rawValue) }

  /// The index that a source names; below zero for none.
  @inlinable @inline(__always)
  public init(integerLiteral value: Int32) { rawValue = value }

  /// The index in full width.
  @inlinable @inline(__always)
  public var index: Index { Index(Int(rawValue)) }

  /// Whether two indexes are the same.
  @inlinable @inline(__always)
  public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }
}
