/// The place of an inheritance tree: the index of its root entity.
///
/// Tables, keys and their counters belong to trees. An entity's own index names another tree's row, or none.
@frozen
public struct RootIndex: TypedIndex {
  /// The number, from 0 on.
  public let rawValue: Int

  /// The index with a number.
  @inlinable @inline(__always)
  public init(_ rawValue: Int) { self.rawValue = rawValue }

  /// Whether two indexes are the same.
  @inlinable @inline(__always)
  public static func == (one: RootIndex, other: RootIndex) -> Bool { one.rawValue == other.rawValue }

  /// Whether one index comes before another.
  @inlinable @inline(__always)
  public static func < (one: RootIndex, other: RootIndex) -> Bool { one.rawValue < other.rawValue }

  @inlinable @inline(__always)
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  // The standard library's own way for integers. Without it, dictionaries hash a structure, which takes longer.
  @inlinable @inline(__always)
  public func _rawHashValue(seed: Int) -> Int { rawValue._rawHashValue(seed: seed) }

  /// The root entity itself.
  @inlinable @inline(__always)
  public var entity: EntityIndex { EntityIndex(rawValue) }
}
