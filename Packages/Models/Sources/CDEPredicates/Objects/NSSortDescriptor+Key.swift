@_spi(CDE) internal import CDEExecutors
public import Foundation

/// The sort descriptor that `NSSortDescriptor(key:ascending:)` makes here. Immutable.
public final class KeySortDescriptor: NSSortDescriptor {
  /// The order as a value.
  public let term: SortTerm
  private let compareValues: Comparator?

  // Foundation's designated initialisers require a Swift key path. This one is never read.
  private final class Placeholder {
    var value: Int { 0 }
  }

  /// - Parameters:
  ///   - term: The key and the direction.
  ///   - comparator: Compares two values; nil for their natural order.
  public init(term: SortTerm, comparator: Comparator? = nil) {
    self.term = term
    compareValues = comparator
    super.init(keyPath: \Placeholder.value, ascending: term.ascending)
  }

  public override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    do {
      return try term.compare(object1, object2)
    } catch {
      PredicateReports.noteUnordered(self, error)
      return .orderedSame
    }
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

  /// Equal by key, direction and collation. A descriptor with a comparator equals only itself.
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

/// Provides the initialisers that Foundation declares unavailable on Linux (see
/// ``PredicateFormatInitializable``).
public protocol SortKeyInitializable {}

extension NSSortDescriptor: SortKeyInitializable {}

extension SortKeyInitializable where Self: NSSortDescriptor {
  /// Sorts by the value of a key. The key may be a path over to-one relationships and composites
  /// (`owner.name`).
  ///
  /// - Parameters:
  ///   - key: nil sorts by the objects themselves.
  ///   - ascending: Whether the smallest value comes first.
  public init(key: String?, ascending: Bool) {
    self.init(term: SortTerm(key: key, ascending: ascending), comparator: nil)
  }

  /// Sorts by the value of a key with a comparator. Only memory can apply it, so a fetch refuses it.
  public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    var term = SortTerm(key: key, ascending: ascending)
    term.comparator = ComparatorBox(compare: comparator).call
    self.init(term: term, comparator: comparator)
  }

  /// Sorts by a term, whose collation a store may support.
  public init(_ term: SortTerm) {
    let comparator = term.comparator
    self.init(term: term, comparator: comparator.map { compare in { compare($0, $1) } })
  }

  /// Sorts by the key path of a typed descriptor, in its order.
  ///
  /// A descriptor whose key path has no name, or that has none, can be used in memory only: a fetch refuses it.
  public init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
    if let term = try? SortTerm(sortDescriptor) {
      self.init(term: term, comparator: nil)
    } else {
      self.init(key: nil, ascending: true) { left, right in
        guard let left = left as? Compared, let right = right as? Compared else { return .orderedSame }
        return sortDescriptor.compare(left, right)
      }
    }
  }

  private init(term: SortTerm, comparator: Comparator?) {
    guard let descriptor = KeySortDescriptor(term: term, comparator: comparator) as? Self else {
      failPrecondition(
        "A key makes an NSSortDescriptor: \(Self.self)(key:ascending:) has no instance of its own class.")
    }
    self = descriptor
  }

  /// The key path of the order; nil if the descriptor sorts by the objects themselves or has a Swift key path
  /// without a name.
  public var key: String? {
    guard let term = try? SortTerm(self), !term.keyPath.isEmpty else { return nil }
    return term.key
  }
}

// Foundation does not declare its Comparator Sendable. But on all platforms a sort descriptor that sorts on
// another thread calls it on that thread.
struct ComparatorBox: @unchecked Sendable {
  // Guard: the closure is only called, never changed. The code that makes it is responsible for its captures,
  // as on Apple's platforms.
  let compare: Comparator

  var call: SortTerm.Comparator {
    { compare($0, $1) }
  }
}
