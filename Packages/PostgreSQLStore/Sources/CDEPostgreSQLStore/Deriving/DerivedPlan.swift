#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// How the attributes of one entity that are derived through one relationship are kept up to date.
  struct DerivedPlan: Sendable {
    /// What a row of an entity has to do with the attributes. A row may be both an owner and a source.
    struct Part: Sendable {
      /// Whether rows of the entity have the attributes.
      var isOwner = false
      /// Whether owners depend on the deletion of a row.
      var isMember = false
      /// Whether owners may depend on a row that is inserted, although they are not written.
      var isOrigin = false
      /// The attributes that are summed or copied.
      var sources: PropertySet = []
      /// A member's relationship to its owner.
      var reference: Reference?
      /// An owner's relationship to the row that it copies from.
      var origin: Reference?

      /// Slots whose changes concern the attributes.
      var watched: PropertySet {
        sources.union(PropertySet([reference?.slot, origin?.slot].compactMap { $0 }))
      }
    }

    /// A to-one relationship: its slot, and the cell with the key.
    struct Reference: Sendable {
      var slot: SlotIndex
      var cell: CellIndex
    }

    /// Which end of a link is the owner.
    enum LinkRole: Sendable { case owner, member, both }

    /// The entity of the owners.
    let entity: ResolvedSchema.Entity
    let attributes: [DerivedAttribute]
    /// The slots of the attributes in the entity's layout.
    let slots: [SlotIndex]
    /// The tree of the rows that are counted, summed or copied from.
    let sourceRoot: RootIndex
    /// Whether rows may begin to depend on rows that the transaction does not write.
    let dependsOnUnwrittenRows: Bool
    /// Whether a member has one owner, which it leaves for another one.
    let isExclusive: Bool
    /// Computes the attributes of the owners whose keys are the parameter's array. Answers with the key of each owner with a changed
    /// value, and with a column for each attribute: whether it changed.
    let update: String
    /// Computes the attributes of all rows.
    let recomputation: String
    /// The keys of the owners that depend on rows. The parameter is an array of the rows' keys.
    let owners: String
    /// What rows have to do with the attributes, by entity.
    let parts: [EntityIndex: Part]
    /// What links have to do with the attributes, by the entity and slot of the link.
    let links: [EntityIndex: [SlotIndex: LinkRole]]

    /// All plans of a schema.
    ///
    /// - Throws: `.invalidSchema` if an attribute derives from a property that does not exist or has no column.
    static func all(_ physical: PhysicalSchema) throws(StoreError) -> [DerivedPlan] {
      var groups: [[DerivedAttribute]] = []
      for attribute in try physical.derivedAttributes() {
        let index = groups.firstIndex {
          $0[0].entity.index == attribute.entity.index && $0[0].relationship == attribute.relationship
        }
        if let index { groups[index].append(attribute) } else { groups.append([attribute]) }
      }
      return groups.map { DerivedPlan($0, physical) }
    }

    /// - Parameter attributes: attributes of one entity and one relationship. Precondition: at least one.
    private init(_ attributes: [DerivedAttribute], _ physical: PhysicalSchema) {
      let schema = physical.schema
      let entity = attributes[0].entity
      self.entity = entity
      self.attributes = attributes
      slots = attributes.map { entity.layout.slot(named: $0.name)! }
      let table = quoted(physical.tableName(of: entity.index))
      // Other entities of a tree may use a column for another property.
      func only(_ entity: ResolvedSchema.Entity, _ alias: String) -> String {
        if entity.isRoot { return "" }
        let numbers = entity.subtree.map { "\(physical.numbers[$0])" }.joined(separator: ", ")
        return " AND \(alias).\"Z_ENT\" IN (\(numbers))"
      }
      let isOwner = only(entity, "e")
      var parts: [EntityIndex: Part] = [:]
      for entity in entity.subtree { parts[entity, default: Part()].isOwner = true }
      func add(
        _ attribute: String?, of entity: ResolvedSchema.Entity, _ change: (inout Part, RowLayout) -> Void
      ) {
        for entity in entity.subtree {
          let layout = schema.entities[entity].layout
          var part = parts[entity] ?? Part()
          if let slot = attribute.flatMap(layout.slot(named:)) { part.sources.insert(slot) }
          change(&part, layout)
          parts[entity] = part
        }
      }

      /// The rows `s` that the values of the owner `e` are computed from.
      let rows: String
      let values: [String]
      switch attributes[0].source {
      case .copy(let copy):
        let key = quoted(copy.key)
        rows = "\(quoted(physical.tableName(of: copy.destination))) AS s WHERE s.\"Z_PK\" = e.\(key)"
        owners = "SELECT e.\"Z_PK\" FROM \(table) AS e WHERE e.\(key) = ANY($1)\(isOwner)"
        sourceRoot = schema.entities[copy.destination].root
        isExclusive = false
        for attribute in attributes {
          guard case .copy(let copy) = attribute.source else { continue }
          add(copy.attribute, of: schema.entities[copy.destination]) { part, _ in part.isOrigin = true }
        }
        add(nil, of: entity) { part, layout in
          part.origin = Self.reference(attributes[0].relationship, layout)
        }
      case .members(let relation):
        let members = schema.entities[relation.entity]
        let key = quoted(relation.key)
        let other = quoted(physical.tableName(of: relation.entity))
        rows = "\(other) AS s WHERE s.\(key) = e.\"Z_PK\"\(only(members, "s"))"
        owners =
          "SELECT DISTINCT s.\(key) FROM \(other) AS s WHERE s.\"Z_PK\" = ANY($1) AND s.\(key) IS NOT NULL"
        sourceRoot = members.root
        isExclusive = true
        for attribute in attributes {
          guard case .members(let relation) = attribute.source else { continue }
          add(relation.summed?.attribute, of: members) { part, layout in
            part.isMember = true
            part.reference = relation.inverse.flatMap { Self.reference($0, layout) }
          }
        }
      case .pairs(let relation):
        let members = schema.entities[relation.entity]
        let side = relation.side
        let (pairs, owner, member) = (quoted(side.table), quoted(side.owner), quoted(side.member))
        rows =
          "\(pairs) AS j JOIN \(quoted(physical.tableName(of: relation.entity))) AS s ON s.\"Z_PK\" = j.\(member) "
          + "WHERE j.\(owner) = e.\"Z_PK\""
        owners = "SELECT DISTINCT j.\(owner) FROM \(pairs) AS j WHERE j.\(member) = ANY($1)"
        sourceRoot = members.root
        isExclusive = false
        for attribute in attributes {
          guard case .pairs(let relation) = attribute.source else { continue }
          add(relation.summed?.attribute, of: members) { part, _ in part.isMember = true }
        }
      }
      values = attributes.map { Self.value($0) }
      dependsOnUnwrittenRows = !isExclusive && parts.values.contains { !$0.sources.isEmpty }
      self.parts = parts
      links = Self.links(of: attributes[0], physical)

      let columns = attributes.map { quoted($0.column) }
      let names = values.indices.map { "v\($0)" }
      let olds = zip(columns, names).map { "e.\($0) AS o\($1)" }
      let settings = zip(columns, names).map { "\($0) = n.\($1)" }
      let changes = names.map { "n.o\($0) IS DISTINCT FROM n.\($0)" }
      func update(_ condition: String) -> String {
        // OFFSET 0: otherwise the server computes the values once to compare them, and once to write them.
        "UPDATE \(table) AS t SET \(settings.joined(separator: ", ")) FROM (SELECT e.\"Z_PK\" AS k, "
          + "\(olds.joined(separator: ", ")), c.* FROM \(table) AS e LEFT JOIN LATERAL "
          + "(SELECT \(zip(values, names).map { "\($0) AS \($1)" }.joined(separator: ", ")) FROM \(rows)) AS c ON TRUE "
          + "WHERE \(condition)\(isOwner) OFFSET 0) AS n WHERE t.\"Z_PK\" = n.k "
          + "AND (\(changes.joined(separator: " OR ")))"
      }
      self.update =
        update("e.\"Z_PK\" = ANY($1)") + " RETURNING n.k, " + changes.joined(separator: ", ")
      recomputation = update("TRUE")
    }

    /// The value over the rows `s`.
    private static func value(_ attribute: DerivedAttribute) -> String {
      let summed: DerivedAttribute.Summed?
      switch attribute.source {
      case .copy(let copy): return "s.\(quoted(copy.column))"
      case .members(let relation): summed = relation.summed
      case .pairs(let relation): summed = relation.summed
      }
      guard let summed else { return "count(*)" }
      let type = SQLKind(attribute.type)
      let sum = "COALESCE(sum(s.\(quoted(summed.column))), 0)"
      return switch (SQLKind(summed.type), type) {
      case (.decimal, .decimal), (.real, .real): sum
      // A decimal has no infinity.
      case (.real, .decimal): "CASE WHEN abs(\(sum)) < 'Infinity'::float8 THEN \(sum)::numeric END"
      default: "\(sum)::\(type.catalogueName)"
      }
    }

    private static func reference(_ name: String, _ layout: RowLayout) -> Reference? {
      guard let property = layout.property(named: name),
        let cell = property.cells.first(where: { layout.cells[$0].role == .key })
      else { return nil }
      return Reference(slot: property.slot, cell: cell)
    }

    private static func links(
      of attribute: DerivedAttribute, _ physical: PhysicalSchema
    ) -> [EntityIndex: [SlotIndex: LinkRole]] {
      var result: [EntityIndex: [SlotIndex: LinkRole]] = [:]
      for entity in physical.schema.entities {
        for property in entity.layout.properties {
          let key = PhysicalSchema.PropertyKey(entity: property.declaringEntity, property: property.name)
          switch attribute.source {
          case .copy: break
          case .members(let relation):
            guard relation.inverse == nil, let implied = physical.impliedColumns[key],
              implied.key == relation.key, implied.table == physical.tableName(of: relation.entity)
            else { continue }
            result[entity.index, default: [:]][property.slot] = .owner
          case .pairs(let relation):
            guard let side = physical.joinSides[key], side.table == relation.side.table else { continue }
            result[entity.index, default: [:]][property.slot] =
              side.isReflexive ? .both : side.owner == relation.side.owner ? .owner : .member
          }
        }
      }
      return result
    }
  }

  /// The attributes of a store that are derived from other rows.
  struct DerivedPlans: Sendable {
    let plans: [DerivedPlan]
    /// For each entity the slots whose changes concern one of the attributes.
    private let watched: IndexedArray<EntityIndex, PropertySet>
    /// Entities with such attributes.
    let entities: Set<EntityIndex>

    /// - Throws: `.invalidSchema` if one of them derives from a property that does not exist or has no column.
    init(_ physical: PhysicalSchema) throws(StoreError) {
      plans = try DerivedPlan.all(physical)
      entities = physical.derivedEntities
      watched = physical.schema.entities.mapped { [plans] entity in
        plans.reduce(into: PropertySet()) { $0.formUnion($1.parts[entity.index]?.watched ?? []) }
      }
    }

    /// Whether an attribute depends on the change of a row.
    func isConcerned(by update: RowUpdate) -> Bool {
      let watched = watched[update.batch.layout.entity]
      return update.changed.contains { $0.intersects(watched) }
    }
  }
#endif
