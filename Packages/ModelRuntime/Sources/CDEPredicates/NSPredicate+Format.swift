@_spi(CDE) internal import CDEExecutors
public import Foundation

/// Carries the initialisers that Foundation declares unavailable on Linux.
///
/// An initialiser of a class extension cannot return an instance of a subclass; one of a protocol that is
/// not bound to classes can, since it assigns `self`. Being available, it also wins over the class's
/// unavailable one.
public protocol PredicateFormatInitializable {}

extension NSPredicate: PredicateFormatInitializable {}

extension PredicateFormatInitializable where Self: NSPredicate {
  /// A predicate from a format string, in Core Data's grammar.
  ///
  /// A malformed format does not trap: see ``TreePredicate``. Text in quotes is literal; placeholders are
  /// not looked for in it.
  ///
  /// - Parameters:
  ///   - predicateFormat: The condition, with a placeholder for each argument.
  ///   - arguments: What the placeholders stand for, in order. `%K` takes a key path as a string; `%@` takes
  ///     numbers, text, dates, data, UUIDs, URLs, objects, nil, and collections of these.
  public init(format predicateFormat: String, _ arguments: Any?...) {
    self.init(predicateFormat, arguments)
  }

  /// A predicate from a format string whose arguments stand in an array.
  public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
    self.init(predicateFormat, arguments ?? [])
  }

  private init(_ format: String, _ arguments: [Any?]) {
    self.init(
      result: Result { () throws(PredicateTreeError) in
        try PredicateTree(format: format, arguments: arguments)
      })
  }

  // Only NSPredicate itself is made this way: its classes elsewhere (a compound, a user's subclass) have no
  // format initialiser on Apple's platforms either.
  private init(result: Result<PredicateTree, PredicateTreeError>) {
    guard let predicate = TreePredicate(result) as? Self else {
      failPrecondition(
        "A format makes an NSPredicate: \(Self.self)(format:) has no instance of its own class.")
    }
    self = predicate
  }

  /// A predicate from a tree. One that nests too deep to be walked leaves an error in the predicate.
  public init(_ tree: PredicateTree) {
    self.init(result: .success(tree))
  }

  /// A predicate from `#Predicate`, or nil if it uses something that a query cannot express.
  ///
  /// As on Apple's platforms; ``PredicateTree/init(_:)`` throws the reason instead.
  public init?<Input>(_ predicate: Predicate<Input>) {
    guard let tree = try? PredicateTree(predicate) else { return nil }
    self.init(result: .success(tree))
  }
}

extension NSPredicate {
  /// A predicate from a format string, with the error at once.
  ///
  /// - Throws: ``PredicateTreeError`` that names the construct and its offset.
  public static func parsing(format: String, _ arguments: Any?...) throws(PredicateTreeError) -> NSPredicate {
    TreePredicate(try PredicateTree(format: format, arguments: arguments))
  }

  /// The tree of any predicate: one with a format, any compound, or `NSPredicate(value:)`.
  ///
  /// - Throws: ``PredicateTreeError``: what was wrong with the format, or that a block has no tree.
  public func predicateTree() throws(PredicateTreeError) -> PredicateTree {
    if let predicate = self as? TreePredicate { return try predicate.result.get() }
    if let compound = self as? NSCompoundPredicate {
      if compound.isTooDeep { return try compound.flatTree(from: 1).walkable() }
      return try compound.tree().walkable()
    }
    for value in [true, false] where isEqual(NSPredicate(value: value)) { return .constant(value) }
    throw PredicateTreeError(
      .unsupported, construct: "block",
      "a block predicate can be evaluated in memory only. Use a format string, #Predicate or typed paths, or filter the "
        + "fetched objects")
  }

  /// Whether the predicate holds, with the reason if that cannot be told.
  ///
  /// - Parameters:
  ///   - object: A managed object or other ``PredicateValueProviding``, a dictionary, a plain value (for
  ///     `SELF`), or any Swift value, whose stored properties are the keys.
  ///   - variables: Values for the `$NAME`s of the predicate.
  /// - Throws: ``PredicateTreeError``.
  public func matches(_ object: Any?, substitutionVariables variables: [String: Any] = [:]) throws -> Bool {
    if let predicate = self as? TreePredicate {
      return try predicate.result.get().evaluate(
        with: PredicateValue(object),
        variables: variables.isEmpty ? [:] : variables.mapValues { try PredicateValue($0) },
        patterns: predicate.patterns)
    }
    if let compound = self as? NSCompoundPredicate {
      if compound.isTooDeep {
        return try predicateTree().evaluate(
          with: PredicateValue(object), variables: variables.mapValues { try PredicateValue($0) },
          patterns: nil)
      }
      switch compound.compoundPredicateType {
      case .and:
        return try compound.subpredicates.allSatisfy {
          try $0.matches(object, substitutionVariables: variables)
        }
      case .or:
        return try compound.subpredicates.contains {
          try $0.matches(object, substitutionVariables: variables)
        }
      case .not:
        guard let part = compound.subpredicates.first else { return false }
        return try !part.matches(object, substitutionVariables: variables)
      }
    }
    return variables.isEmpty
      ? evaluate(with: object) : evaluate(with: object, substitutionVariables: variables)
  }

  /// A copy with the `$NAME`s replaced that `variables` has values for.
  ///
  /// A value of a kind that predicates do not know leaves an error in the copy. Blocks are returned as they
  /// are.
  public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
    if let predicate = self as? TreePredicate {
      return TreePredicate(
        predicate.result.flatMap { tree in
          Result { () throws(PredicateTreeError) in try tree.substituting(variables) }
        })
    }
    if let compound = self as? NSCompoundPredicate {
      if compound.isTooDeep {
        return TreePredicate(
          Result { () throws(PredicateTreeError) in try predicateTree().substituting(variables) })
      }
      return TreeCompoundPredicate(
        type: compound.compoundPredicateType,
        subpredicates: compound.subpredicates.map { $0.withSubstitutionVariables(variables) })
    }
    return self
  }
}

extension NSCompoundPredicate {
  /// The tree with the compound's own levels.
  fileprivate func tree() throws(PredicateTreeError) -> PredicateTree {
    if compoundPredicateType == .not { return .not(try Self.tree(of: negated())) }
    var parts: [PredicateTree] = []
    for part in subpredicates { parts.append(try Self.tree(of: part)) }
    return compoundPredicateType == .and ? .and(parts) : .or(parts)
  }

  private static func tree(of part: NSPredicate) throws(PredicateTreeError) -> PredicateTree {
    if let compound = part as? NSCompoundPredicate { return try compound.tree() }
    return try part.predicateTree()
  }
}

/// A predicate that holds if all parts hold; without parts it is true.
///
/// A function named like the initialiser wins over it and keeps the name usable as a type, and its compound
/// prints canonically where Foundation's prints `FALSEPREDICATE`. A second function of the name would make
/// every call ambiguous, so disjunctions and negations are Foundation's own: they evaluate, convert and
/// compose (``Foundation/NSPredicate/predicateTree()``), and ``Foundation/NSPredicate/canonicalFormat``
/// prints them; or make them as ``TreeCompoundPredicate``.
public func NSCompoundPredicate(
  andPredicateWithSubpredicates parts: [NSPredicate]
) -> TreeCompoundPredicate {
  TreeCompoundPredicate(type: .and, subpredicates: parts)
}
