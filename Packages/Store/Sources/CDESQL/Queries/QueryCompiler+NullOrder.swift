internal import CDEStore

extension QueryCompiler {
  /// How many of a sort's first terms need not say where NULL goes, as no row of the result has NULL there.
  ///
  /// With the place of NULL in its term, a database that has NULL elsewhere in the indexes of uniqueness constraints does not use
  /// them for the order. It would sort the whole table for a page.
  func termsWithoutNull(of query: StoreQuery) -> Int {
    guard !dialect.uniqueIndexesOrderNullAsSorts, !query.sort.isEmpty else { return 0 }
    var names: [String] = []
    for term in query.sort {
      guard let slot = ownProperty(term.expression), term.options.isEmpty,
        excludesNull(query.filter, slot)
      else { break }
      names.append(physical.schema.entities[query.entity].layout.properties[slot].name)
    }
    guard let first = names.first else { return 0 }
    var count = 0
    var next: EntityIndex? = query.entity
    while let index = next {
      let entity = physical.schema.entities[index]
      // Its own index orders NULL as the sort does.
      if entity.source.indexes.contains(where: { $0.elements.first?.property == first }) { return 0 }
      for constraint in entity.source.uniquenessConstraints {
        count = max(count, zip(constraint, names).prefix { $0 == $1 }.count)
      }
      next = entity.parent
    }
    return count
  }

  /// The slot of an expression that is a property of the fetched row.
  private func ownProperty(_ expression: StoreExpression) -> SlotIndex? {
    guard case .path(let path) = expression, path.scope == 0, path.hops.isEmpty,
      case .property(let slot, leaf: 0) = path.end
    else { return nil }
    return slot
  }

  /// Whether a condition is false for all rows without a value of a property.
  private func excludesNull(_ filter: StoreFilter, _ slot: SlotIndex) -> Bool {
    switch filter {
    case .constant(let holds): return !holds
    case .and(let parts): return parts.contains { excludesNull($0, slot) }
    case .or(let parts): return parts.allSatisfy { excludesNull($0, slot) }
    case .comparison(let left, let comparison, let right, _):
      let isLeft = ownProperty(left) == slot
      guard isLeft || ownProperty(right) == slot else { return false }
      let other = isLeft ? right : left
      switch comparison {
      case .less, .lessOrEqual, .greater, .greaterOrEqual, .text: return true
      case .equal:
        guard case .value(let value) = other else { return false }
        return value != .null
      case .notEqual: return other == .value(.null)
      case .in:
        guard isLeft, case .list(let values) = other else { return false }
        return values.allSatisfy {
          guard case .value(let value) = $0 else { return false }
          return value != .null
        }
      case .between: return isLeft
      }
    case .not, .any, .keys, .entity, .rules: return false
    }
  }
}
