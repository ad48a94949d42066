public import Foundation

/// The predicate that `NSPredicate(format:)` makes here: a ``PredicateTree``, or the reason why there is
/// none.
///
/// Immutable. A malformed format does not trap as on Apple's platforms: the error stays inside,
/// `evaluate(with:)` answers false, and whatever can throw (``Foundation/NSPredicate/predicateTree()``,
/// ``Foundation/NSPredicate/matches(_:substitutionVariables:)``, a fetch) throws it.
public final class TreePredicate: NSPredicate {
  /// The tree or what was wrong with the format.
  public let result: Result<PredicateTree, PredicateTreeError>
  let patterns = PredicatePatternCache()

  /// Makes a predicate of a tree, or one that throws the error wherever it is used.
  ///
  /// A tree that nests deeper than 200 levels is flattened; if it still does, the predicate has a
  /// ``PredicateTreeError`` with the code `unsupported` instead. Costs one walk over the tree.
  public init(_ result: Result<PredicateTree, PredicateTreeError>) {
    self.result = result.flatMap { tree in
      Result { () throws(PredicateTreeError) in try tree.walkable() }
    }
    // Not init(value:): Foundation would call NSPredicate(value: false) equal to every tree.
    super.init(block: { _, _ in false })
  }

  /// Makes a predicate of a tree. One that nests too deep even when it is flattened gives a predicate with an
  /// error.
  public convenience init(_ tree: PredicateTree) {
    self.init(.success(tree))
  }

  /// The error that reading the format ended with, or nil.
  public var error: PredicateTreeError? {
    if case .failure(let error) = result { return error }
    return nil
  }

  /// The canonical format string (``PredicateTree/predicateFormat``); for a malformed predicate
  /// `FALSEPREDICATE`, since that is how it evaluates.
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

  /// Predicates are equal if their trees are, compounds included; malformed ones if their errors are.
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

/// A compound that prints canonically, and is false (also under NOT) if a part has an error.
///
/// `NSCompoundPredicate(andPredicateWithSubpredicates:)` makes one; the other initialisers are inherited.
public final class TreeCompoundPredicate: NSCompoundPredicate {
  public override var predicateFormat: String { canonicalFormat }

  public override var description: String { predicateFormat }

  public override func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    (try? matches(object, substitutionVariables: bindings ?? [:])) ?? false
  }

  /// Equal if the trees are; compounds with blocks or errors if their parts are.
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
  /// The printed form of any predicate, compounds made by Foundation included.
  ///
  /// Foundation's own `predicateFormat` is deprecated on Linux and prints no compounds. A block prints as
  /// `BLOCKPREDICATE`.
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
