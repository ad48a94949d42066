#if PostgreSQL
  internal import CDEStore

  /// The table of a many-to-many relationship.
  struct JoinTable: Sendable {
    /// The table from the side of one relationship.
    struct Side: Sendable {
      let table: String
      /// Column with the key of the object that owns the relationship.
      let owner: String
      /// Column with the key of the object at the other end.
      let member: String
      /// Column with the member's position in the owner's order.
      let order: String?
      /// Whether the relationship is its own inverse. A pair then counts in both directions.
      let isReflexive: Bool
    }

    var name: String
    /// The relationship that names the table, and its inverse.
    var naming: PhysicalSchema.PropertyKey
    var other: PhysicalSchema.PropertyKey
    /// The column with keys of the naming relationship's owners.
    var first: String
    var second: String
    /// The columns with the order of `first` objects within the inverse, and of `second` objects within the
    /// naming relationship.
    var firstOrder: String?
    var secondOrder: String?
    var isReflexive: Bool

    static func all(
      of schema: ResolvedSchema, numbers: IndexedArray<EntityIndex, Int64>
    ) -> [JoinTable] {
      var result: [JoinTable] = []
      var names = NameAllocator()
      for entity in schema.entities {
        for property in entity.layout.properties
        where property.declaringEntity == entity.index && !property.isTransient {
          guard case .toMany(let relationship) = property.kind, relationship.inverse != nil else { continue }
          let end = schema.end(of: property.slot, in: entity.index)
          guard let inverse = end.inverse, inverse.isToMany, let inverseSlot = end.inverseSlot else {
            continue
          }
          let declaring = schema.entities[end.destination].layout.properties[inverseSlot].declaringEntity
          let isReflexive = declaring == entity.index && inverse.name == property.name
          // The relationship of the entity with the lower number names the table. If the numbers are equal, the
          // first name does.
          let left = numbers[entity.index]
          let right = numbers[declaring]
          guard
            isReflexive || left < right
              || (left == right && codePointOrder(property.name, inverse.name))
          else { continue }
          let ownName = property.name.uppercased()
          let inverseName = inverse.name.uppercased()
          let first = names.allocate("Z_\(left)\(inverseName)")
          let second = isReflexive ? "REFLEXIVE" : names.allocate("Z_\(right)\(ownName)")
          func order(_ column: String) -> String { ShortName.fit("Z_FOK_" + column.dropFirst(2)) }
          result.append(
            JoinTable(
              name: ShortName.fit("Z_\(left)\(ownName)"),
              naming: .init(entity: entity.index, property: property.name),
              other: .init(entity: declaring, property: inverse.name),
              first: first, second: second,
              firstOrder: inverse.isOrdered && !isReflexive ? order(first) : nil,
              secondOrder: relationship.isOrdered
                ? (isReflexive ? "Z_FOK_REFLEXIVE" : order(second)) : nil,
              isReflexive: isReflexive))
        }
      }
      return result
    }
  }
#endif
