import CDEStore

extension PhysicalSchema {
  /// A to-many relationship without an inverse. Its members' table has a column with the owner's key.
  struct ImpliedRelationship {
    var owner: EntityIndex
    var name: String
    var isOrdered: Bool
  }

  /// The relationships without an inverse of a schema's entities, by their destinations, in the order of the columns.
  static func impliedRelationships(
    of schema: ResolvedSchema, held: Set<EntityIndex>
  ) -> [EntityIndex: [ImpliedRelationship]] {
    var found: [EntityIndex: [ImpliedRelationship]] = [:]
    for owner in schema.entities.indices where held.contains(owner) {
      for property in schema.entities[owner].layout.properties where property.declaringEntity == owner {
        guard case .toMany(let relationship) = property.kind, relationship.inverse == nil,
          !property.isTransient
        else { continue }
        found[schema.end(of: property.slot, in: owner).destination, default: []].append(
          ImpliedRelationship(owner: owner, name: property.name, isOrdered: relationship.isOrdered))
      }
    }
    return found.mapValues { relationships in
      relationships.sorted { $0.name == $1.name ? $0.owner < $1.owner : codePointOrder($0.name, $1.name) }
    }
  }

  static func table(
    of root: ResolvedSchema.Entity, schema: ResolvedSchema, held: Set<EntityIndex>,
    numbers: IndexedArray<EntityIndex, Int64>, implied: [EntityIndex: [ImpliedRelationship]],
    nameLimit: Int?
  ) -> Table {
    var columns: [Column] = []
    var names = NameAllocator(taken: ["Z_PK", "Z_ENT", "Z_OPT"], limit: nameLimit)
    let entities = root.subtree.filter(held.contains)
    let attributes = entities.map { Self.attributes(of: $0, schema) }
    for columnClass in 0..<StoreAttributeType.columnClasses {
      for (entity, attributes) in zip(entities, attributes) {
        for attribute in attributes[columnClass] ?? [] {
          columns.append(
            Column(
              name: names.allocate("Z" + attribute.element.name.uppercased()),
              type: attribute.element.type, entity: entity, declaringEntity: entity,
              property: attribute.property, source: .property(leaf: attribute.leaf, role: .value)))
        }
        if columnClass == 0 {
          appendRelationships(
            of: entity, schema: schema, numbers: numbers, implied: implied[entity] ?? [], names: &names,
            to: &columns)
        }
      }
    }
    return Table(
      name: shortened("Z" + root.source.name.uppercased(), to: nameLimit), root: root.root, columns: columns)
  }

  /// A stored attribute, or an element of a composite one.
  private struct Leaf {
    var property: String
    var leaf: Int
    var element: StoreAttribute
  }

  private static func attributes(of entity: EntityIndex, _ schema: ResolvedSchema) -> [Int: [Leaf]] {
    var found: [Int: [Leaf]] = [:]
    let attributes = schema.entities[entity].source.attributes.filter { !$0.isTransient }
    for attribute in attributes.sorted(by: { codePointOrder($0.name, $1.name) }) {
      for (leaf, element) in attribute.leaves.enumerated() {
        found[element.type.columnClass, default: []].append(
          Leaf(property: attribute.name, leaf: leaf, element: element))
      }
    }
    return found
  }

  private static func appendRelationships(
    of entity: EntityIndex, schema: ResolvedSchema, numbers: IndexedArray<EntityIndex, Int64>,
    implied: [ImpliedRelationship], names: inout NameAllocator, to columns: inout [Column]
  ) {
    let layout = schema.entities[entity].layout
    // The layout's properties are already sorted by code point.
    let toOnes = layout.properties.filter {
      guard case .toOne = $0.kind else { return false }
      return $0.declaringEntity == entity && !$0.isTransient
    }
    func append(_ name: String, _ property: RowLayout.Property, _ role: RowLayout.Cell.Role) {
      columns.append(
        Column(
          name: names.allocate(name), type: nil, entity: entity, declaringEntity: entity,
          property: property.name, source: .property(leaf: 0, role: role)))
    }
    for property in toOnes {
      append("Z" + property.name.uppercased(), property, .key)
      if property.cells.contains(where: { layout.cells[$0].role == .entity }) {
        let destination = schema.end(of: property.slot, in: entity).destination
        append("Z\(numbers[destination])_" + property.name.uppercased(), property, .entity)
      }
    }

    func appendImplied(_ prefix: String, _ owner: EntityIndex, _ name: String, _ source: Column.Source) {
      columns.append(
        Column(
          name: names.allocate("\(prefix)\(numbers[owner])\(name.uppercased())"),
          type: nil, entity: entity, declaringEntity: owner, property: name, source: source))
    }
    for column in implied { appendImplied("Z", column.owner, column.name, .impliedKey) }

    for property in toOnes
    where property.cells.contains(where: { layout.cells[$0].role == .order }) {
      append("Z_FOK_" + property.name.uppercased(), property, .order)
    }
    for column in implied where column.isOrdered {
      appendImplied("Z_FOK_", column.owner, column.name, .impliedOrder)
    }
  }
}
