/// A checked schema whose entities and properties are numbered.
///
/// Entities are numbered in Core Data's order: depth first through the inheritance trees, siblings by name
/// ignoring case. In a new store, `Z_ENT` is the index plus one.
public final class ResolvedSchema: Sendable {
  /// An entity with its numbers and its layout.
  public struct Entity: Sendable {
    /// The entity's index in ``ResolvedSchema/entities``.
    public var index: EntityIndex
    /// The entity in the schema.
    public var source: StoreEntity
    /// Index of the entity that this one inherits from; `nil` for a root.
    public var parent: EntityIndex?
    /// Index of the root of the inheritance tree; the entity's own index if it is one.
    public var root: RootIndex
    /// The indexes of the entity and all entities below it. They are contiguous by construction.
    public var subtree: Range<EntityIndex>
    /// The layout of the entity's rows in memory, with inherited properties.
    public var layout: RowLayout

    /// Whether the entity inherits from no other.
    public var isRoot: Bool { root.entity == index }

    /// Whether other entities inherit from this one.
    public var hasSubentities: Bool { subtree.count > 1 }
  }

  /// The other end of a relationship.
  public struct RelationshipEnd: Sendable {
    /// Index of the destination entity.
    public var destination: EntityIndex
    /// The inverse's slot in the destination's layout; `nil` for a one-way relationship.
    public var inverseSlot: SlotIndex?
    /// The inverse in its entity's declaration; `nil` for a one-way relationship.
    public var inverse: StoreRelationship?
  }

  /// The schema that was checked and numbered.
  public let source: StoreSchema
  /// All entities, in the order of their indexes.
  public let entities: IndexedArray<EntityIndex, Entity>
  private let indexesByName: [String: EntityIndex]
  // Keyed by entity index, then slot.
  private let ends: IndexedArray<EntityIndex, [SlotIndex: RelationshipEnd]>

  /// The entity with this name, `nil` if there is none. Costs one look-up in a hash table.
  public func entity(named name: String) -> Entity? { indexesByName[name].map { entities[$0] } }

  /// The other end of the relationship in `slot` of `entity`.
  ///
  /// - Precondition: the slot belongs to a relationship.
  public func end(of slot: SlotIndex, in entity: EntityIndex) -> RelationshipEnd { ends[entity][slot]! }

  /// - Throws: ``StoreError`` with code `.invalidSchema`. The message names entity and property.
  public init(_ source: StoreSchema) throws(StoreError) {
    self.source = source
    let order = IndexedArray<EntityIndex, StoreEntity>(try Self.numbered(source))
    var indexes: [String: EntityIndex] = [:]
    for (index, entity) in zip(order.indices, order) { indexes[entity.name] = index }
    indexesByName = indexes

    var entities: IndexedArray<EntityIndex, Entity> = []
    for (index, entity) in zip(order.indices, order) {
      let parent = entity.parent.flatMap { indexes[$0] }
      let root = parent.map { entities[$0].root } ?? RootIndex(index.rawValue)
      let properties = try Self.properties(of: index, in: order, indexes: indexes)
      let layout = Self.layout(
        of: index, root: root, properties: properties, in: order, indexes: indexes)
      entities.append(
        Entity(
          index: index, source: entity, parent: parent, root: root, subtree: index..<(index + 1),
          layout: layout))
      var ancestor = parent
      while let current = ancestor {
        entities[current].subtree = entities[current].subtree.lowerBound..<(index + 1)
        ancestor = entities[current].parent
      }
    }
    self.entities = entities

    ends = try entities.mapped { (entity) throws(StoreError) in
      var result: [SlotIndex: RelationshipEnd] = [:]
      for property in entity.layout.properties {
        let relationship: StoreRelationship
        switch property.kind {
        case .toOne(let value), .toMany(let value): relationship = value
        case .attribute, .composite: continue
        }
        let destination = indexes[relationship.destination]!
        let layout = entities[destination].layout
        var end = RelationshipEnd(destination: destination)
        if let name = relationship.inverse {
          guard let inverse = layout.property(named: name) else {
            throw StoreError(
              .invalidSchema,
              "\(entity.source.name).\(property.name) names the inverse \(relationship.destination).\(name), "
                + "which does not exist. Add it or correct the name.",
              entity: entity.source.name, properties: [property.name])
          }
          switch inverse.kind {
          case .toOne(let value), .toMany(let value): end.inverse = value
          case .attribute, .composite:
            throw StoreError(
              .invalidSchema,
              "The inverse of \(entity.source.name).\(property.name), \(relationship.destination).\(name), "
                + "is an attribute. An inverse must be a relationship.",
              entity: entity.source.name, properties: [property.name])
          }
          end.inverseSlot = inverse.slot
        }
        result[property.slot] = end
      }
      return result
    }
  }

  private static func numbered(_ source: StoreSchema) throws(StoreError) -> [StoreEntity] {
    var byName: [String: StoreEntity] = [:]
    var children: [String: [StoreEntity]] = [:]
    var roots: [StoreEntity] = []
    for entity in source.entities {
      guard byName.updateValue(entity, forKey: entity.name) == nil else {
        throw StoreError(
          .invalidSchema, "Two entities are named \(entity.name). Names must be unique.",
          entity: entity.name)
      }
      if let parent = entity.parent {
        children[parent, default: []].append(entity)
      } else {
        roots.append(entity)
      }
    }
    for parent in children.keys where byName[parent] == nil {
      throw StoreError(
        .invalidSchema,
        "\(children[parent]![0].name) has the parent \(parent), which is not in the schema.",
        entity: children[parent]![0].name)
    }
    // Names that differ only in case are ordered by code point, so the order is total.
    func sorted(_ entities: [StoreEntity]) -> [StoreEntity] {
      entities.sorted { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
    }
    var result: [StoreEntity] = []
    func visit(_ entity: StoreEntity) {
      result.append(entity)
      for child in sorted(children[entity.name] ?? []) { visit(child) }
    }
    for root in sorted(roots) { visit(root) }
    guard result.count == source.entities.count else {
      let lost = source.entities.first { entity in !result.contains { $0.name == entity.name } }!
      throw StoreError(
        .invalidSchema, "\(lost.name) is its own ancestor. Break the circle of parents.",
        entity: lost.name)
    }
    return result
  }

  /// All properties of an entity, inherited ones included, by name, without cells.
  private static func properties(
    of index: EntityIndex, in order: IndexedArray<EntityIndex, StoreEntity>, indexes: [String: EntityIndex]
  ) throws(StoreError) -> IndexedArray<SlotIndex, RowLayout.Property> {
    var result: [String: RowLayout.Property] = [:]
    var current: EntityIndex? = index
    var lineage: [EntityIndex] = []
    while let entity = current {
      lineage.append(entity)
      current = order[entity].parent.flatMap { indexes[$0] }
    }
    for declaring in lineage.reversed() {
      let entity = order[declaring]
      func add(_ name: String, _ kind: RowLayout.Property.Kind, transient: Bool) throws(StoreError) {
        let property = RowLayout.Property(
          name: name, slot: 0, kind: kind, isTransient: transient, declaringEntity: declaring,
          cells: 0..<0)
        guard result.updateValue(property, forKey: name) == nil else {
          throw StoreError(
            .invalidSchema, "\(entity.name).\(name) is declared twice. Rename one of the two.",
            entity: entity.name, properties: [name])
        }
      }
      for attribute in entity.attributes {
        let kind: RowLayout.Property.Kind =
          attribute.type == .composite ? .composite(attribute) : .attribute(attribute)
        try add(attribute.name, kind, transient: attribute.isTransient)
      }
      for relationship in entity.relationships {
        guard indexes[relationship.destination] != nil else {
          throw StoreError(
            .invalidSchema,
            "\(entity.name).\(relationship.name) points at \(relationship.destination), "
              + "which is not in the schema.",
            entity: entity.name, properties: [relationship.name])
        }
        try add(
          relationship.name, relationship.isToMany ? .toMany(relationship) : .toOne(relationship),
          transient: relationship.isTransient)
      }
    }
    return IndexedArray(result.values.sorted { codePointOrder($0.name, $1.name) })
  }

  private static func layout(
    of index: EntityIndex, root: RootIndex, properties: IndexedArray<SlotIndex, RowLayout.Property>,
    in order: IndexedArray<EntityIndex, StoreEntity>,
    indexes: [String: EntityIndex]
  ) -> RowLayout {
    let parents = Set(order.compactMap(\.parent))
    var cells: IndexedArray<CellIndex, RowLayout.Cell> = []
    var numbered = properties
    for slot in numbered.indices {
      numbered[slot].slot = slot
      let first = cells.endIndex
      defer { numbered[slot].cells = first..<cells.endIndex }
      guard !numbered[slot].isTransient else { continue }
      switch numbered[slot].kind {
      case .attribute(let attribute), .composite(let attribute):
        for leaf in attribute.leaves {
          cells.append(
            RowLayout.Cell(
              name: leaf.name, kind: leaf.type.cellKind, type: leaf.type, role: .value, slot: slot,
              allowsExternalStorage: leaf.allowsExternalStorage))
        }
      case .toOne(let relationship):
        func add(_ role: RowLayout.Cell.Role) {
          cells.append(
            RowLayout.Cell(
              name: relationship.name, kind: .integer, type: .integer64, role: role, slot: slot,
              allowsExternalStorage: false))
        }
        add(.key)
        if parents.contains(relationship.destination) { add(.entity) }
        if let inverse = relationship.inverse,
          isOrderedToMany(inverse, of: relationship.destination, in: order, indexes: indexes)
        {
          add(.order)
        }
      case .toMany:
        break
      }
    }
    return RowLayout(
      entityName: order[index].name, entity: index, root: root, properties: numbered, cells: cells)
  }

  private static func isOrderedToMany(
    _ name: String, of entity: String, in order: IndexedArray<EntityIndex, StoreEntity>,
    indexes: [String: EntityIndex]
  ) -> Bool {
    var current = indexes[entity]
    while let index = current {
      if let found = order[index].relationships.first(where: { $0.name == name }) {
        return found.isToMany && found.isOrdered
      }
      current = order[index].parent.flatMap { indexes[$0] }
    }
    return false
  }
}

extension StoreAttribute {
  /// The attribute itself, or the leaves of a composite in declared order.
  public var leaves: [StoreAttribute] {
    type == .composite ? elements.flatMap(\.leaves) : [self]
  }
}

/// Whether `left` sorts before `right` by code points, the order that Core Data's hashes use.
public func codePointOrder(_ left: String, _ right: String) -> Bool {
  left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
}
