import CDEStore

/// The table of a many-to-many relationship.
struct JoinTable: Sendable {
  /// One relationship's view of the table.
  struct Side: Sendable {
    var table: String
    /// Column with the key of the object that owns the relationship.
    var owner: String
    /// Column with the key of the object at the other end.
    var member: String
    /// Column with the member's place in the owner's order.
    var order: String?
    /// The relationship is its own inverse: a pair counts in both directions.
    var isReflexive: Bool
  }

  var name: String
  /// The relationship that names the table, and its inverse.
  var naming: PhysicalSchema.PropertyKey
  var other: PhysicalSchema.PropertyKey
  /// Holds keys of the naming relationship's owners.
  var first: String
  var second: String
  /// The order of `first` objects within the inverse, and of `second` objects within the naming relationship.
  var firstOrder: String?
  var secondOrder: String?
  var isReflexive: Bool

  /// The name when the inverse names the table: files have been seen to do either between two relationships
  /// of one entity.
  var alternativeName: String

  static func all(of schema: ResolvedSchema, numbers: [Int64]) -> [JoinTable] {
    var result: [JoinTable] = []
    var names = NameAllocator()
    for entity in schema.entities {
      for property in entity.layout.properties
      where property.declaringEntity == entity.index && !property.isTransient {
        guard case .toMany(let relationship) = property.kind, relationship.inverse != nil else { continue }
        let end = schema.end(of: property.slot, in: entity.index)
        guard let inverse = end.inverse, inverse.isToMany, let inverseSlot = end.inverseSlot else { continue }
        let declaring = schema.entities[end.destination].layout.properties[inverseSlot].declaringEntity
        let isReflexive = declaring == entity.index && inverse.name == property.name
        // The side with the lower entity number names the table, between equals the first name.
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
        func order(_ column: String) -> String { "Z_FOK_" + column.dropFirst(2) }
        result.append(
          JoinTable(
            name: "Z_\(left)\(ownName)",
            naming: .init(entity: entity.index, property: property.name),
            other: .init(entity: declaring, property: inverse.name),
            first: first, second: second,
            firstOrder: inverse.isOrdered && !isReflexive ? order(first) : nil,
            secondOrder: relationship.isOrdered
              ? (isReflexive ? "Z_FOK_REFLEXIVE" : order(second)) : nil,
            isReflexive: isReflexive, alternativeName: "Z_\(right)\(inverseName)"))
      }
    }
    return result
  }

  var createStatement: String {
    let columns = [first, second, secondOrder, firstOrder].compactMap { $0 }.map { bare($0) + " INTEGER" }
    return "CREATE TABLE \(bare(name)) ( \(columns.joined(separator: ", ")), "
      + "PRIMARY KEY (\(bare(first)), \(bare(second))) )"
  }

  var indexName: String { "\(name)_\(second)_INDEX" }

  var indexStatement: String {
    "CREATE INDEX \(bare(indexName)) ON \(bare(name)) (\(bare(second)), \(bare(first)))"
  }
}
