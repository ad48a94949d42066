#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  extension TransactionWriter {
    /// The links of one relationship, of one kind.
    private struct LinkGroup: Hashable {
      var entity: EntityIndex
      var slot: SlotIndex
    }

    /// A pair with permanent keys.
    private struct Pair: Hashable {
      var owner: Int64
      var member: Int64
    }

    /// Removes pairs. This is done before pairs are added, so that a pair that moves between owners never exists twice.
    func removeLinks() throws(StoreError) {
      let task = "Removing pairs of a relationship"
      for (group, links) in try groups(.remove) {
        let pairs = Array(Set(links.map { pair($0) })).sorted {
          ($0.owner, $0.member) < ($1.owner, $1.member)
        }
        switch try physical.toMany(group.slot, of: group.entity) {
        case .join(let side):
          let all = side.isReflexive ? pairs + pairs.map { Pair(owner: $0.member, member: $0.owner) } : pairs
          try run(
            all,
            "DELETE FROM \(quoted(side.table)) AS t USING unnest($1::int8[], $2::int8[]) AS v(o, m) "
              + "WHERE t.\(quoted(side.owner)) = v.o AND t.\(quoted(side.member)) = v.m", task)
        case .implied(let key, let order):
          let clearing = order.map { ", \(quoted($0)) = NULL" } ?? ""
          try run(
            pairs,
            "UPDATE \(memberTable(group)) AS t SET \(quoted(key)) = NULL\(clearing) "
              + "FROM unnest($1::int8[], $2::int8[]) AS v(o, m) WHERE t.\"Z_PK\" = v.m AND t.\(quoted(key)) = v.o",
            task)
        case .inverse: throw StoreError.notALink(group.slot, of: group.entity, schema)
        }
      }
    }

    func addLinks() throws(StoreError) {
      links = try RankedLinks.settled(
        transaction.links,
        keys: { (link) throws(StoreError) in
          try plans.checkEntity(link.entity)
          let pair = pair(link)
          return RankedLinks.Pair(owner: pair.owner, member: pair.member)
        }, read: places)
      for (group, links) in try groups(.add) {
        switch try physical.toMany(group.slot, of: group.entity) {
        case .join(let side): try add(links, group, side)
        case .implied(let key, let order): try add(links, group, key: key, order: order)
        case .inverse: throw StoreError.notALink(group.slot, of: group.entity, schema)
        }
      }
    }

    /// The stored positions of the members of owners.
    private func places(
      _ relationship: RankedLinks.Relationship, _ owners: [Int64]
    ) throws(StoreError) -> [RankedLinks.Pair: Int64] {
      let group = LinkGroup(entity: relationship.entity, slot: relationship.slot)
      let (table, owner, member, order): (String, String, String, String)
      switch try physical.toMany(group.slot, of: group.entity) {
      case .join(let side):
        guard let place = side.order else { return [:] }
        (table, owner, member, order) = (
          quoted(side.table), quoted(side.owner), quoted(side.member), quoted(place)
        )
      case .implied(let key, let place):
        guard let place else { return [:] }
        (table, owner, member, order) = (memberTable(group), quoted(key), "\"Z_PK\"", quoted(place))
      case .inverse: throw StoreError.notALink(group.slot, of: group.entity, schema)
      }
      var places: [RankedLinks.Pair: Int64] = [:]
      for block in Blocks(owners, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block)
        let rows = try connection.run(
          "SELECT \(owner), \(member), \(order) FROM \(table) WHERE \(owner) = ANY($1) AND \(order) IS NOT NULL",
          parameters, while: "Reading the order of a relationship")
        for row in 0..<rows.count {
          let pair = RankedLinks.Pair(owner: rows.integer(row, 0), member: rows.integer(row, 1))
          places[pair] = rows.integer(row, 2)
        }
      }
      return places
    }

    /// Adds pairs to a join table. An existing pair moves if it has a position, and stays where it is if it is appended.
    private func add(_ links: [LinkChange], _ group: LinkGroup, _ side: JoinTable.Side) throws(StoreError) {
      let table = quoted(side.table)
      let (owner, member) = (quoted(side.owner), quoted(side.member))
      var plain: [Pair] = []
      var placed: [(pair: Pair, place: Int64)] = []
      var appended: [(pair: Pair, place: Int64)] = []
      if let order = side.order {
        try readLastPlaces(
          links, group,
          "SELECT \(owner), max(\(quoted(order))) FROM \(table) WHERE \(owner) = ANY($1) GROUP BY \(owner)")
      }
      for link in links {
        let pair = pair(link)
        if side.order != nil, link.isAppended {
          appended.append((pair, try nextPlace(link, pair.owner)))
        } else if side.order != nil, let place = link.order {
          placed.append((pair, place))
        } else {
          plain.append(pair)
        }
        // Readers may use either direction of a symmetric pair, so the table contains both.
        if side.isReflexive, pair.owner != pair.member {
          plain.append(Pair(owner: pair.member, member: pair.owner))
        }
      }
      let task = "Adding pairs to a relationship"
      if let order = side.order.map(quoted) {
        let head =
          "INSERT INTO \(table) AS t (\(owner), \(member), \(order)) SELECT o, m, p "
          + "FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS v(o, m, p) ON CONFLICT (\(owner), \(member)) "
        // A statement may write a row only once. Of several positions the last one counts.
        let last = Dictionary(placed.map { ($0.pair, $0.place) }, uniquingKeysWith: { $1 })
        try run(sorted(last), head + "DO UPDATE SET \(order) = excluded.\(order)", task)
        // Of several appends of one pair the first one counts. The other side may have an order as well, and have written the pair
        // before.
        let first = Dictionary(appended.map { ($0.pair, $0.place) }, uniquingKeysWith: { one, _ in one })
        try run(
          sorted(first), head + "DO UPDATE SET \(order) = excluded.\(order) WHERE t.\(order) IS NULL", task)
      }
      try run(
        plain,
        "INSERT INTO \(table) (\(owner), \(member)) SELECT o, m FROM unnest($1::int8[], $2::int8[]) AS v(o, m) "
          + "ON CONFLICT DO NOTHING", task)
    }

    /// Writes the owner into the members' rows. Of several owners of one member the last one counts.
    private func add(
      _ links: [LinkChange], _ group: LinkGroup, key: String, order: String?
    ) throws(StoreError) {
      let table = memberTable(group)
      let task = "Adding pairs to a relationship"
      guard let order else {
        let last = Dictionary(links.map { (pair($0).member, pair($0)) }, uniquingKeysWith: { $1 })
        return try run(
          last.values.sorted { $0.member < $1.member },
          "UPDATE \(table) AS t SET \(quoted(key)) = v.o FROM unnest($1::int8[], $2::int8[]) AS v(o, m) "
            + "WHERE t.\"Z_PK\" = v.m", task)
      }
      try readLastPlaces(
        links, group,
        "SELECT \(quoted(key)), max(\(quoted(order))) FROM \(table) WHERE \(quoted(key)) = ANY($1) GROUP BY \(quoted(key))"
      )
      var placed: [Int64: (pair: Pair, place: Int64?)] = [:]
      var appended: [Int64: (pair: Pair, place: Int64?)] = [:]
      for link in links {
        let pair = pair(link)
        placed[pair.member] = nil
        appended[pair.member] = nil
        if link.isAppended {
          appended[pair.member] = (pair, try nextPlace(link, pair.owner))
        } else {
          placed[pair.member] = (pair, link.order)
        }
      }
      func update(_ place: String) -> String {
        "UPDATE \(table) AS t SET \(quoted(key)) = v.o, \(quoted(order)) = \(place) "
          + "FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS v(o, m, p) WHERE t.\"Z_PK\" = v.m"
      }
      try run(placed.values.sorted { $0.pair.member < $1.pair.member }, update("v.p"), task)
      // The right side is the row before the change: a member of the same owner keeps its position.
      try run(
        appended.values.sorted { $0.pair.member < $1.pair.member },
        update("CASE WHEN t.\(quoted(key)) = v.o THEN t.\(quoted(order)) ELSE v.p END"), task)
    }

    // MARK: Positions

    /// Reads the ends of the orders to which links are appended. New owners have no members.
    private func readLastPlaces(_ links: [LinkChange], _ group: LinkGroup, _ sql: String) throws(StoreError) {
      let owners = Set(links.filter { $0.isAppended && $0.owner > 0 }.map(\.owner))
      for block in Blocks(owners.sorted(), size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block)
        let rows = try connection.run(sql, parameters, while: "Reading the ends of ordered relationships")
        for row in 0..<rows.count where !rows.isNull(row, 1) {
          orderEnds.note(
            rows.integer(row, 1), entity: group.entity, slot: group.slot, owner: rows.integer(row, 0))
        }
      }
    }

    /// The position of an appended member. The ends of the stored orders were read before.
    private func nextPlace(_ link: LinkChange, _ owner: Int64) throws(StoreError) -> Int64 {
      try orderEnds.next(link, owner: owner) { () throws(StoreError) in nil }
    }

    // MARK: Parts

    private func groups(_ kind: LinkChange.Kind) throws(StoreError) -> [(LinkGroup, [LinkChange])] {
      var order: [LinkGroup] = []
      var groups: [LinkGroup: [LinkChange]] = [:]
      for link in links where link.kind == kind {
        try plans.checkEntity(link.entity)
        let group = LinkGroup(entity: link.entity, slot: link.slot)
        // An error for a slot of no stored to-many relationship.
        if groups[group] == nil {
          _ = try physical.toMany(link.slot, of: link.entity)
          order.append(group)
        }
        groups[group, default: []].append(link)
      }
      return order.map { ($0, groups[$0]!) }
    }

    private func pair(_ link: LinkChange) -> Pair {
      let destination = schema.end(of: link.slot, in: link.entity).destination
      return Pair(
        owner: permanent(link.owner, root: schema.entities[link.entity].root),
        member: permanent(link.member, root: schema.entities[destination].root))
    }

    private func sorted(_ places: [Pair: Int64]) -> [(pair: Pair, place: Int64)] {
      places.map { (pair: $0.key, place: $0.value) }
        .sorted { ($0.pair.owner, $0.pair.member) < ($1.pair.owner, $1.pair.member) }
    }

    private func memberTable(_ group: LinkGroup) -> String {
      writes[schema.end(of: group.slot, in: group.entity).destination].table
    }

    private func run(_ pairs: [Pair], _ sql: String, _ task: String) throws(StoreError) {
      for block in Blocks(pairs, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block.map(\.owner))
        parameters.append(block.map(\.member))
        try connection.enqueue(sql, parameters, while: task)
      }
    }

    private func run(
      _ pairs: [(pair: Pair, place: Int64?)], _ sql: String, _ task: String
    ) throws(StoreError) {
      for block in Blocks(pairs, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block.map(\.pair.owner))
        parameters.append(block.map(\.pair.member))
        parameters.beginArray(.integer)
        for (_, place) in block {
          if let place { parameters.appendElement(place) } else { parameters.appendNullElement() }
        }
        parameters.endArray()
        try connection.enqueue(sql, parameters, while: task)
      }
    }

    private func run(
      _ pairs: [(pair: Pair, place: Int64)], _ sql: String, _ task: String
    ) throws(StoreError) {
      try run(pairs.map { (pair: $0.pair, place: Optional($0.place)) }, sql, task)
    }
  }
#endif
