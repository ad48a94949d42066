@_spi(CDE) internal import CDEPredicates
internal import CDEStore

/// Translates predicates and sort terms, which name properties, into a store's conditions, which number them.
///
/// The meaning is that of the evaluation in memory (see ``PredicateTree``): what the two could answer
/// differently is refused with an error that names the construct and the property, never approximated.
/// Comparisons of values of different kinds are decided here, since a store's own rules for them are others: a constant
/// is converted where Core Data converts it, and what could hold for no object is refused.
struct QueryResolver {
  let schema: ResolvedSchema
  /// Index of the entity whose objects are searched.
  let entity: Int
  /// The `.reference(entity:key:)` that stands for an object of the store; anything else equals no row.
  let reference: (PredicateObject) throws -> StoreValue

  /// How deep in conditions on elements a translation is, and what the subqueries around it have bound.
  struct Scope {
    var depth = 0
    var variables: [String: QueryBinding] = [:]
  }

  /// The condition on the rows of the entity that a predicate stands for.
  ///
  /// - Throws: ``PredicateTreeError`` for unknown keys, variables nothing was substituted for, operands that
  ///   do not fit and whatever only memory can evaluate; and what ``reference`` throws.
  func filter(_ tree: PredicateTree) throws -> StoreFilter {
    try filter(tree, Scope())
  }

  func filter(_ tree: PredicateTree, _ scope: Scope) throws -> StoreFilter {
    switch tree {
    case .constant(let holds): return .constant(holds)
    case .and: return .every(try tree.chain(isAnd: true).map { try filter($0, scope) })
    case .or: return .some(try tree.chain(isAnd: false).map { try filter($0, scope) })
    case .not(let part): return try filter(part, scope).opposite
    case .comparison(let comparison): return try filter(comparison, scope)
    }
  }

  private func filter(_ comparison: PredicateComparison, _ scope: Scope) throws -> StoreFilter {
    let (op, options) = (comparison.op, comparison.options)
    guard !options.contains(.localized) else {
      throw PredicateTreeError(
        .unsupported, construct: "\(op.rawValue)[l]",
        "a store knows no locale; leave the option [l] out or evaluate the predicate in memory")
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

  /// A count compared with nothing but "none" needs no counting: the first element decides.
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

  /// What `ANY` says of an operand: a single value is its own only member, nil has none.
  private func anyMember(
    of operand: QueryOperand, _ depth: Int, _ body: (QueryOperand, Int) throws -> StoreFilter
  ) throws -> StoreFilter {
    if case .members(let members) = operand { return try any(members, depth, body) }
    let isNil = try isNil(operand)
    return isNil == .constant(true) ? .constant(false) : .every([isNil.opposite, try body(operand, depth)])
  }
}

extension StoreFilter {
  /// A conjunction without the parts that decide nothing, and flat: a store limits how deep it nests.
  static func every(_ parts: [StoreFilter]) -> StoreFilter {
    var flat: [StoreFilter] = []
    flat.reserveCapacity(parts.count)
    for part in parts {
      switch part {
      case .constant(true): break
      case .constant(false): return part
      case .and(let inner): flat += inner
      default: flat.append(part)
      }
    }
    return flat.isEmpty ? .constant(true) : flat.count == 1 ? flat[0] : .and(flat)
  }

  /// A disjunction without the parts that decide nothing, and flat.
  static func some(_ parts: [StoreFilter]) -> StoreFilter {
    var flat: [StoreFilter] = []
    flat.reserveCapacity(parts.count)
    for part in parts {
      switch part {
      case .constant(false): break
      case .constant(true): return part
      case .or(let inner): flat += inner
      default: flat.append(part)
      }
    }
    return flat.isEmpty ? .constant(false) : flat.count == 1 ? flat[0] : .or(flat)
  }

  /// The exact complement, without a needless `not`.
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

extension PredicateTree {
  /// The parts of a conjunction or disjunction, with those of the like ones within it in their places: found in one
  /// pass, where joining level by level would copy the parts once for each level.
  fileprivate func chain(isAnd: Bool) -> [PredicateTree] {
    var result: [PredicateTree] = []
    var pending = [self]
    while let part = pending.popLast() {
      switch part {
      case .and(let parts) where isAnd: pending += parts.reversed()
      case .or(let parts) where !isAnd: pending += parts.reversed()
      default: result.append(part)
      }
    }
    return result
  }
}
