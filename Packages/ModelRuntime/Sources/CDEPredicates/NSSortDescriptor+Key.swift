@_spi(CDE) internal import CDEExecutors
public import Foundation

/// The sort descriptor that `NSSortDescriptor(key:ascending:)` makes here. Immutable.
public final class KeySortDescriptor: NSSortDescriptor {
  /// The order as a value.
  public let term: SortTerm
  private let compareValues: Comparator?

  // Foundation's designated initialisers want some key path of Swift; the one given is never read.
  private final class Placeholder {
    var value: Int { 0 }
  }

  /// - Parameters:
  ///   - term: The key and the direction.
  ///   - comparator: An order of its own for two values; without one, their natural order.
  public init(term: SortTerm, comparator: Comparator? = nil) {
    self.term = term
    compareValues = comparator
    super.init(keyPath: \Placeholder.value, ascending: term.ascending)
  }

  public override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    (try? term.compare(object1, object2)) ?? .orderedSame
  }

  public override var comparator: Comparator {
    if let compareValues { return compareValues }
    let term = SortTerm(keyPath: [], collation: term.collation)
    return { left, right in (try? term.compare(left, right)) ?? .orderedSame }
  }

  public override var reversedSortDescriptor: Any {
    var reversed = term
    reversed.ascending.toggle()
    return KeySortDescriptor(term: reversed, comparator: compareValues)
  }

  /// Equal by key, direction and collation; orders of their own are equal only to themselves.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeySortDescriptor else { return false }
    if other === self { return true }
    return other.term.keyPath == term.keyPath && other.ascending == ascending
      && other.term.collation == term.collation && other.term.comparator == nil && term.comparator == nil
  }

  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(term.keyPath)
    hasher.combine(ascending)
    return hasher.finalize()
  }

  public override var description: String {
    "(\(term.key.isEmpty ? "SELF" : term.key), \(ascending ? "ascending" : "descending"))"
  }

  public override func copy() -> Any { self }

  public override func copy(with zone: NSZone? = nil) -> Any { self }
}

/// Carries the initialisers that Foundation declares unavailable on Linux (see
/// ``PredicateFormatInitializable``).
public protocol SortKeyInitializable {}

extension NSSortDescriptor: SortKeyInitializable {}

extension SortKeyInitializable where Self: NSSortDescriptor {
  /// Sorts by the value of a key, which may be a path over to-one relationships and composites
  /// (`owner.name`).
  ///
  /// - Parameters:
  ///   - key: nil sorts by the objects themselves.
  ///   - ascending: Whether the smallest value comes first.
  public init(key: String?, ascending: Bool) {
    self.init(term: SortTerm(key: key, ascending: ascending), comparator: nil)
  }

  /// Sorts by the value of a key in an order of its own, which only memory can apply; a fetch refuses it.
  public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    var term = SortTerm(key: key, ascending: ascending)
    term.comparator = ComparatorBox(compare: comparator).call
    self.init(term: term, comparator: comparator)
  }

  /// Sorts by a value, with a collation that a store may know.
  public init(_ term: SortTerm) {
    let comparator = term.comparator
    self.init(term: term, comparator: comparator.map { compare in { compare($0, $1) } })
  }

  private init(term: SortTerm, comparator: Comparator?) {
    guard let descriptor = KeySortDescriptor(term: term, comparator: comparator) as? Self else {
      failPrecondition(
        "A key makes an NSSortDescriptor: \(Self.self)(key:ascending:) has no instance of its own class.")
    }
    self = descriptor
  }

  /// The key path that is sorted by, or nil if the objects themselves are or the descriptor has a Swift key
  /// path without a name.
  public var key: String? {
    guard let term = try? SortTerm(self), !term.keyPath.isEmpty else { return nil }
    return term.key
  }
}

// Foundation's Comparator is not Sendable by declaration, but a sort descriptor that sorts on another
// thread calls it there on every platform.
struct ComparatorBox: @unchecked Sendable {
  // Guard: the closure is only ever called, never changed; its maker answers for what it captures, as on
  // Apple's platforms.
  let compare: Comparator

  var call: SortTerm.Comparator {
    { compare($0, $1) }
  }
}
