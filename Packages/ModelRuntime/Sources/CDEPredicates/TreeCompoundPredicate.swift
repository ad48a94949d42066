@_spi(CDE) internal import CDEExecutors
public import Foundation

/// Core Data's `NSCompoundPredicate`, which prints canonically. It is false (also under NOT) if a part has an
/// error.
///
/// A format with AND, OR or NOT makes one, and so does `NSCompoundPredicate(andPredicateWithSubpredicates:)`.
/// It has the initialisers and parts of Foundation's class, of which it is a subclass. Immutable.
public final class TreeCompoundPredicate: NSCompoundPredicate, NSSecureCoding {
  /// The tree of a format; nil if the compound was made of objects.
  let parsed: PredicateTree?
  let patterns = PredicatePatternCache()
  private let parts = Lock<Parts?>(nil)

  private struct Parts: @unchecked Sendable {
    // Guard: the predicates are made here and immutable.
    let list: [NSPredicate]
  }

  /// Makes a compound of predicates.
  ///
  /// - Parameters:
  ///   - type: How the parts are combined. NOT needs exactly one.
  ///   - subpredicates: The parts. Blocks can be evaluated in memory only.
  public override init(type: LogicalType, subpredicates: [NSPredicate]) {
    parsed = nil
    super.init(type: type, subpredicates: subpredicates)
  }

  /// Makes a compound of a tree that allows recursion and is no comparison.
  init(walkable tree: PredicateTree) {
    parsed = tree
    super.init(type: .and, subpredicates: [])
  }

  /// Reads a compound from a keyed archive in Core Data's form. See ``PredicateArchives``.
  public required init?(coder: NSCoder) {
    guard let (type, parts) = Self.decoded(coder) else { return nil }
    parsed = nil
    super.init(type: type, subpredicates: parts)
  }

  public static var supportsSecureCoding: Bool { true }

  /// Writes the compound to a keyed archive in Core Data's form. See ``PredicateArchives``.
  public func encode(with coder: NSCoder) { write(to: coder) }

  /// How the parts are combined. Setting it ends the program, because predicates are immutable.
  public override var compoundPredicateType: LogicalType {
    get {
      switch parsed {
      case .and?: .and
      case .or?: .or
      case .not?: .not
      default: super.compoundPredicateType
      }
    }
    set { failPrecondition("A compound predicate is immutable; make another one of type \(newValue).") }
  }

  /// The parts. Setting them ends the program, because predicates are immutable.
  public override var subpredicates: [NSPredicate] {
    get {
      guard let parsed else { return super.subpredicates }
      // Made when they are asked for, because most predicates are only evaluated.
      return parts.withLock { parts in
        if let parts { return parts }
        let made = Parts(list: Self.objects(of: parsed))
        parts = made
        return made
      }.list
    }
    set {
      failPrecondition("A compound predicate is immutable; make another one of \(newValue.count) predicates.")
    }
  }

  private static func objects(of tree: PredicateTree) -> [NSPredicate] {
    switch tree {
    case .and(let parts), .or(let parts): parts.map { TreePredicate.object(.success($0)) }
    case .not(let part): [TreePredicate.object(.success(part))]
    case .constant, .comparison: []
    }
  }

  public override var predicateFormat: String { canonicalFormat }

  public override var description: String { predicateFormat }

  public override func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    if let parsed { return (try? parsed.holds(for: object, bindings ?? [:], patterns)) ?? false }
    return (try? matches(object, substitutionVariables: bindings ?? [:])) ?? false
  }

  /// Equal if the trees are. Compounds with blocks or errors are equal if their parts are.
  public override func isEqual(_ object: Any?) -> Bool {
    if let tree = try? predicateTree() { return (try? (object as? NSPredicate)?.predicateTree()) == tree }
    guard let other = object as? NSCompoundPredicate else { return false }
    return other.compoundPredicateType == compoundPredicateType && other.subpredicates == subpredicates
  }

  public override var hash: Int {
    if let tree = try? predicateTree() { return tree.hashValue }
    var hasher = Hasher()
    hasher.combine(compoundPredicateType)
    hasher.combine(subpredicates)
    return hasher.finalize()
  }

  public override func copy() -> Any { self }

  public override func copy(with zone: NSZone? = nil) -> Any { self }
}
