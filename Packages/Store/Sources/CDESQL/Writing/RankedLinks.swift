@_spi(CDE) public import CDEStore

/// Links whose order says only where members stand among each other.
@_spi(CDE) public enum RankedLinks {
  /// A relationship to many that is stored by links.
  public struct Relationship: Hashable, Sendable {
    /// The entity of the owners.
    public var entity: EntityIndex
    /// The slot of the relationship.
    public var slot: SlotIndex
  }

  /// A pair with permanent keys.
  public struct Pair: Hashable, Sendable {
    /// The owner.
    public var owner: Int64
    /// The member.
    public var member: Int64

    /// Makes a pair from its keys.
    public init(owner: Int64, member: Int64) {
      self.owner = owner
      self.member = member
    }
  }

  /// The links to write in place of a transaction's: ranked ones get numbers, and those that keep their stored number are left out.
  ///
  /// - Parameters:
  ///   - links: the links of a transaction.
  ///   - keys: the permanent keys of a link.
  ///   - read: reads the stored positions of all members of some owners. It is called at most once for each relationship. A pair without a
  ///     position is left out.
  public static func settled(
    _ links: [LinkChange], keys: (LinkChange) throws(StoreError) -> Pair,
    read: (Relationship, [Int64]) throws(StoreError) -> [Pair: Int64]
  ) throws(StoreError) -> [LinkChange] {
    guard links.contains(where: \.isRanked) else { return links }
    var orders: [Relationship: [Int64: [Int]]] = [:]
    var pairs: [Int: Pair] = [:]
    for (index, link) in links.enumerated() where link.isRanked && link.kind == .add {
      let pair = try keys(link)
      pairs[index] = pair
      orders[Relationship(entity: link.entity, slot: link.slot), default: [:]][pair.owner, default: []]
        .append(index)
    }
    var links: [LinkChange?] = links
    for (relationship, orders) in orders {
      // New owners have no members.
      let owners = orders.filter { links[$0.value[0]]!.owner > 0 }.map(\.key).sorted()
      let stored = try owners.isEmpty ? [:] : read(relationship, owners)
      for order in orders.values {
        let sorted = order.sorted { (links[$0]!.order ?? 0, $0) < (links[$1]!.order ?? 0, $1) }
        let members = sorted.map { OrderNumbers.Member(number: stored[pairs[$0]!], key: pairs[$0]!.member) }
        for index in order { links[index]!.isRanked = false }
        // Nothing is stored, so the ranks are good numbers.
        if members.allSatisfy({ $0.number == nil }) { continue }
        var isWritten = Set<Int>()
        for change in OrderNumbers.changes(to: members) {
          links[sorted[change.index]]!.order = change.number
          isWritten.insert(sorted[change.index])
        }
        for index in order where !isWritten.contains(index) { links[index] = nil }
      }
    }
    return links.compactMap { $0 }
  }
}
