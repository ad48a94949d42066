public import Foundation

/// The result of `NSPredicate(format:)` in this library: a ``PredicateTree``, or the error of the format.
///
/// Immutable. Unlike on Apple's platforms, a malformed format does not trap. The predicate stores the error,
/// and `evaluate(with:)` returns false. Functions that can throw (``Foundation/NSPredicate/predicateTree()``,
/// ``Foundation/NSPredicate/matches(_:substitutionVariables:)``, a fetch) throw it.
public final class TreePredicate: NSPredicate {
  /// The tree, or the error of the format.
  public let result: Result<PredicateTree, PredicateTreeError>
  let patterns = PredicatePatternCache()

  /// Makes a predicate of a tree, or a predicate that throws an error at each use.
  ///
  /// A tree of more than 200 levels is flattened. If it is still deeper, the predicate has a
  /// ``PredicateTreeError`` with the code `unsupported` instead. Costs one pass over the tree.
  public init(_ result: Result<PredicateTree, PredicateTreeError>) {
    self.result = result.flatMap { tree in
      Result { () throws(PredicateTreeError) in try tree.walkable() }
    }
    // Not init(value:), because Foundation would then treat NSPredicate(value: false) as equal to every tree.
    super.init(block: { _, _ in false })
  }

  /// Makes a predicate of a tree. If the flattened tree is still too deep, the predicate contains an error.
  public convenience init(_ tree: PredicateTree) {
    self.init(.success(tree))
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
    (try? matches(object, substitutionVariables: bindings ?? [:])) ?? false
  }

  /// Predicates are equal if their trees are, compounds included. Malformed ones are equal if their errors
  /// are.
  public override func isEqual(_ object: Any?) -> Bool {
    if let other = object as? TreePredicate { return other.result == result }
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

/// A compound that prints canonically. It is false (also under NOT) if a part has an error.
///
/// `NSCompoundPredicate(andPredicateWithSubpredicates:)` makes one. The other initialisers are inherited.
public final class TreeCompoundPredicate: NSCompoundPredicate {
  public override var predicateFormat: String { canonicalFormat }

  public override var description: String { predicateFormat }

  public override func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    (try? matches(object, substitutionVariables: bindings ?? [:])) ?? false
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

extension NSPredicate {
  /// The printed form of any predicate, including compounds made by Foundation.
  ///
  /// Foundation's own `predicateFormat` is deprecated on Linux and does not print compounds. A block is
  /// printed as `BLOCKPREDICATE`.
  public var canonicalFormat: String {
    if let tree = self as? TreePredicate { return tree.predicateFormat }
    if let compound = self as? NSCompoundPredicate {
      if !compound.isTooDeep { return compound.compoundFormat }
      return (try? predicateTree())?.predicateFormat ?? "FALSEPREDICATE"
    }
    return (try? predicateTree())?.predicateFormat ?? "BLOCKPREDICATE"
  }

  /// Whether the printed form needs parentheses inside another compound.
  var isCompound: Bool {
    if let compound = self as? NSCompoundPredicate {
      if compound.compoundPredicateType == .not { return false }
      return compound.subpredicates.count == 1
        ? compound.subpredicates[0].isCompound : !compound.subpredicates.isEmpty
    }
    switch try? predicateTree() {
    case .and(let parts)?, .or(let parts)?: return parts.count > 1
    default: return false
    }
  }
}

extension NSCompoundPredicate {
  fileprivate var compoundFormat: String {
    let parts = subpredicates.map { (format: $0.canonicalFormat, isCompound: $0.isCompound) }
    let operands = parts.map { $0.isCompound ? "(\($0.format))" : $0.format }
    switch compoundPredicateType {
    case .not: return "NOT " + operands.prefix(1).joined()
    case .and, .or:
      let conjunction = compoundPredicateType == .and
      if parts.isEmpty { return PredicateTree.constant(conjunction).predicateFormat }
      if parts.count == 1 { return parts[0].format }
      return operands.joined(separator: conjunction ? " AND " : " OR ")
    }
  }
}
