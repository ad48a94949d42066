@_spi(CDE) internal import CDEPredicates
internal import CDEStore

// A database's parser accepts some levels of conditions only. Comparisons are true or false and never unknown, so a condition
// of many levels is a list of rules: in "a AND (b OR (c AND …))", not a means false; then b means true; then not c means
// false, and so on. Of each compound the heaviest part is followed, and the others become rules. A part that is not followed
// has at most half of the conditions, so rules nest by the logarithm of the number of conditions.
extension QueryResolver {
  /// The levels of conditions up to which a condition keeps its form. SQLite's parser has had 100 places for what is open,
  /// of which a level takes three.
  static let levelLimit = 16

  /// The condition for a flat tree.
  func walk(_ tree: PredicateTree, _ scope: Scope) throws -> StoreFilter {
    switch tree {
    case .constant(let holds): return .constant(holds)
    case .comparison(let comparison): return try filter(comparison, scope)
    case .and(let parts): return .every(try parts.map { try part($0, scope) })
    case .or(let parts): return .some(try parts.map { try part($0, scope) })
    case .not(let part): return try self.part(part, scope).opposite
    }
  }

  // The outermost conditions keep their form, so that they can use an index.
  private func part(_ tree: PredicateTree, _ scope: Scope) throws -> StoreFilter {
    tree.levels > Self.levelLimit ? try rules(tree, scope) : try walk(tree, scope)
  }

  private func rules(_ tree: PredicateTree, _ scope: Scope) throws -> StoreFilter {
    var rules: [(conditions: [StoreFilter], holds: Bool)] = []
    var (rest, isNegated) = (tree, false)
    while rest.levels > Self.levelLimit {
      let parts: PredicateParts
      let isAnd: Bool
      switch rest {
      case .not(let part):
        (rest, isNegated) = (part, !isNegated)
        continue
      case .and(let all): (parts, isAnd) = (all, true)
      case .or(let all): (parts, isAnd) = (all, false)
      case .constant, .comparison: return .constant(!isNegated)
      }
      let weights = parts.map(\.weight)
      let heaviest = weights.indices.max { weights[$0] < weights[$1] } ?? 0
      for (index, part) in parts.enumerated() where index != heaviest {
        let condition = try self.part(part, scope)
        let holds = isAnd == isNegated
        let decisive = isAnd ? condition.opposite : condition
        if rules.last?.holds == holds {
          rules[rules.count - 1].conditions.append(decisive)
        } else {
          rules.append(([decisive], holds))
        }
      }
      rest = parts[heaviest]
    }
    let last = try walk(rest, scope)
    return .deciding(
      rules.map { StoreFilter.Rule(.some($0.conditions), holds: $0.holds) },
      otherwise: isNegated ? last.opposite : last)
  }
}

extension StoreFilter {
  /// A list of rules without those that never decide, and without those behind one that always does.
  fileprivate static func deciding(_ rules: [Rule], otherwise: StoreFilter) -> StoreFilter {
    var kept: [Rule] = []
    for rule in rules {
      switch rule.condition {
      case .constant(false): break
      case .constant(true):
        return kept.isEmpty ? .constant(rule.holds) : .rules(kept, otherwise: .constant(rule.holds))
      default: kept.append(rule)
      }
    }
    return kept.isEmpty ? otherwise : .rules(kept, otherwise: otherwise)
  }
}
