/// The place of a property in its entity: its index in ``RowLayout/properties``.
///
/// Slots count all properties of the entity, including inherited ones, by name in code-point order.
@frozen
public struct SlotIndex: TypedIndex {
  /// The number, from 0 on.
  public let rawValue: Int

  /// The index with a number.
  @inlinable @inline(__always)
  public init(_ rawValue: Int) { self.rawValue = rawValue }

  /// Whether two indexes are the same.
  @inlinable @inline(__always)
  public static func == (one: SlotIndex, other: SlotIndex) -> Bool { one.rawValue == other.rawValue }

  /// Whether one index comes before another.
  @inlinable @inline(__always)
  public static func < (one: SlotIndex, other: SlotIndex) -> Bool { one.rawValue < other.rawValue }

  @inlinable @inline(__always)
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  // The standard library's own way for integers. Without it, dictionaries hash a structure, which takes longer.
  @inlinable @inline(__always)
  public func _rawHashValue(seed: Int) -> Int { rawValue._rawHashValue(seed: seed) }
}
