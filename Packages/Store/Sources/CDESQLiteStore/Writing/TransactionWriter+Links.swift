@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

extension TransactionWriter {
  /// Removes pairs. This is done before pairs are added, so that a pair that moves between owners never
  /// exists twice.
  func removeLinks() throws(StoreError) {
    for link in transaction.links where link.kind == .remove { try remove(link) }
  }

  func addLinks() throws(StoreError) {
    links = try RankedLinks.settled(
      transaction.links,
      keys: { (link) throws(StoreError) in
        let (owner, member) = try ends(of: link)
        return RankedLinks.Pair(owner: owner, member: member)
      }, read: places)
    for link in links where link.kind == .add { try add(link) }
  }

  /// The stored positions of the members of owners.
  private func places(
    _ relationship: RankedLinks.Relationship, _ owners: [Int64]
  ) throws(StoreError) -> [RankedLinks.Pair: Int64] {
    let sql: String
    switch try plans.physical.toMany(relationship.slot, of: relationship.entity) {
    case .join(let side):
      guard let statement = plans.pairs[side.number]!.places else { return [:] }
      sql = statement
    case .implied(let key, let order):
      guard let order else { return [:] }
      let destination = plans.schema.end(of: relationship.slot, in: relationship.entity).destination
      sql =
        "SELECT Z_PK, \(quoted(order)) FROM \(quoted(plans.physical.tableName(of: destination))) "
        + "WHERE \(quoted(key)) = ?"
    case .inverse: throw StoreError.notALink(relationship.slot, of: relationship.entity, plans.schema)
    }
    var places: [RankedLinks.Pair: Int64] = [:]
    for owner in owners {
      try connection.forEachRow(
        sql, [.integer(owner)], while: "Reading the order of a relationship"
      ) { statement in
        guard sqlite3_column_type(statement, 1) == SQLITE_INTEGER else { return }
        places[RankedLinks.Pair(owner: owner, member: sqlite3_column_int64(statement, 0))] =
          sqlite3_column_int64(statement, 1)
      }
    }
    return places
  }

  private func ends(of link: LinkChange) throws(StoreError) -> (owner: Int64, member: Int64) {
    try plans.checkEntity(link.entity)
    let schema = plans.schema
    let destination = schema.end(of: link.slot, in: link.entity).destination
    return (
      permanent(link.owner, root: schema.entities[link.entity].root),
      permanent(link.member, root: schema.entities[destination].root)
    )
  }

  private func remove(_ link: LinkChange) throws(StoreError) {
    let source = try plans.physical.toMany(link.slot, of: link.entity)
    let (owner, member) = try ends(of: link)
    let task = "Removing a pair of a relationship"
    switch source {
    case .join(let side):
      let sql = plans.pairs[side.number]!.delete
      try connection.run(sql, [.integer(owner), .integer(member)], while: task)
      if side.isReflexive { try connection.run(sql, [.integer(member), .integer(owner)], while: task) }
    case .implied(let key, let order):
      let clearing = order.map { ", \(quoted($0)) = NULL" } ?? ""
      try connection.run(
        "UPDATE \(quoted(memberTable(of: link))) SET \(quoted(key)) = NULL\(clearing) "
          + "WHERE Z_PK = ? AND \(quoted(key)) = ?", [.integer(member), .integer(owner)], while: task)
    case .inverse: throw StoreError.notALink(link.slot, of: link.entity, plans.schema)
    }
  }

  private func add(_ link: LinkChange) throws(StoreError) {
    let source = try plans.physical.toMany(link.slot, of: link.entity)
    let (owner, member) = try ends(of: link)
    let task = "Adding a pair to a relationship"
    switch source {
    case .join(let side):
      if link.isAppended, let append = plans.pairs[side.number]!.append,
        let last = plans.pairs[side.number]!.lastPlace
      {
        let place = try nextPlace(link, owner, last)
        try connection.run(
          append, [.integer(owner), .integer(member), .integer(place)], while: task)
      } else {
        try addPair(side, owner, member, link.order)
      }
      // Readers may use either direction of a symmetric pair, so the table contains both.
      if side.isReflexive, owner != member { try addPair(side, member, owner, nil) }
    case .implied(let key, let order):
      var values: [StoreValue] = [.integer(owner)]
      var settings = "\(quoted(key)) = ?"
      if let order, link.isAppended {
        let place = try nextPlace(
          link, owner,
          "SELECT max(\(quoted(order))) FROM \(quoted(memberTable(of: link))) WHERE \(quoted(key)) = ?")
        // SQL expressions use the row before the change.
        settings += ", \(quoted(order)) = CASE WHEN \(quoted(key)) = ? THEN \(quoted(order)) ELSE ? END"
        values += [.integer(owner), .integer(place)]
      } else if let order {
        settings += ", \(quoted(order)) = ?"
        values.append(link.order.map { .integer($0) } ?? .null)
      }
      try connection.run(
        "UPDATE \(quoted(memberTable(of: link))) SET \(settings) WHERE Z_PK = ?",
        values + [.integer(member)], while: task)
    case .inverse: throw StoreError.notALink(link.slot, of: link.entity, plans.schema)
    }
  }

  /// The position of an appended member. The store is read once for each owner.
  private func nextPlace(_ link: LinkChange, _ owner: Int64, _ lastPlace: String) throws(StoreError) -> Int64
  {
    try orderEnds.next(link, owner: owner) { () throws(StoreError) in
      // A new owner has no members.
      guard link.owner > 0 else { return nil }
      return try connection.integer(
        lastPlace, [.integer(owner)], while: "Reading the end of an ordered relationship")
    }
  }

  private func addPair(
    _ side: JoinTable.Side, _ owner: Int64, _ member: Int64, _ order: Int64?
  ) throws(StoreError) {
    let task = "Adding a pair to a relationship"
    let pair: [StoreValue] = [.integer(owner), .integer(member)]
    let statements = plans.pairs[side.number]!
    if let statement = statements.orderedInsert, let order {
      try connection.run(statement, pair + [.integer(order)], while: task)
    } else {
      try connection.run(statements.insert, pair, while: task)
    }
  }

  private func memberTable(of link: LinkChange) -> String {
    plans.physical.tableName(of: plans.schema.end(of: link.slot, in: link.entity).destination)
  }
}
