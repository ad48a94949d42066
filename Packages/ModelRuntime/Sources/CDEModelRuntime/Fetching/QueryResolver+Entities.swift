@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import CDEStore

extension QueryResolver {
  /// A comparison with an object's entity or its name, decided for each entity that the object may have.
  func entity(
    of row: QueryRow, _ left: QueryOperand, _ op: PredicateOperator, _ right: QueryOperand,
    _ options: PredicateTextOptions
  ) throws -> StoreFilter {
    func holds(_ entity: EntityIndex?) throws -> Bool {
      let name = entity.map { schema.entities[$0].layout.entityName }
      return try PredicateTree.compare(try constant(left, name), op, try constant(right, name), options)
        .evaluate(with: PredicateValue.null)
    }
    let possible = schema.entities[row.entity].subtree
    let found = try possible.filter { try holds($0) }
    var parts: [StoreFilter] = []
    if row.hops.isEmpty, found.count == possible.count { return .constant(true) }
    if !found.isEmpty {
      parts.append(.entity(row.path, isIn: found))
    }
    // Without an object there is no entity.
    if !row.hops.isEmpty, try holds(nil) { parts.append(try isNil(.row(row))) }
    return .some(parts)
  }

  /// - Parameter name: the name of the entity in question; nil if there is none.
  private func constant(_ operand: QueryOperand, _ name: String?) throws -> ExpressionTree {
    switch operand {
    case .constant(let constant): return .constant(constant)
    case .entity(_, let isName):
      guard let name else { return .constant(.null) }
      return .constant(isName ? .string(name) : .object(PredicateObject(EntityReference(name: name))))
    case .members(.list(let members)): return .list(try members.map { try constant($0, name) })
    case .row, .composite, .value, .members:
      throw PredicateTreeError(
        .unsupported, construct: "entity",
        "an entity is compared with descriptions that are given as values; evaluate the predicate in memory")
    }
  }
}
