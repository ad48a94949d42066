import CDEStore

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

    // Made once, because quoting names for each of a save's pairs took as long as inserting them.
    /// Parameters: owner and member.
    let insertStatement: String
    /// Parameters: owner, member and position. Moves an existing pair. Nil without an order.
    let orderedInsertStatement: String?
    /// Parameters: owner, member and position. Does not change an existing pair. Nil without an order.
    let appendStatement: String?
    /// Parameter: the owner. Returns the last position in its order. Nil without an order.
    let lastPlaceStatement: String?
    /// Parameters: owner and member.
    let deleteStatement: String

    init(table: String, owner: String, member: String, order: String?, isReflexive: Bool) {
      self.table = table
      self.owner = owner
      self.member = member
      self.order = order
      self.isReflexive = isReflexive
      let head = "INSERT INTO \(quoted(table)) (\(quoted(owner)), \(quoted(member))"
      insertStatement = "\(head)) VALUES (?, ?) ON CONFLICT DO NOTHING"
      appendStatement = order.map {
        "\(head), \(quoted($0))) VALUES (?, ?, ?) ON CONFLICT (\(quoted(owner)), \(quoted(member))) DO NOTHING"
      }
      lastPlaceStatement = order.map {
        "SELECT max(\(quoted($0))) FROM \(quoted(table)) WHERE \(quoted(owner)) = ?"
      }
      orderedInsertStatement = order.map {
        "\(head), \(quoted($0))) VALUES (?, ?, ?) ON CONFLICT (\(quoted(owner)), \(quoted(member))) "
          + "DO UPDATE SET \(quoted($0)) = excluded.\(quoted($0))"
      }
      deleteStatement = "DELETE FROM \(quoted(table)) WHERE \(quoted(owner)) = ? AND \(quoted(member)) = ?"
    }
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

  /// The name if the inverse names the table. Between two relationships of one entity both names occur in
  /// files.
  var alternativeName: String

  static func all(
    of schema: ResolvedSchema, held: Set<EntityIndex>, numbers: IndexedArray<EntityIndex, Int64>
  ) -> [JoinTable] {
    var result: [JoinTable] = []
    var names = NameAllocator()
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

  /// Takes the columns of a file's table whose names have another suffix than expected.
  ///
  /// Suffixes count the clashes of one entity's names over all its join tables. After a migration Core Data may have
  /// counted in another order.
  mutating func adoptColumns(_ columns: some Collection<String>, _ numbers: IndexedArray<EntityIndex, Int64>)
  {
    func found(_ expected: String, _ base: String) -> String {
      if columns.contains(expected) { return expected }
      let fitting = columns.filter { $0.hasPrefix(base) && $0.dropFirst(base.count).allSatisfy(\.isNumber) }
      return fitting.count == 1 ? fitting.first! : expected
    }
    if isReflexive { return }
    let (left, right) = (numbers[naming.entity], numbers[other.entity])
    let (own, inverse) = (naming.property.uppercased(), other.property.uppercased())
    first = found(first, "Z_\(left)\(inverse)")
    second = found(second, "Z_\(right)\(own)")
    firstOrder = firstOrder.map { found($0, "Z_FOK_\(left)\(inverse)") }
    secondOrder = secondOrder.map { found($0, "Z_FOK_\(right)\(own)") }
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
