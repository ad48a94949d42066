import CDEStore

extension QueryCompiler {
  /// The end of a path so far: a table's alias and the entity of its rows.
  struct Place {
    var entity: EntityIndex
    var alias: String
  }

  func scope(_ number: Int) throws(StoreError) -> Scope {
    guard scopes.indices.contains(number) else {
      throw unsupported("A path starts at scope \(number), but only \(scopes.count) are open.")
    }
    return scopes[number]
  }

  func property(_ slot: SlotIndex, of entity: EntityIndex) throws(StoreError) -> RowLayout.Property {
    let properties = physical.schema.entities[entity].layout.properties
    guard properties.indices.contains(slot) else {
      throw unsupported(
        "\(physical.schema.entities[entity].source.name) has no property slot \(slot).")
    }
    let property = properties[slot]
    guard !property.isTransient else {
      throw StoreError(
        .unsupportedQuery,
        "\(physical.schema.entities[entity].source.name).\(property.name) is transient, so the store can't "
          + "search it. Filter the objects in memory.",
        entity: physical.schema.entities[entity].source.name, properties: [property.name])
    }
    return property
  }

  func column(of property: RowLayout.Property, leaf: Int, in entity: EntityIndex) throws(StoreError) -> String
  {
    guard property.cells.indices.contains(property.cells.lowerBound + leaf), leaf >= 0 else {
      throw unsupported("\(property.name) has no stored value \(leaf).")
    }
    return quoted(physical.cellColumns[entity][property.cells.lowerBound + leaf])
  }

  /// Follows to-one hops from a scope by left joins. Each join is made once.
  mutating func follow(_ hops: ArraySlice<SlotIndex>, from scope: Scope) throws(StoreError) -> Place {
    var place = Place(entity: scope.entity, alias: scope.alias)
    var taken: [SlotIndex] = []
    for slot in hops {
      taken.append(slot)
      if let entity = slot.castEntity {
        // The entities of one tree have one table.
        place.entity = entity
        continue
      }
      let property = try property(slot, of: place.entity)
      guard case .toOne = property.kind else {
        throw unsupported("\(property.name) is not a to-one relationship; use any, a count or an aggregate.")
      }
      let destination = physical.schema.end(of: slot, in: place.entity).destination
      if let join = scope.joins.first(where: { $0.hops == taken }) {
        place = Place(entity: destination, alias: join.alias)
        continue
      }
      guard scope.joins.count < dialect.joinLimit else {
        throw StoreError(
          .tooBig,
          "The query joins more than \(dialect.joinLimit) tables to follow its key paths, the last over "
            + "\(physical.schema.entities[place.entity].source.name).\(property.name); \(dialect.joinReason). Use "
            + "shorter key paths, or fetch in steps.",
          entity: physical.schema.entities[place.entity].source.name, properties: [property.name])
      }
      let column = try column(of: property, leaf: 0, in: place.entity)
      let alias = newAlias()
      scope.joins.append(
        (
          "LEFT JOIN \(quoted(physical.tableName(of: destination))) AS \(alias) "
            + "ON \(alias).\(key) = \(place.alias).\(column)", taken, alias
        ))
      place = Place(entity: destination, alias: alias)
    }
    return place
  }

  /// The value at the end of a path over to-one hops.
  mutating func pathValue(_ path: StorePath) throws(StoreError) -> Piece {
    let scope = try scope(path.scope)
    switch path.end {
    case .object:
      guard let last = path.hops.last else { return Piece("\(scope.alias).\(key)", kind: .integer) }
      // The previous row contains the key of the last object, which saves a join.
      let place = try follow(path.hops.dropLast(), from: scope)
      let property = try property(last, of: place.entity)
      guard case .toOne = property.kind else {
        throw unsupported("\(property.name) is to-many; use any, a count or an aggregate.")
      }
      return Piece("\(place.alias).\(try column(of: property, leaf: 0, in: place.entity))", kind: .integer)
    case .property(let slot, let leaf):
      let place = try follow(path.hops[...], from: scope)
      let property = try property(slot, of: place.entity)
      if case .toMany = property.kind {
        throw unsupported("\(property.name) is to-many; use any, a count or an aggregate.")
      }
      return Piece(
        "\(place.alias).\(try column(of: property, leaf: leaf, in: place.entity))",
        kind: kind(of: property, leaf: leaf))
    }
  }

  /// `FROM … WHERE …` over the elements of a path with a to-many hop, as a subquery of an enclosing scope.
  ///
  /// - Parameter body: makes the text before it and the conditions after it. It is called with the element's
  ///   scope on top of the stack.
  mutating func elements(
    of path: StorePath,
    _ body: (inout QueryCompiler, Place) throws(StoreError) -> (head: Piece, condition: Piece?)
  ) throws(StoreError) -> Piece {
    let outer = try scope(path.scope)
    var entity = outer.entity
    var leading = 0
    for slot in path.hops {
      if let cast = slot.castEntity {
        entity = cast
        leading += 1
        continue
      }
      if case .toMany = try property(slot, of: entity).kind { break }
      entity = physical.schema.end(of: slot, in: entity).destination
      leading += 1
    }
    guard leading < path.hops.count else {
      throw unsupported("The path has no to-many relationship.")
    }
    let start = try follow(path.hops.prefix(leading), from: outer)
    var sources: [String] = []
    var conditions: [Piece] = []
    var place = start
    for slot in path.hops.dropFirst(leading) {
      if let entity = slot.castEntity {
        place.entity = entity
        continue
      }
      let next = Place(
        entity: physical.schema.end(of: slot, in: place.entity).destination, alias: newAlias())
      let property = try property(slot, of: place.entity)
      let table = "\(quoted(physical.tableName(of: next.entity))) AS \(next.alias)"
      if case .toOne = property.kind {
        let column = try column(of: property, leaf: 0, in: place.entity)
        conditions.append(Piece("\(next.alias).\(key) = \(place.alias).\(column)"))
      } else {
        conditions.append(try elementCondition(slot, of: place, element: next, sources: &sources))
      }
      sources.append(table)
      place = next
    }
    guard sources.count <= dialect.joinLimit else {
      throw StoreError(
        .tooBig,
        "A key path of the query goes over \(path.hops.count) relationships, the last to "
          + "\(physical.schema.entities[place.entity].source.name); \(dialect.joinReason) tables. Use a shorter key "
          + "path, or fetch in steps.", entity: physical.schema.entities[place.entity].source.name)
    }
    let element = Scope(entity: place.entity, alias: place.alias)
    let saved = scopes
    // Inside, scopes are counted from the outermost on. Those below the path's own scope stay visible.
    scopes.append(element)
    let (head, condition) = try body(&self, place)
    scopes = saved
    if let condition { conditions.append(condition) }
    var from = " FROM " + sources.joined(separator: dialect.orderedJoin)
    for join in element.joins { from += " " + join.sql }
    return head + Piece(from + " WHERE ") + .joined(conditions, " AND ")
  }

  /// The condition that connects an element to its owner.
  private mutating func elementCondition(
    _ slot: SlotIndex, of owner: Place, element: Place, sources: inout [String]
  ) throws(StoreError) -> Piece {
    switch try physical.toMany(slot, of: owner.entity) {
    case .inverse(let column, _), .implied(let column, _):
      return Piece("\(element.alias).\(quoted(column)) = \(owner.alias).\(key)")
    case .join(let side):
      let table = quoted(side.table)
      if side.isReflexive {
        return Piece(
          "\(element.alias).\(key) IN (SELECT \(quoted(side.member)) FROM \(table) WHERE "
            + "\(quoted(side.owner)) = \(owner.alias).\(key) UNION SELECT \(quoted(side.owner)) "
            + "FROM \(table) WHERE \(quoted(side.member)) = \(owner.alias).\(key))")
      }
      let alias = newAlias()
      sources.append("\(table) AS \(alias)")
      return Piece(
        "\(alias).\(quoted(side.owner)) = \(owner.alias).\(key) AND "
          + "\(element.alias).\(key) = \(alias).\(quoted(side.member))")
    }
  }
}
