@_spi(CDE) internal import CDEOperators
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
  let cache = ConditionCache()
  private let logicalType: LogicalType
  /// The objects that the compound was made of; nil if it was made of a tree.
  private let given: PredicateObjects?
  private let made = Lock<PredicateObjects?>(nil)

  /// Makes a compound of predicates.
  ///
  /// - Parameters:
  ///   - type: How the parts are combined. NOT needs exactly one.
  ///   - subpredicates: The parts. Blocks can be evaluated in memory only.
  public override init(type: LogicalType, subpredicates: [NSPredicate]) {
    parsed = nil
    logicalType = type
    given = PredicateObjects(subpredicates)
    super.init(type: .and, subpredicates: [])
  }

  /// Makes a compound of a tree that allows recursion and is no comparison.
  init(walkable tree: PredicateTree) {
    parsed = tree
    logicalType =
      switch tree {
      case .or: .or
      case .not: .not
      case .and, .constant, .comparison: .and
      }
    given = nil
    super.init(type: .and, subpredicates: [])
  }

  /// Reads a compound from a keyed archive in Core Data's form. See ``PredicateArchives``.
  public required init?(coder: NSCoder) {
    guard let (type, parts) = Self.decoded(coder) else { return nil }
    parsed = nil
    logicalType = type
    given = PredicateObjects(parts)
    super.init(type: .and, subpredicates: [])
  }

  public static var supportsSecureCoding: Bool { true }

  /// Writes the compound to a keyed archive in Core Data's form. See ``PredicateArchives``.
  public func encode(with coder: NSCoder) { write(to: coder) }

  /// How the parts are combined. Setting it ends the program, because predicates are immutable.
  public override var compoundPredicateType: LogicalType {
    get { logicalType }
    set { failPrecondition("A compound predicate is immutable; make another one of type \(newValue).") }
  }

  /// The parts. Setting them ends the program, because predicates are immutable.
  public override var subpredicates: [NSPredicate] {
    get {
      if let given { return given.list }
      // Made when they are asked for, because most predicates are only evaluated.
      return made.withLock { made in
        if let made { return made.list }
        let objects = PredicateObjects(parsed.map(Self.objects) ?? [])
        made = objects
        return objects.list
      }
    }
    set {
      failPrecondition("A compound predicate is immutable; make another one of \(newValue.count) predicates.")
    }
  }

  private static func objects(of tree: PredicateTree) -> [NSPredicate] {
    switch tree {
    // A part of a walkable tree is one, so it is not measured again.
    case .and(let parts), .or(let parts): parts.map { TreePredicate.object(walkable: .success($0)) }
    case .not(let part): [TreePredicate.object(walkable: .success(part))]
    case .constant, .comparison: []
    }
  }

  /// The levels of conditions.
  var levels: Int { parsed?.levels ?? given?.levels ?? 1 }

  /// The lists of parts that the compound has, for freeing them.
  var ownParts: [PredicateObjects] { [given, made.withLock { $0 }].compactMap { $0 } }

  public override var predicateFormat: String { canonicalFormat }

  public override var description: String { predicateFormat }

  public override func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    if let parsed { return (try? parsed.holds(for: object, bindings ?? [:], cache)) ?? false }
    return (try? matches(object, substitutionVariables: bindings ?? [:])) ?? false
  }

  /// Equal if the trees are. Compounds with blocks or errors are equal if their parts are.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPredicate else { return false }
    if let tree = try? predicateTree() { return (try? other.predicateTree()) == tree }
    return hasParts(equalToThoseOf: other)
  }

  public override var hash: Int {
    if let tree = try? predicateTree() { return tree.hashValue }
    var hasher = Hasher()
    ConditionWalk.forEachLeaf(of: self as NSPredicate, \.form) { hasher.combine($0) }
    return hasher.finalize()
  }

  public override func copy() -> Any { self }

  public override func copy(with zone: NSZone? = nil) -> Any { self }
}
