import CDEStore

/// The table of a many-to-many relationship.
@_spi(CDE) public struct JoinTable: Sendable {
  /// The table from the side of one relationship.
  public struct Side: Sendable {
    /// The name of the table.
    public let table: String
    /// Column with the key of the object that owns the relationship.
    public let owner: String
    /// Column with the key of the object at the other end.
    public let member: String
    /// Column with the member's position in the owner's order.
    public let order: String?
    /// Whether the relationship is its own inverse. A pair then counts in both directions.
    public let isReflexive: Bool

    /// A number below twice the count of join tables. Engines keep statements made once for each side in an array.
    public let number: Int
  }

  /// The name of the table, unquoted.
  public var name: String
  /// The relationship that names the table.
  public var naming: PhysicalSchema.PropertyKey
  /// Its inverse.
  public var other: PhysicalSchema.PropertyKey
  /// The column with keys of the naming relationship's owners.
  public var first: String
  /// The column with keys of the inverse's owners.
  public var second: String
  /// The column with the order of `first` objects within the inverse.
  public var firstOrder: String?
  /// The column with the order of `second` objects within the naming relationship.
  public var secondOrder: String?
  /// Whether the relationship is its own inverse.
  public var isReflexive: Bool

  /// The name if the inverse names the table. Between two relationships of one entity both names occur in
  /// files.
  public var alternativeName: String
  /// The longest name in bytes that the database accepts; nil without a limit.
  public let nameLimit: Int?

  static func all(
    of schema: ResolvedSchema, held: Set<EntityIndex>, numbers: IndexedArray<EntityIndex, Int64>,
    nameLimit: Int?
  ) -> [JoinTable] {
    var result: [JoinTable] = []
    var names = NameAllocator(limit: nameLimit)
    for entity in schema.entities where held.contains(entity.index) {
      for property in entity.layout.properties
      where property.declaringEntity == entity.index && !property.isTransient {
        guard case .toMany(let relationship) = property.kind, relationship.inverse != nil else { continue }
        let end = schema.end(of: property.slot, in: entity.index)
        guard let inverse = end.inverse, inverse.isToMany, let inverseSlot = end.inverseSlot else { continue }
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
        func order(_ column: String) -> String {
          shortened("Z_FOK_" + column.dropFirst(2), to: nameLimit)
        }
        result.append(
          JoinTable(
            name: shortened("Z_\(left)\(ownName)", to: nameLimit),
            naming: .init(entity: entity.index, property: property.name),
            other: .init(entity: declaring, property: inverse.name),
            first: first, second: second,
            firstOrder: inverse.isOrdered && !isReflexive ? order(first) : nil,
            secondOrder: relationship.isOrdered
              ? (isReflexive ? "Z_FOK_REFLEXIVE" : order(second)) : nil,
            isReflexive: isReflexive, alternativeName: shortened("Z_\(right)\(inverseName)", to: nameLimit),
            nameLimit: nameLimit))
      }
    }
    return result
  }

  /// The name of the index over the pairs from the other side.
  public var indexName: String { shortened("\(name)_\(second)_INDEX", to: nameLimit) }
}
