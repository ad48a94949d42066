public import Foundation

/// One key of a sort order, as a value.
///
/// Nil sorts before every value when ascending and after every value when descending, as in SQLite and Core
/// Data.
public struct SortTerm: Sendable {
  /// Compares two non-nil values, given as their Foundation objects.
  public typealias Comparator = @Sendable (_ left: Any, _ right: Any) -> ComparisonResult

  /// Property names starting at the sorted object; empty sorts by the object itself.
  public var keyPath: [String]
  /// Whether lower values come first, and objects without a value before all others.
  public var ascending: Bool
  /// How texts are ordered.
  public var collation: SortTextCollation
  /// A comparator, which only memory can apply; nil for the values' natural order.
  public var comparator: Comparator?

  /// Makes a term.
  ///
  /// - Parameters:
  ///   - keyPath: Property names starting at the sorted object; empty sorts by the object itself.
  ///   - ascending: Whether lower values come first.
  ///   - collation: How texts are ordered. It has no effect on other values.
  ///   - comparator: Replaces the natural order and the collation, for values that are not nil. A store can't
  ///     apply it, so a fetch with it fails.
  public init(
    keyPath: [String], ascending: Bool = true, collation: SortTextCollation = .binary,
    comparator: Comparator? = nil
  ) {
    self.keyPath = keyPath
    self.ascending = ascending
    self.collation = collation
    self.comparator = comparator
  }

  /// The key path with dots, as in `NSSortDescriptor.key`.
  public var key: String { keyPath.joined(separator: ".") }
}

/// How a sort order compares texts.
public enum SortTextCollation: String, Sendable, Hashable, CaseIterable {
  /// By UTF-8 bytes, as in SQLite's BINARY. The default for a key.
  case binary
  /// Case folded, then by bytes.
  case caseInsensitive
  /// Foundation's `localizedCompare`.
  case localized
  /// Foundation's `localizedStandardCompare`, the Finder's order.
  case localizedStandard
}
