public import CDEStore

/// The last positions in ordered relationships to which a transaction appends members.
@_spi(CDE) public struct OrderEnds {
  /// One owner's order in a relationship that is stored by links.
  private struct Key: Hashable {
    var entity: EntityIndex
    var slot: SlotIndex
    var owner: Int64
  }

  private var ends: [Key: Int64] = [:]

  /// No end is known.
  public init() {}

  /// Notes the last stored position of an owner.
  public mutating func note(_ place: Int64, entity: EntityIndex, slot: SlotIndex, owner: Int64) {
    ends[Key(entity: entity, slot: slot, owner: owner)] = place
  }

  /// The position after all members of an owner: 1024 above the last one, the spacing of Core Data.
  ///
  /// - Parameters:
  ///   - link: the member to append.
  ///   - owner: the owner's permanent key.
  ///   - stored: reads the last stored position; called for the first member of an owner whose end was not noted.
  public mutating func next(
    _ link: LinkChange, owner: Int64, stored: () throws(StoreError) -> Int64?
  ) throws(StoreError) -> Int64 {
    let key = Key(entity: link.entity, slot: link.slot, owner: owner)
    var last = ends[key]
    if last == nil { last = try stored() }
    let (place, overflows) = (last ?? 1024).addingReportingOverflow(1024)
    ends[key] = overflows ? .max : place
    return overflows ? .max : place
  }
}
