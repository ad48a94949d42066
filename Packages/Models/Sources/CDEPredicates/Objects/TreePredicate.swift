@_spi(CDE) internal import CDEOperators
public import Foundation

/// A predicate of this library as an object: a ``PredicateTree``, or the error of a format.
///
/// `NSPredicate(format:)` makes a ``TreeComparisonPredicate`` or a ``TreeCompoundPredicate``, which have parts.
/// This class itself is the constant predicate and the malformed one.
///
/// Immutable. Unlike on Apple's platforms, a malformed format does not trap. The predicate stores the error,
/// and `evaluate(with:)` returns false, with a note on standard error. Functions that can throw (``Foundation/NSPredicate/predicateTree()``,
/// ``Foundation/NSPredicate/matches(_:substitutionVariables:)``, a fetch) throw it.
public class TreePredicate: NSPredicate, NSSecureCoding {
  /// The tree, or the error of the format.
  public let result: Result<PredicateTree, PredicateTreeError>
  let cache = ConditionCache()

  /// Makes a predicate of a tree, or a predicate that throws an error at each use.
  ///
  /// A tree of more than 200 levels of conditions is flattened: AND in AND and OR in OR are joined. If its expressions have
  /// more than 200 levels, the predicate has a ``PredicateTreeError`` with the code `unsupported` instead. Costs one pass
  /// over the tree.
  public convenience init(_ result: Result<PredicateTree, PredicateTreeError>) {
    self.init(walkable: Self.walkable(result))
  }

  /// Makes a predicate of a tree of which the expressions allow recursion.
  init(walkable result: Result<PredicateTree, PredicateTreeError>) {
    self.result = result
    // Foundation compares its constant predicates by their value, so other trees may not have one.
    if case .success(.constant(let value)) = result {
      super.init(value: value)
    } else {
      super.init(block: { _, _ in false })
    }
  }

  /// Makes a predicate of a tree. If its expressions nest too deep, the predicate contains an error.
  public convenience init(_ tree: PredicateTree) {
    self.init(.success(tree))
  }

  /// Reads a predicate from a keyed archive in Core Data's form. See ``PredicateArchives``.
  public required init?(coder: NSCoder) {
    guard let result = Self.decoded() else { return nil }
    self.result = result
    super.init(block: { _, _ in false })
  }

  public class var supportsSecureCoding: Bool { true }

  /// Writes the predicate to a keyed archive in Core Data's form. See ``PredicateArchives``.
  public func encode(with coder: NSCoder) { write(to: coder) }

  public override var classForKeyedArchiver: AnyClass? { archivedClass }

  static func walkable(
    _ result: Result<PredicateTree, PredicateTreeError>
  ) -> Result<PredicateTree, PredicateTreeError> {
    result.flatMap { tree in
      Result { () throws(PredicateTreeError) in try tree.walkable() }
    }
  }

  /// The object for a tree or an error, of the class that has the tree's parts.
  @_spi(CDE) public static func object(_ result: Result<PredicateTree, PredicateTreeError>) -> NSPredicate {
    object(walkable: walkable(result))
  }

  /// The object for a tree of which the expressions allow recursion.
  static func object(walkable result: Result<PredicateTree, PredicateTreeError>) -> NSPredicate {
    switch result {
    case .success(.comparison(let comparison)): return TreeComparisonPredicate(walkable: comparison)
    case .success(.and), .success(.or), .success(.not):
      if case .success(let tree) = result { return TreeCompoundPredicate(walkable: tree) }
      return TreePredicate(walkable: result)
    default: return TreePredicate(walkable: result)
    }
  }

  /// The error of parsing the format, or nil.
  public var error: PredicateTreeError? {
    if case .failure(let error) = result { return error }
    return nil
  }

  /// The canonical format string (``PredicateTree/predicateFormat``). For a malformed predicate it is
  /// `FALSEPREDICATE`, because the predicate is false.
  public override var predicateFormat: String {
    (try? result.get())?.predicateFormat ?? "FALSEPREDICATE"
  }

  public override var description: String {
    switch result {
    case .success(let tree): tree.predicateFormat
    case .failure(let error): error.description
    }
  }

  public override func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    do {
      return try result.get().holds(for: object, bindings ?? [:], cache)
    } catch {
      PredicateReports.noteFalse(self, error)
      return false
    }
  }

  /// Predicates are equal if their trees are, compounds included. Malformed ones are equal if their errors
  /// are.
  public override func isEqual(_ object: Any?) -> Bool {
    if let other = object as? NSPredicate, let result = other.ownResult { return self.result == result }
    guard case .success(let tree) = result, let other = object as? NSPredicate else { return false }
    return (try? other.predicateTree()) == tree
  }

  public override var hash: Int {
    switch result {
    case .success(let tree): tree.hashValue
    case .failure(let error): error.hashValue
    }
  }

  public override func copy() -> Any { self }

  public override func copy(with zone: NSZone? = nil) -> Any { self }
}
