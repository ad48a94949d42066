/// The place of a value in a row: its index in ``RowLayout/cells``.
@frozen
public struct CellIndex: TypedIndex {
  /// The number, from 0 on.
  public let rawValue: Int

  /// The index with a number.
  @inlinable @inline(__always)
  public init(_ rawValue: Int) { self.rawValue = rawValue }

  /// Whether two indexes are the same.
  @inlinable @inline(__always)
  public static func == (one: CellIndex, other: CellIndex) -> Bool { one.rawValue == other.rawValue }

  /// Whether one index comes before another.
  @inlinable @inline(__always)
  public static func < (one: CellIndex, other: CellIndex) -> Bool { one.rawValue < other.rawValue }

  @inlinable @inline(__always)
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  // The standard library's own way for integers. Without it, dictionaries hash a structure, which takes longer.
  @inlinable @inline(__always)
  public func _rawHashValue(seed: Int) -> Int { rawValue._rawHashValue(seed: seed) }
}
