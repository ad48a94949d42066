@_spi(CDE) internal import CDEPredicates
internal import CDEStore

extension QueryResolver {
  func operand(_ expression: ExpressionTree, _ scope: Scope) throws -> QueryOperand {
    switch expression {
    case .constant(let constant): return operand(constant)
    case .evaluatedObject: return subject
    case .keyPath(let path):
      return try result(path.joined(separator: "."), scope) ?? follow(subject, path)
    case .variable(let name): return try variable(name, scope)
    case .variableKeyPath(let name, let path): return try follow(try variable(name, scope), path)
    case .projection(let base, let path): return try follow(try operand(base, scope), path)
    case .aggregate(let aggregate, let base): return try self.aggregate(aggregate, of: base, scope)
    case .subquery(let collection, let variable, let predicate):
      switch try operand(collection, scope) {
      case .members(let members):
        return .members(.filtered(members, variable: variable, predicate, scope.variables))
      case .constant(.null): return .members(.list([]))
      default:
        throw PredicateTreeError(
          .operands, construct: "SUBQUERY", "the first part of SUBQUERY is not a collection")
      }
    case .function(let function, let arguments): return try call(function, arguments, scope)
    case .call(_, let selector, _):
      throw PredicateTreeError(
        .unsupported, construct: selector,
        "a store can't call \(selector), a method of an object; filter the fetched objects")
    case .list(let members): return .members(.list(try members.map { try operand($0, scope) }))
    case .conditional(let condition, let first, let second):
      return try conditional(condition, first, second, scope)
    }
  }

  private var subject: QueryOperand { .row(QueryRow(scope: 0, hops: [], entity: entity)) }

  private func operand(_ constant: PredicateConstant) -> QueryOperand {
    if case .list(let constants) = constant { return .members(.list(constants.map { operand($0) })) }
    return .constant(constant)
  }

  /// The request's result of a name.
  private func result(_ name: @autoclosure () -> String, _ scope: Scope) -> QueryOperand? {
    results.isEmpty ? nil : results[name()]?.lifted(from: 0, to: scope.depth)
  }

  private func variable(_ name: String, _ scope: Scope) throws -> QueryOperand {
    guard let value = scope.variables[name] else {
      if let result = result(name, scope) { return result }
      throw PredicateTreeError(
        .missingVariable, construct: "$" + name,
        "nothing was substituted for $\(name); give the variable a value")
    }
    return value.operand.lifted(from: value.depth, to: scope.depth)
  }

  /// The greatest number of steps in a key path. SQLite joins 64 tables, and other conditions need a few of
  /// them.
  private static let pathLimit = 60

  /// The operand that a key path leads to from another operand.
  func follow(_ operand: QueryOperand, _ path: [String]) throws -> QueryOperand {
    if path.count > Self.pathLimit {
      let name = path.prefix(3).joined(separator: ".")
      throw PredicateTreeError(
        .unsupported, construct: name,
        "the key path \(name)… has \(path.count) steps, more than the \(Self.pathLimit) tables that a store joins; "
          + "use a shorter key path, or fetch in steps")
    }
    var operand = operand
    for (index, key) in path.enumerated() {
      switch operand {
      case .row(let row): operand = try property(key, of: row)
      case .composite(let composite): operand = try element(key, of: composite)
      case .members(let members): return .members(members.appending(Array(path[index...])))
      case .entity(let row, false) where key == "name": operand = .entity(row, isName: true)
      case .entity:
        throw PredicateTreeError(
          .unknownKey, construct: key, "\(key) can't be read from an entity; compare the entity, or its name")
      case .constant(.null): return operand
      // As in Core Data, a text has the key `length`.
      case .value(let value) where value.kind == .text && key == "length":
        operand = try text(.length, .length, [value], .number(.integer))
      case .constant(.string(let text)) where key == "length":
        operand = .constant(.integer(Int64(text.unicodeScalars.count)))
      case .constant(.object):
        throw PredicateTreeError(
          .operands, construct: key,
          "\(key) can't be read from an object that is given as a value; compare the object itself")
      case .constant:
        throw PredicateTreeError(
          .unknownKey, construct: key, "\(key) can't be read from a value that has no keys")
      case .value(let value) where value.kind == .archived:
        throw PredicateTreeError(
          .unsupported, construct: "\(value.name).\(key)",
          "\(value.name) is transformable: the store has only its archived bytes, and no \(key). Fields of a "
            + "composition have columns in a model made with `compositions: .columns`; otherwise filter and sort "
            + "in memory")
      case .value(let value):
        throw PredicateTreeError(
          .unknownKey, construct: key,
          "\(key) can't be read from \(value.name), which is \(value.kind.noun) and has no keys")
      }
    }
    return operand
  }

  private func property(_ key: String, of given: QueryRow) throws -> QueryOperand {
    let row = try cast(given, for: key)
    let owner = schema.entities[row.entity]
    let name = "\(owner.layout.entityName).\(key)"
    guard let property = owner.layout.property(named: key) else {
      // The object itself, under the names that it has in memory.
      if key == "objectID" || key == "self" || key == "SELF" { return .row(row) }
      if key == "entity" { return .entity(row, isName: false) }
      throw unknownKey(key, of: owner)
    }
    guard !property.isTransient else {
      throw PredicateTreeError(
        .unsupported, construct: name, "\(name) is transient and has no column: evaluate it in memory")
    }
    switch property.kind {
    case .attribute(let attribute):
      let value = row.value(property.slot, leaf: 0)
      return .value(QueryValue(expression: value, kind: QueryKind(attribute), name: name))
    case .composite(let attribute):
      return .composite(
        QueryComposite(row: row, slot: property.slot, attribute: attribute, firstLeaf: 0, name: name))
    case .toOne:
      return .row(
        QueryRow(
          scope: row.scope, hops: row.hops + [property.slot],
          entity: schema.end(of: property.slot, in: row.entity).destination))
    case .toMany: return .members(.relationship(row, slot: property.slot))
    }
  }

  /// The row, seen as one of the entity below its own that has a key and that the predicate asks for.
  private func cast(_ row: QueryRow, for key: String) throws -> QueryRow {
    let owner = schema.entities[row.entity]
    if castEntities.isEmpty || owner.layout.property(named: key) != nil { return row }
    // An entity comes before those that inherit from it.
    let found = owner.subtree.filter {
      let layout = schema.entities[$0].layout
      return castEntities.contains(layout.entityName) && layout.property(named: key) != nil
    }
    guard let first = found.first else { return row }
    let others = found.filter { !schema.entities[first].subtree.contains($0) }
    if let other = others.first {
      let names = [first, other].map { schema.entities[$0].layout.entityName }
      throw PredicateTreeError(
        .unsupported, construct: key,
        "\(names[0]) and \(names[1]) both have a property \(key) of their own, and the condition asks for both entities; fetch "
          + "each of them with a condition of its own")
    }
    return QueryRow(scope: row.scope, hops: row.hops + [StorePath.cast(to: first)], entity: first)
  }

  private func unknownKey(_ key: String, of owner: ResolvedSchema.Entity) -> PredicateTreeError {
    let below = owner.subtree.dropFirst().first {
      schema.entities[$0].layout.property(named: key) != nil
    }
    let name = owner.layout.entityName
    guard let below else {
      return PredicateTreeError(
        .unknownKey, construct: key,
        "\(name) has no property \(key). "
          + Spelling.hint(key, owner.layout.properties.map(\.name), all: "Its properties are"))
    }
    let sub = schema.entities[below].layout.entityName
    return PredicateTreeError(
      .unknownKey, construct: key,
      "\(name) has no property \(key), only its sub-entity \(sub) has; fetch \(sub) to query it")
  }

  private func element(_ key: String, of composite: QueryComposite) throws -> QueryOperand {
    var leaf = composite.firstLeaf
    for element in composite.attribute.elements {
      guard element.name == key else {
        leaf += element.leaves.count
        continue
      }
      let name = "\(composite.name).\(key)"
      guard element.type == .composite else {
        let value = composite.row.value(composite.slot, leaf: leaf)
        return .value(QueryValue(expression: value, kind: QueryKind(element), name: name))
      }
      return .composite(
        QueryComposite(
          row: composite.row, slot: composite.slot, attribute: element, firstLeaf: leaf, name: name))
    }
    throw PredicateTreeError(
      .unknownKey, construct: key, "\(composite.name) has no element \(key); check the key's spelling")
  }

  // MARK: Single values

  /// An operand as a single value that is not the constant nil.
  ///
  /// - Throws: ``PredicateTreeError`` for collections, composites and columns that can only be compared with
  ///   nil.
  func single(_ operand: QueryOperand, for construct: String) throws -> QueryValue {
    switch operand {
    case .constant(.object(let object)):
      let value = try reference(object)
      guard case .reference(let entity, _) = value else {
        return QueryValue(expression: .value(value), kind: .object(root: -1), name: "an object")
      }
      return QueryValue(
        expression: .value(value), kind: .object(root: schema.entities[entity].root), name: "an object")
    case .constant(let constant):
      guard let kind = QueryKind(constant) else {
        return QueryValue(expression: .value(.null), kind: .opaque("is nil"), name: "nil")
      }
      return QueryValue(expression: .value(constant.stored), kind: kind, name: kind.noun)
    case .row(let row):
      let entity = schema.entities[row.entity]
      return QueryValue(
        expression: row.object, kind: .object(root: entity.root), name: entity.layout.entityName)
    case .value(let value):
      if case .opaque(let reason) = value.kind {
        throw PredicateTreeError(
          .unsupported, construct: value.name,
          "\(value.name) \(reason): compare it with nil alone or evaluate the predicate in memory")
      }
      return value
    case .entity(let row, _):
      throw PredicateTreeError(
        .operands, construct: construct,
        "\(schema.entities[row.entity].layout.entityName).entity is a description, which is compared with other "
          + "descriptions alone")
    case .composite(let composite):
      throw PredicateTreeError(
        .operands, construct: composite.name,
        "\(composite.name) is a composite, which is compared with nil alone; name one of its elements")
    case .members(let members):
      throw PredicateTreeError(
        .operands, construct: construct,
        "\(name(of: members)) is a collection; quantify it with ANY or ALL, or count it")
    }
  }

  func name(of members: QueryMembers) -> String {
    switch members {
    case .list: "a list"
    case .relationship(let row, let slot):
      "\(schema.entities[row.entity].layout.entityName)."
        + schema.entities[row.entity].layout.properties[slot].name
    case .projected(let base, let keys): "\(name(of: base)).\(keys.joined(separator: "."))"
    case .filtered(let base, _, _, _): "SUBQUERY(\(name(of: base)), …)"
    }
  }

  func isNil(_ operand: QueryOperand) throws -> StoreFilter {
    switch operand {
    case .constant(let constant): return .constant(constant == .null)
    // A scope's own row always exists.
    case .row(let row) where row.hops.isEmpty: return .constant(false)
    case .row(let row): return .comparison(row.object, .equal, .value(.null), [])
    case .entity(let row, _): return try isNil(.row(row))
    case .value(let value): return .comparison(value.expression, .equal, .value(.null), [])
    case .composite(let composite):
      return .every(composite.leaves.map { .comparison($0, .equal, .value(.null), []) })
    case .members(let members):
      throw PredicateTreeError(
        .operands, construct: "==", "\(name(of: members)) is a collection; quantify it with ANY or ALL")
    }
  }
}
