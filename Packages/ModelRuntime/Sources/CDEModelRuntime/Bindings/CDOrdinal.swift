public import CDEStore

/// The position of a property in the declaration of its class, counted from the first model of its hierarchy on.
///
/// Generated accessors name properties by it. A type of its own, because the position of the same property in its entity, its
/// slot, is another number: swapping the two does not compile, and costs nothing.
@frozen
public struct CDOrdinal: TypedIndex {
  /// The position, from 0 on.
  public let rawValue: Int

  /// The position with a number.
  @inlinable @inline(__always)
  public init(_ rawValue: Int) { self.rawValue = rawValue }

  /// The position that a generated accessor was compiled with.
  @inlinable @inline(__always)
  public init(integerLiteral value: Int) { rawValue = value }

  /// Whether two positions are the same.
  @inlinable @inline(__always)
  public static func == (one: CDOrdinal, other: CDOrdinal) -> Bool { one.rawValue == other.rawValue }

  /// Whether one position comes before another.
  @inlinable @inline(__always)
  public static func < (one: CDOrdinal, other: CDOrdinal) -> Bool { one.rawValue < other.rawValue }

  /// The position some properties after another one: those of a class follow those of its parent.
  @inlinable @inline(__always)
  public static func + (first: CDOrdinal, distance: Int) -> CDOrdinal { CDOrdinal(first.rawValue + distance) }
}
