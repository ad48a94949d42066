@_spi(CDE) internal import CDEExecutors
public import Foundation

/// Provides the initialisers that Foundation declares unavailable on Linux.
///
/// An initialiser in a class extension can't return an instance of a subclass. An initialiser in a protocol
/// that is not bound to classes can, because it assigns `self`. The compiler prefers it to the class's
/// unavailable initialiser.
public protocol PredicateFormatInitializable {}

extension NSPredicate: PredicateFormatInitializable {}

extension PredicateFormatInitializable where Self: NSPredicate {
  /// A predicate from a format string, in Core Data's grammar.
  ///
  /// A malformed format does not trap; see ``TreePredicate``. Text in quotes is literal, and placeholders in
  /// it are not replaced.
  ///
  /// - Parameters:
  ///   - predicateFormat: The condition, with a placeholder for each argument.
  ///   - arguments: The values of the placeholders, in order. `%K` takes a key path as a string. `%@` takes
  ///     numbers, text, dates, data, UUIDs, URLs, objects, nil, and collections of these.
  public init(format predicateFormat: String, _ arguments: Any?...) {
    self.init(predicateFormat, arguments)
  }

  /// A predicate from a format string with its arguments in an array.
  public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
    self.init(predicateFormat, arguments ?? [])
  }

  /// A predicate from a format string with a C argument list, from `getVaList` or `withVaList`.
  ///
  /// As on Apple's platforms, a placeholder that does not fit its argument is undefined behaviour. Prefer the other
  /// initialisers, which check.
  public init(format predicateFormat: String, arguments: CVaListPointer) {
    self.init(
      result: Result { () throws(PredicateTreeError) in
        try PredicateTree(
          format: predicateFormat,
          arguments: try PredicateArgumentList.values(of: arguments, in: predicateFormat))
      })
  }

  private init(_ format: String, _ arguments: [Any?]) {
    self.init(
      result: Result { () throws(PredicateTreeError) in
        try PredicateTree(format: format, arguments: arguments)
      })
  }

  // Only NSPredicate itself is made in this way. Its subclasses (a compound, an application's subclass) have
  // no format initialiser on Apple's platforms either.
  private init(result: Result<PredicateTree, PredicateTreeError>) {
    guard let predicate = TreePredicate.object(result) as? Self else {
      failPrecondition(
        "A format makes an NSPredicate: \(Self.self)(format:) has no instance of its own class.")
    }
    self = predicate
  }

  /// A predicate from a tree. If its expressions nest too deep, the predicate contains an error.
  public init(_ tree: PredicateTree) {
    self.init(result: .success(tree))
  }

  /// A predicate from `#Predicate`, or nil if it uses something that a query cannot express.
  ///
  /// The same as on Apple's platforms. ``PredicateTree/init(_:)`` throws the reason instead.
  public init?<Input>(_ predicate: Predicate<Input>) {
    guard let tree = try? PredicateTree(predicate) else { return nil }
    self.init(result: .success(tree))
  }
}

extension NSPredicate {
  /// A predicate from a format string. An error is thrown at once.
  ///
  /// - Throws: ``PredicateTreeError`` that names the construct and its offset.
  public static func parsing(format: String, _ arguments: Any?...) throws(PredicateTreeError) -> NSPredicate {
    TreePredicate.object(.success(try PredicateTree(format: format, arguments: arguments)))
  }

  /// The tree of any predicate: one with a format, any compound, or `NSPredicate(value:)`.
  ///
  /// - Throws: ``PredicateTreeError``: the error of the format, or an error for a block, which has no tree.
  public func predicateTree() throws(PredicateTreeError) -> PredicateTree {
    if let result = ownResult { return try result.get() }
    if self is NSCompoundPredicate {
      let tree = try ConditionWalk.fold(self, \.form) { leaf throws(PredicateTreeError) in
        try leaf.ownTree()
      } negation: { part throws(PredicateTreeError) in
        PredicateTree.negation(of: part)
      } compound: { parts, isAnd throws(PredicateTreeError) in
        isAnd ? PredicateTree.and(parts) : .or(parts)
      }
      return try tree.walkable()
    }
    return try ownTree()
  }

  /// The tree of a predicate without parts.
  private func ownTree() throws(PredicateTreeError) -> PredicateTree {
    if let result = ownResult { return try result.get() }
    if self is NSCompoundPredicate {
      throw PredicateTreeError(.operands, construct: "NOT", "a NOT predicate has no subpredicate")
    }
    for value in [true, false] where isEqual(NSPredicate(value: value)) { return .constant(value) }
    throw PredicateTreeError(
      .inMemoryOnly, construct: "block",
      "a block predicate can be evaluated in memory only. Use a format string, #Predicate or typed paths, or filter the "
        + "fetched objects")
  }

  /// Whether the predicate is true for an object. Throws the reason if it can't be evaluated.
  ///
  /// - Parameters:
  ///   - object: A managed object or other ``PredicateValueProviding``, a dictionary, a plain value (for
  ///     `SELF`), or any Swift value, whose stored properties are the keys.
  ///   - variables: Values for the `$NAME` variables of the predicate.
  /// - Throws: ``PredicateTreeError``.
  public func matches(_ object: Any?, substitutionVariables variables: [String: Any] = [:]) throws -> Bool {
    try ConditionWalk.holds(self, \.form) { try $0.matchesAlone(object, variables) }
  }

  private func matchesAlone(_ object: Any?, _ variables: [String: Any]) throws -> Bool {
    if let predicate = self as? TreePredicate {
      return try predicate.result.get().holds(for: object, variables, predicate.cache)
    }
    if let compound = self as? NSCompoundPredicate {
      guard let compound = compound as? TreeCompoundPredicate, let tree = compound.parsed else {
        return false
      }
      return try tree.holds(for: object, variables, compound.cache)
    }
    return variables.isEmpty
      ? evaluate(with: object) : evaluate(with: object, substitutionVariables: variables)
  }

  /// A copy in which the `$NAME` variables with values in `variables` are replaced.
  ///
  /// If predicates do not support the kind of a value, the copy contains an error. Blocks are returned
  /// unchanged.
  public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
    ConditionWalk.fold(self, \.form) { leaf in
      guard let result = leaf.ownResult else { return leaf }
      return TreePredicate.object(
        result.flatMap { tree in
          Result { () throws(PredicateTreeError) in try tree.substituting(variables) }
        })
    } negation: { part in
      TreeCompoundPredicate(type: .not, subpredicates: [part])
    } compound: { parts, isAnd in
      TreeCompoundPredicate(type: isAnd ? .and : .or, subpredicates: parts)
    }
  }
}

extension NSPredicate {
  /// The tree or error that the predicate stores; nil for a compound of objects and for Foundation's own.
  var ownResult: Result<PredicateTree, PredicateTreeError>? {
    if let predicate = self as? TreePredicate { return predicate.result }
    return (self as? TreeCompoundPredicate)?.parsed.map { .success($0) }
  }
}

extension NSPredicate {
  /// The predicate's own parts. A compound that was made of a tree is one condition here.
  var form: ConditionForm<NSPredicate> {
    guard ownResult == nil, let compound = self as? NSCompoundPredicate else { return .leaf }
    switch compound.compoundPredicateType {
    case .and: return .compound(compound.subpredicates, isAnd: true)
    case .or: return .compound(compound.subpredicates, isAnd: false)
    case .not: return compound.subpredicates.first.map { .negation($0) } ?? .leaf
    }
  }

  /// Whether another predicate has equal parts in the same places.
  func hasParts(equalToThoseOf other: NSPredicate) -> Bool {
    var pending = [(self, other)]
    while let (one, other) = pending.popLast() {
      switch (one.form, other.form) {
      case (.leaf, .leaf): if !one.isEqual(other) { return false }
      case (.negation(let part), .negation(let otherPart)): pending.append((part, otherPart))
      case (.compound(let parts, let isAnd), .compound(let otherParts, let isOtherAnd)):
        if isAnd != isOtherAnd || parts.count != otherParts.count { return false }
        pending += zip(parts, otherParts).reversed()
      default: return false
      }
    }
    return true
  }
}

/// A predicate that is true if all parts are true. Without parts it is true.
///
/// This function hides Foundation's initialiser, and the name stays usable as a type. Its compound prints
/// canonically, where Foundation's prints `FALSEPREDICATE`. A second function of this name would make each
/// call ambiguous, so disjunctions and negations are Foundation's own. They can be evaluated, converted and
/// combined (``Foundation/NSPredicate/predicateTree()``), and ``Foundation/NSPredicate/canonicalFormat``
/// prints them. The alternative is ``TreeCompoundPredicate``.
public func NSCompoundPredicate(
  andPredicateWithSubpredicates parts: [NSPredicate]
) -> TreeCompoundPredicate {
  TreeCompoundPredicate(type: .and, subpredicates: parts)
}
