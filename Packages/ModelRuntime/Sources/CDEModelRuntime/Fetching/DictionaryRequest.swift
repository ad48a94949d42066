@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
@_spi(CDE) internal import CDEStore

/// A request with dictionary results, with its names resolved: what the store computes, and what becomes of it.
struct DictionaryRequest {
  let model: ModelBinding
  private(set) var entries: [DictionaryEntry] = []
  private(set) var projection: StoreProjection

  /// - Parameter plan: a plan with ``FetchPlan/dictionaries``.
  /// - Throws: ``ManagedObjectError`` for properties that can't be fetched, grouped or computed, and
  ///   ``PredicateTreeError`` for unknown keys and expressions without a form in a store.
  init(_ plan: FetchPlan) throws {
    let request = plan.dictionaries ?? DictionaryResults(groups: [], isDistinct: false)
    model = plan.binding.model
    var resolver = plan.resolver()
    projection = StoreProjection(
      entity: plan.binding.index, includesSubentities: plan.includesSubentities,
      filter: try resolver.filter(plan.predicate), columns: [], isDistinct: request.isDistinct,
      limit: plan.limit, offset: plan.offset)
    if request.properties?.isEmpty ?? true, !request.groups.isEmpty {
      throw Self.unfit(
        "has propertiesToGroupBy but no propertiesToFetch. Name the values of each group", plan)
    }
    if request.having != nil, request.groups.isEmpty {
      throw Self.unfit(
        "has a havingPredicate but no propertiesToGroupBy. Set predicate to select objects", plan)
    }
    resolver.hasGroups = true
    var results: [String: QueryOperand] = [:]
    for property in request.properties ?? Self.attributes(of: plan.binding) {
      let given = try GivenProperty(property, plan)
      let operand = try resolver.operand(given.tree, QueryResolver.Scope())
      try add(given, operand, plan)
      results[given.name] = operand
    }
    for property in request.groups {
      let given = try GivenProperty(property, plan)
      let operand = try resolver.operand(given.tree, QueryResolver.Scope())
      let columns = try self.columns(of: operand, given, plan).map(\.expression)
      if columns.contains(where: \.hasGroup) {
        throw Self.unfit(
          "is grouped by \(given.name), which is an aggregate. Set havingPredicate instead", plan)
      }
      projection.grouping += columns
    }
    projection.columns = entries.flatMap(\.columns)
    resolver.results = results
    try checkColumns(plan)
    if let having = request.having {
      projection.having = try resolver.filter(having)
      guard QueryPart.filter(projection.having).isMade(of: Set(projection.grouping)) else {
        throw Self.unfit(
          "has a havingPredicate of values that are neither in propertiesToGroupBy nor aggregates. Move that "
            + "condition to predicate", plan)
      }
    }
    // All rows together give one result, which has no order.
    if projection.isGrouped, projection.grouping.isEmpty { return }
    projection.sort = try resolver.sort(plan.sort)
    try checkSort(plan)
  }

  private static func attributes(of binding: EntityBinding) -> [String] {
    binding.properties.filter { !$0.isTransient && !$0.isRelationship }.map(\.name)
  }

  static func unfit(_ text: String, _ plan: FetchPlan) -> ManagedObjectError {
    ManagedObjectError(
      .unsupportedRequest, "The fetch of dictionaries of \(plan.binding.name) \(text).",
      entity: plan.binding.name)
  }

  // MARK: Checks

  private func checkColumns(_ plan: FetchPlan) throws {
    guard projection.isGrouped else { return }
    let values = Set(projection.grouping)
    for entry in entries
    where !entry.columns.allSatisfy({ QueryPart.expression($0.expression).isMade(of: values) }) {
      throw Self.unfit(
        projection.grouping.isEmpty
          ? "has \(entry.name) beside an aggregate over all objects. Name it in propertiesToGroupBy, or fetch it in "
            + "another request"
          : "is grouped, but \(entry.name) is neither in propertiesToGroupBy nor an aggregate over the group. Add "
            + "it there, or compute a value such as max:(\(entry.name))", plan)
    }
  }

  private func checkSort(_ plan: FetchPlan) throws {
    let values: Set<StoreExpression>
    if projection.isGrouped {
      values = Set(projection.grouping)
    } else if projection.isDistinct {
      values = Set(projection.columns.map(\.expression))
    } else {
      return
    }
    for (term, sort) in zip(plan.sort, projection.sort)
    where !QueryPart.expression(sort.expression).isMade(of: values) {
      throw Self.unfit(
        projection.isGrouped
          ? "is sorted by \(term.key), which has many values in a group. Sort by values of propertiesToGroupBy and by "
            + "aggregates"
          : "is distinct and sorted by \(term.key), which is not fetched. Add it to propertiesToFetch", plan)
    }
  }

  // MARK: Entries

  private mutating func add(_ given: GivenProperty, _ operand: QueryOperand, _ plan: FetchPlan) throws {
    let columns = try columns(of: operand, given, plan)
    let start = entries.last.map { $0.column + $0.columns.count } ?? 0
    let reading = try reading(of: operand, given, plan)
    entries.append(DictionaryEntry(name: given.name, reading: reading, column: start, columns: columns))
  }

  private func columns(
    of operand: QueryOperand, _ given: GivenProperty, _ plan: FetchPlan
  ) throws -> [StoreProjection.Column] {
    switch operand {
    case .constant(.null): return [.value(.value(.null))]
    case .constant(.object):
      throw Self.unfit("has \(given.name), which is an object given as a value. Fetch a key path", plan)
    case .constant(let constant): return [.value(.value(constant.stored))]
    case .row(let row): return [.object(row.path)]
    case .value(let value): return [.value(value.expression)]
    case .composite(let composite): return composite.leaves.map { .value($0) }
    case .entity:
      throw Self.unfit("has \(given.name), which is an entity. Fetch objectID, whose entity it is", plan)
    case .members:
      throw Self.unfit(
        "has \(given.name), which leads over a to-many relationship. Fetch one value of it, such as "
          + "\(given.name).@count", plan)
    }
  }

  private func reading(
    of operand: QueryOperand, _ given: GivenProperty, _ plan: FetchPlan
  ) throws -> DictionaryEntry.Reading {
    switch operand {
    case .composite(let composite):
      guard [.undefined, .composite].contains(given.type) else { throw unfit(given, "a composite", plan) }
      return .composite(composite.attribute.elements)
    case .row:
      guard [.undefined, .objectID].contains(given.type) else { throw unfit(given, "an object", plan) }
      return .object
    case .constant(let constant):
      guard let kind = QueryKind(constant) else { return .value(.string) }
      return .value(try type(given, kind, natural: nil, plan))
    case .value(let value):
      let attribute = value.expression.attribute.flatMap { end in
        let entity = model.entities[
          end.hops.reduce(plan.binding.index) {
            $1.castEntity ?? model.schema.end(of: $1, in: $0).destination
          }]
        return end.property.map { (entity, entity.properties[$0.slot], $0.leaf) }
      }
      if case .opaque = value.kind, let (entity, info, _) = attribute, case .path = value.expression,
        case .attribute(let own) = info.kind
      {
        guard [.undefined, own].contains(given.type) else { throw unfit(given, value.kind.noun, plan) }
        return .encoded(info, entity)
      }
      let natural = attribute.flatMap { _, info, leaf -> StoreAttributeType? in
        if case .attribute(let type) = info.kind { return type }
        return info.leaves.indices.contains(leaf) ? info.leaves[leaf].type : nil
      }
      return .value(try type(given, value.kind, natural: natural, plan))
    case .members, .entity: throw unfit(given, "no value of a row", plan)
    }
  }

  private func unfit(_ given: GivenProperty, _ noun: String, _ plan: FetchPlan) -> ManagedObjectError {
    Self.unfit(
      "has \(given.name) with the expressionResultType \(given.type.rawValue), but its value is \(noun). Set the type "
        + "of the value, or undefined", plan)
  }

  /// The type of a value in the dictionary.
  private func type(
    _ given: GivenProperty, _ kind: QueryKind, natural: StoreAttributeType?, _ plan: FetchPlan
  ) throws -> StoreAttributeType {
    if given.type == .undefined { return natural ?? kind.type }
    guard given.type == kind.type || kind.otherTypes.contains(given.type) else {
      throw unfit(given, kind.noun, plan)
    }
    return given.type
  }
}

extension StoreExpression {
  /// The attribute whose values these are: its own, or the least or greatest of a group.
  fileprivate var attribute: (hops: [SlotIndex], property: (slot: SlotIndex, leaf: Int)?)? {
    switch self {
    case .path(let path):
      guard case .property(let slot, let leaf) = path.end else { return nil }
      return (path.hops, (slot, leaf))
    case .group(.min, let inner), .group(.max, let inner): return inner.attribute
    default: return nil
    }
  }
}

/// A property of `propertiesToFetch` or `propertiesToGroupBy`, with its name and type.
private struct GivenProperty {
  var name: String
  var tree: ExpressionTree
  /// Undefined for the type that the value has.
  var type = StoreAttributeType.undefined

  init(_ property: Any, _ plan: FetchPlan) throws {
    switch property {
    case let description as NSExpressionDescription:
      guard !description.name.isEmpty else {
        throw DictionaryRequest.unfit(
          "has an NSExpressionDescription without a name. The name is the key in the dictionary", plan)
      }
      guard let expression = description.expression else {
        throw DictionaryRequest.unfit(
          "has the NSExpressionDescription \(description.name) without an expression. Set its expression",
          plan)
      }
      name = description.name
      tree = try expression.expressionTree()
      type = description.expressionResultType.storeType
    case let description as NSPropertyDescription:
      if description is NSFetchedPropertyDescription {
        throw DictionaryRequest.unfit(
          "has \(description.name), which is a fetched property and has no column. Fetch objects", plan)
      }
      name = description.name
      tree = .keyPath([name])
    case let text as String:
      name = text
      tree = try TreeExpression(forKeyPath: text).expressionTree()
    default:
      throw DictionaryRequest.unfit(
        "has a value of type \(Swift.type(of: property)) among its properties. Name properties, or give their "
          + "descriptions", plan)
    }
  }
}
