@_spi(CDE) internal import CDEPredicates
internal import CDEStore

extension QueryResolver {
  /// The condition that any member of a collection satisfies another condition.
  ///
  /// - Parameter body: makes the condition for a member at the given depth.
  func any(
    _ members: QueryMembers, _ depth: Int, _ body: (QueryOperand, Int) throws -> StoreFilter
  ) throws -> StoreFilter {
    switch members {
    case .list(let list): return .some(try list.map { try body($0, depth) })
    case .relationship(let row, let slot):
      let condition = try body(element(of: row, slot, depth), depth + 1)
      if condition == .constant(false) { return condition }
      return .any(Self.path(row, slot), matching: condition)
    case .filtered(let base, let variable, let predicate, let variables):
      return try any(base, depth) { member, depth in
        var scope = Scope(depth: depth, variables: variables)
        scope.variables[variable] = QueryBinding(operand: member, depth: depth)
        return .every([try filter(predicate, scope), try body(member, depth)])
      }
    case .projected(let base, let keys):
      return try any(base, depth) { member, depth in
        let value = try follow(member, keys)
        guard case .members(let inner) = value else { return try body(value, depth) }
        var parts = [try any(inner, depth, body)]
        // A nil relationship before an inner collection gives one member, which is nil.
        if let owner = inner.owner {
          let gap = try isNil(.row(owner))
          if gap != .constant(false) { parts.append(.every([gap, try body(.constant(.null), depth)])) }
        }
        return .some(parts)
      }
    }
  }

  private func element(of row: QueryRow, _ slot: SlotIndex, _ depth: Int) -> QueryOperand {
    .row(QueryRow(scope: depth + 1, hops: [], entity: schema.end(of: slot, in: row.entity).destination))
  }

  private static func path(_ row: QueryRow, _ slot: SlotIndex) -> StorePath {
    StorePath(scope: row.scope, hops: row.hops + [slot], end: .object)
  }

  // MARK: Counts and aggregates

  func aggregate(
    _ aggregate: PredicateAggregate, of base: ExpressionTree, _ scope: Scope
  ) throws -> QueryOperand {
    switch try operand(base, scope) {
    case .members(.list(let list)):
      return try self.aggregate(aggregate, ofList: list)
    case .constant(.null): return try self.aggregate(aggregate, ofList: [])
    case .members(let members):
      if aggregate == .count {
        let count = try count(members, scope.depth) { _, _ in .constant(true) }
        return .value(QueryValue(expression: count, kind: .number(.integer), name: "@count"))
      }
      return .value(try self.aggregate(aggregate, of: members, scope.depth))
    case let operand where hasGroups && scope.depth == 0: return .value(try grouped(aggregate, operand))
    default:
      throw PredicateTreeError(
        .operands, construct: aggregate.rawValue, "\(aggregate.rawValue) needs a collection")
    }
  }

  private func aggregate(_ aggregate: PredicateAggregate, ofList list: [QueryOperand]) throws -> QueryOperand
  {
    if aggregate == .count { return .constant(.integer(Int64(list.count))) }
    let constants = list.compactMap { member in
      if case .constant(let constant) = member { constant } else { PredicateConstant?.none }
    }
    guard constants.count == list.count else {
      throw PredicateTreeError(
        .unsupported, construct: aggregate.rawValue,
        "\(aggregate.rawValue) of a list with keys in it has no form in a store; evaluate it in memory")
    }
    return try Self.inMemory(.aggregate(aggregate, of: .constant(.list(constants))))
  }

  private func aggregate(
    _ aggregate: PredicateAggregate, of members: QueryMembers, _ depth: Int
  ) throws -> QueryValue {
    let construct = "\(aggregate.rawValue) of \(name(of: members))"
    guard let chain = try chain(members, depth) else {
      throw PredicateTreeError(
        .unsupported, construct: aggregate.rawValue,
        "\(construct) is of a subquery, which a store can only count; evaluate it in memory")
    }
    let tail = try single(chain.tail, for: aggregate.rawValue)
    guard case .value = chain.tail, case .path(let end) = tail.expression else {
      throw PredicateTreeError(
        .operands, construct: aggregate.rawValue, "\(construct) needs single values, not objects")
    }
    let path = StorePath(scope: chain.path.scope, hops: chain.path.hops + end.hops, end: end.end)
    let function: StoreExpression.Aggregate
    var kind = tail.kind
    switch aggregate {
    case .minimum: function = .min
    case .maximum: function = .max
    case .sum, .average, .count:
      guard case .number = tail.kind else {
        throw PredicateTreeError(
          .operands, construct: aggregate.rawValue,
          "sums and averages are of numbers alone, but \(tail.name) is \(tail.kind.noun)")
      }
      function = aggregate == .sum ? .sum : .average
      if aggregate == .average { kind = .number(.real) }
    }
    let result = QueryValue(expression: .aggregate(function, path), kind: kind, name: construct)
    return function == .sum ? result.asDecimal : result
  }

  /// The number of members that satisfy a condition.
  private func count(
    _ members: QueryMembers, _ depth: Int, _ body: (QueryOperand, Int) throws -> StoreFilter
  ) throws -> StoreExpression {
    if case .filtered(let base, let variable, let predicate, let variables) = members {
      return try count(base, depth) { member, depth in
        var scope = Scope(depth: depth, variables: variables)
        scope.variables[variable] = QueryBinding(operand: member, depth: depth)
        return .every([try filter(predicate, scope), try body(member, depth)])
      }
    }
    if let chain = try chain(members, depth) {
      var counts: [StoreExpression] = []
      for gap in chain.gaps {
        let condition = StoreFilter.every([
          try isNil(.row(gap.owner)), try body(.constant(.null), depth + 1),
        ])
        if condition != .constant(false) { counts.append(.countWhere(gap.path, matching: condition)) }
      }
      switch try body(chain.tail, depth + 1) {
      case .constant(true): counts.append(.count(chain.path))
      case .constant(false): break
      case let condition: counts.append(.countWhere(chain.path, matching: condition))
      }
      guard let first = counts.first else { return .value(.integer(0)) }
      return counts.dropFirst().reduce(first) { .function(.add, [$0, $1]) }
    }
    if case .projected(let base, let keys) = members {
      return try count(base, depth) { member, depth in
        let value = try follow(member, keys)
        guard case .members(let inner) = value else { return try body(value, depth) }
        throw uncountable(inner)
      }
    }
    throw uncountable(members)
  }

  private func uncountable(_ members: QueryMembers) -> PredicateTreeError {
    PredicateTreeError(
      .unsupported, construct: "@count",
      "\(name(of: members)) cannot be counted by a store; compare the count with 0 or evaluate it in memory")
  }

  /// A collection as one path through all its to-many relationships. The last hop is to-many.
  private struct Chain {
    var path: StorePath
    /// A member, relative to the scope of the path's elements.
    var tail: QueryOperand
    /// Nil relationships between two collections, each of which gives a member that is nil: the path to the
    /// elements before it, and the row that is nil.
    var gaps: [(path: StorePath, owner: QueryRow)] = []
  }

  /// - Returns: nil for lists, and for collections that contain a subquery.
  private func chain(_ members: QueryMembers, _ depth: Int) throws -> Chain? {
    switch members {
    case .list, .filtered: return nil
    case .relationship(let row, let slot):
      return Chain(path: Self.path(row, slot), tail: element(of: row, slot, depth))
    case .projected(let base, let keys):
      guard var chain = try chain(base, depth) else { return nil }
      var value = try follow(chain.tail, keys)
      while case .members(let inner) = value {
        let (row, slot, rest) =
          switch inner {
          case .relationship(let row, let slot): (row, slot, [String]())
          case .projected(.relationship(let row, let slot), let rest): (row, slot, rest)
          default: throw uncountable(inner)
          }
        if !row.hops.isEmpty { chain.gaps.append((chain.path, row)) }
        chain.path.hops += row.hops + [slot]
        chain.tail = element(of: row, slot, depth)
        value = try follow(chain.tail, rest)
      }
      chain.tail = value
      return chain
    }
  }
}

// MARK: Groups
extension QueryResolver {
  /// An aggregate of a single value, over the rows of a group.
  func grouped(_ aggregate: PredicateAggregate, _ operand: QueryOperand) throws -> QueryValue {
    if aggregate == .count {
      let expression: StoreExpression
      switch operand {
      case .row(let row): expression = row.object
      // A value that can't be compared can be counted.
      case .value(let value): expression = value.expression
      default: expression = try single(operand, for: aggregate.rawValue).expression
      }
      return try grouped(.count, expression, .number(.integer), "count")
    }
    let value = try single(operand, for: aggregate.rawValue)
    let construct = "\(aggregate.rawValue.dropFirst()) of \(value.name)"
    if case .object = value.kind {
      throw PredicateTreeError(
        .operands, construct: aggregate.rawValue, "\(construct) needs single values, not objects")
    }
    if aggregate == .minimum { return try grouped(.min, value.expression, value.kind, construct) }
    if aggregate == .maximum { return try grouped(.max, value.expression, value.kind, construct) }
    guard case .number = value.kind else {
      throw PredicateTreeError(
        .operands, construct: aggregate.rawValue,
        "sums and averages are of numbers alone, but \(value.name) is \(value.kind.noun)")
    }
    return aggregate == .sum
      ? try grouped(.sum, value.expression, value.kind, construct).asDecimal
      : try grouped(.average, value.expression, .number(.real), construct)
  }

  private func grouped(
    _ aggregate: StoreExpression.Aggregate, _ inner: StoreExpression, _ kind: QueryKind, _ name: String
  ) throws -> QueryValue {
    if inner.hasGroup {
      throw PredicateTreeError(
        .operands, construct: name,
        "\(name) is of an aggregate over the same objects; an aggregate is of values of single objects")
    }
    return QueryValue(expression: .group(aggregate, inner), kind: kind, name: name)
  }
}
