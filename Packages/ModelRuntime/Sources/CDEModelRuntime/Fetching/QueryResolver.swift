@_spi(CDE) internal import CDEPredicates
internal import CDEStore

/// Translates predicates and sort terms, which name properties, into a store's conditions, which number them.
///
/// The meaning is that of the evaluation in memory (see ``PredicateTree``). A construct for which the results
/// could differ causes an error that names the construct and the property. Comparisons of values of different
/// kinds are decided here, because a store has other rules for them. A constant is converted where Core Data
/// converts it. A comparison that can be true for no object causes an error.
struct QueryResolver {
  let schema: ResolvedSchema
  /// Index of the entity whose objects are searched.
  let entity: EntityIndex
  /// Whether an aggregate of a single value is one over the rows of a group, as in dictionary results.
  var hasGroups = false
  /// Results of the request by name, which the condition on groups and the order may name.
  var results: [String: QueryOperand] = [:]
  /// Names of the entities that the predicate asks an object for. Their properties may be named of an object of an entity
  /// above them.
  var castEntities: Set<String> = []
  /// The `.reference(entity:key:)` of an object of the store. Other values equal no row.
  let reference: (PredicateObject) throws -> StoreValue

  /// The depth of a translation in conditions on elements, and the variables bound by the subqueries around
  /// it.
  struct Scope {
    var depth = 0
    var variables: [String: QueryBinding] = [:]
  }

  /// The condition on the entity's rows for a predicate.
  ///
  /// - Throws: ``PredicateTreeError`` for unknown keys, variables without a substituted value, operands that
  ///   do not fit, and constructs that only memory can evaluate; and the errors of ``reference``.
  func filter(_ tree: PredicateTree) throws -> StoreFilter {
    try filter(tree, Scope())
  }

  func filter(_ tree: PredicateTree, _ scope: Scope) throws -> StoreFilter {
    try walk(tree.levels > Self.levelLimit ? tree.flattened : tree, scope)
  }

  func filter(_ comparison: PredicateComparison, _ scope: Scope) throws -> StoreFilter {
    let (op, options) = (comparison.op, comparison.options)
    guard !options.contains(.localized) else {
      throw PredicateTreeError(
        .unsupported, construct: "\(op.rawValue)[l]",
        "stores do not support locales; leave the option [l] out or evaluate the predicate in memory")
    }
    if let existence = try existence(comparison, scope) { return existence }
    let left = try operand(comparison.left, scope)
    if comparison.modifier == .direct, op == .in, let keys = try keys(of: comparison.right, for: left) {
      return keys
    }
    let right = try operand(comparison.right, scope)
    switch comparison.modifier {
    case .direct: return try compare(left, op, right, options, scope.depth)
    case .any:
      return try anyMember(of: left, scope.depth) { member, depth in
        try compare(member, op, right.lifted(from: scope.depth, to: depth), options, depth)
      }
    case .all:
      return try anyMember(of: left, scope.depth) { member, depth in
        try compare(member, op, right.lifted(from: scope.depth, to: depth), options, depth).opposite
      }.opposite
    }
  }

  /// A count that is only compared with "none" needs no counting, because the first element decides.
  private func existence(_ comparison: PredicateComparison, _ scope: Scope) throws -> StoreFilter? {
    guard comparison.modifier == .direct, case .aggregate(.count, let collection) = comparison.left,
      case .constant(.integer(let bound)) = comparison.right
    else { return nil }
    let isSome: Bool
    switch (comparison.op, bound) {
    case (.greater, 0), (.notEqual, 0), (.greaterOrEqual, 1): isSome = true
    case (.equal, 0), (.lessOrEqual, 0), (.less, 1): isSome = false
    default: return nil
    }
    guard case .members(let members) = try operand(collection, scope) else { return nil }
    let some = try any(members, scope.depth) { _, _ in .constant(true) }
    return isSome ? some : some.opposite
  }

  /// The condition of `ANY` for an operand. A single value is its own only member, nil has no members.
  private func anyMember(
    of operand: QueryOperand, _ depth: Int, _ body: (QueryOperand, Int) throws -> StoreFilter
  ) throws -> StoreFilter {
    if case .members(let members) = operand { return try any(members, depth, body) }
    let isNil = try isNil(operand)
    return isNil == .constant(true) ? .constant(false) : .every([isNil.opposite, try body(operand, depth)])
  }
}

extension StoreFilter {
  /// A flat conjunction without constant parts.
  static func every(_ parts: [StoreFilter]) -> StoreFilter { flat(parts, isAnd: true) }

  /// A flat disjunction without constant parts.
  static func some(_ parts: [StoreFilter]) -> StoreFilter { flat(parts, isAnd: false) }

  // Flat, because a store limits the depth of conditions.
  private static func flat(_ parts: [StoreFilter], isAnd: Bool) -> StoreFilter {
    var flat: [StoreFilter] = []
    flat.reserveCapacity(parts.count)
    for part in parts {
      switch part {
      case .constant(isAnd): break
      case .constant: return part
      case .and(let inner) where isAnd: flat += inner
      case .or(let inner) where !isAnd: flat += inner
      default: flat.append(part)
      }
    }
    if flat.count <= 1 { return flat.first ?? .constant(isAnd) }
    return isAnd ? .and(flat) : .or(flat)
  }

  /// The exact complement, without an unnecessary `not`.
  var opposite: StoreFilter {
    switch self {
    case .constant(let holds): .constant(!holds)
    case .not(let inner): inner
    case .comparison(let left, .equal, let right, let options):
      .comparison(left, .notEqual, right, options)
    case .comparison(let left, .notEqual, let right, let options):
      .comparison(left, .equal, right, options)
    default: .not(self)
    }
  }
}
