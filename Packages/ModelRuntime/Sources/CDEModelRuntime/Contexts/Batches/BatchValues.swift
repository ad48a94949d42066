@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

/// Values given to batch requests. They are checked and made into rows.
enum BatchValues {
  /// New values for each concrete entity that an update may find. A value is the same for all rows, or
  /// computed.
  static func update(
    _ request: NSBatchUpdateRequest, of binding: EntityBinding, _ query: StoreQuery
  ) throws -> StoreBatchUpdate {
    var given: [String: Any] = [:]
    for (key, value) in request.propertiesToUpdate ?? [:] {
      let name = (key.base as? String) ?? (key.base as? NSPropertyDescription)?.name
      guard let name else {
        throw ManagedObjectError(
          .unsupportedRequest,
          "propertiesToUpdate has a key of type \(type(of: key.base)). Name attributes, or describe them.",
          entity: binding.name)
      }
      given[name] = value
    }
    guard !given.isEmpty else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "The batch update has no propertiesToUpdate. Say which attributes get which value.",
        entity: binding.name)
    }
    // In the order of the names, so that among several mistakes the same one is always reported.
    var values: [(name: String, value: _PropertyValue)] = []
    var computed: [(name: String, expression: ExpressionTree)] = []
    for (name, given) in given.sorted(by: { $0.key < $1.key }) {
      let info = try attribute(name, of: binding)
      var value = given
      if let object = given as? TreeExpression {
        let tree = try object.expressionTree()
        // A constant is a value like others, so it is converted and validated like them.
        if case .constant(let constant) = tree {
          value = constant.plainValue ?? NSNull()
        } else {
          value = tree
        }
      }
      if let expression = value as? ExpressionTree {
        _ = try self.computed(expression, info, of: binding)
        computed.append((name, expression))
        continue
      }
      let stored = try self.value(value, info, of: binding)
      if case .null = stored, !info.isOptional { throw missing(info, of: binding) }
      values.append((name, stored))
    }
    let now = Date()
    var update = StoreBatchUpdate(query: query, values: [])
    for index in binding.model.schema.entities[binding.index].subtree {
      let concrete = binding.model.entities[index]
      var changed = PropertySet()
      var builder = RowBatchBuilder(layout: concrete.layout, rows: 1)
      builder.beginRow(key: 0, version: 0)
      for (name, value) in values {
        guard let info = concrete.property(name) else { continue }
        builder.set(value, of: info)
        changed.insert(info.slot)
      }
      for info in concrete.savedDerivations {
        guard let source = info.derivation?.sourceAttribute else {
          builder.set(.real(now.timeIntervalSinceReferenceDate), of: info)
          changed.insert(info.slot)
          continue
        }
        if computed.contains(where: { $0.name == source }) {
          throw ManagedObjectError(
            .unsupportedRequest,
            "\(concrete.name).\(info.name) is derived from \(source), so a batch can't compute that. Set it to a "
              + "value, or save objects.", entity: concrete.name, property: source)
        }
        guard let value = values.first(where: { $0.name == source })?.value else { continue }
        builder.set(info.derivation!.value(of: value), of: info)
        changed.insert(info.slot)
      }
      update.values.append(RowUpdate(batch: builder.finish(), changed: [changed]))
      update.computed.append(
        try computed.compactMap { name, expression in
          try concrete.property(name).map {
            .init(slot: $0.slot, expression: try self.computed(expression, $0, of: concrete))
          }
        })
    }
    return update
  }

  /// A value that the store computes for each row.
  private static func computed(
    _ expression: ExpressionTree, _ info: PropertyInfo, of binding: EntityBinding
  ) throws -> StoreExpression {
    func refuse(_ code: ManagedObjectError.Code, _ reason: String, _ cause: (any Error)? = nil)
      -> ManagedObjectError
    {
      ManagedObjectError(
        code, "\(binding.name).\(info.name) can't be computed in the store: \(reason)", cause: cause,
        entity: binding.name, property: info.name)
    }
    guard case .attribute(let attribute) = binding.layout.properties[info.slot].kind else {
      throw refuse(.unsupportedRequest, "it is a composite. Set it to a value.")
    }
    let kind = QueryKind(attribute)
    if case .opaque(let reason) = kind {
      throw refuse(.unsupportedRequest, "it \(reason). Set it to a value.")
    }
    do {
      let resolver = QueryResolver(schema: binding.model.schema, entity: binding.index) { _ in
        throw refuse(.unsupportedRequest, "the expression has an object in it.")
      }
      let operand = try resolver.operand(expression, QueryResolver.Scope())
      if case .constant(.null) = operand {
        if !info.isOptional { throw missing(info, of: binding) }
        return .value(.null)
      }
      let value = try resolver.single(operand, for: "propertiesToUpdate")
      guard kind.isComparable(with: value.kind), !value.isNaN else {
        throw refuse(
          .invalidValue,
          "it holds \(kind.noun), and the expression gives \(value.isNaN ? "none" : value.kind.noun).")
      }
      return value.expression
    } catch let error as PredicateTreeError {
      throw refuse(.predicate, error.message, error)
    }
  }

  /// An attribute that a batch may write.
  static func attribute(_ name: String, of binding: EntityBinding) throws -> PropertyInfo {
    func refuse(_ reason: String) -> ManagedObjectError {
      ManagedObjectError(
        .unsupportedRequest, "\(binding.name).\(name) \(reason)", entity: binding.name, property: name)
    }
    guard let info = binding.property(name) else {
      throw refuse(
        "does not exist, so a batch can't set it. The attributes are: "
          + binding.properties.filter { !$0.isRelationship }.map(\.name).joined(separator: ", ") + ".")
    }
    if info.isRelationship { throw refuse("is a relationship: batches set attributes only.") }
    if info.isTransient { throw refuse("is transient: no store holds it.") }
    if info.derivation != nil { throw refuse("is derived: set what it follows from.") }
    return info
  }

  static func value(
    _ value: Any, _ info: PropertyInfo, of binding: EntityBinding
  ) throws -> _PropertyValue {
    do {
      guard case .attribute(let type) = info.kind else {
        return try _PropertyValue(any: value, elements: info.elements)
      }
      let value = try _PropertyValue(any: value, as: type)
      try value.keepEncoding(info, of: binding)
      return value
    } catch let error as UnfitValue {
      throw error.error(for: info, of: binding.name)
    }
  }

  static func missing(_ info: PropertyInfo, of binding: EntityBinding, row: Int? = nil) -> ManagedObjectError
  {
    let place = row.map { " Object \($0) of the batch lacks it." } ?? ""
    return ManagedObjectError(
      .missingMandatoryProperty, "\(binding.name).\(info.name) is required and has no value.\(place)",
      entity: binding.name, property: info.name)
  }
}
