internal import CDEStore

/// The pairs of relationships that no row stores, as snapshots list them.
struct MirrorLinks {
  /// A relationship, named from the side that writes.
  private struct Relation: Hashable {
    let entity: EntityIndex
    let slot: SlotIndex
  }

  private struct Pair: Hashable {
    let owner: RowPlace
    let member: RowPlace
  }

  /// A side of a relationship whose members a snapshot lists.
  private struct Listing {
    let relation: Relation
    let place: RowPlace
    let entity: EntityIndex
    let slot: SlotIndex
    /// Whether the listing model is the member of the side that writes.
    let isReversed: Bool
  }

  private var listings: [Listing] = []
  private var listed: [Relation: Set<Pair>] = [:]
  private(set) var changes: [LinkChange] = []
  private var touched: [(EntityIndex, RowPlace, SlotIndex)] = []

  /// Takes the members of a model's relationship.
  mutating func list(
    _ owner: MirrorLoading.Reference, _ property: RowLayout.Property, _ members: [MirrorLoading.Reference],
    in schema: ResolvedSchema
  ) {
    let (relation, isReversed) = Self.relation(of: property, in: owner.entity, schema)
    listings.append(
      Listing(
        relation: relation, place: owner.place, entity: owner.entity, slot: property.slot,
        isReversed: isReversed))
    for member in members {
      let pair =
        isReversed
        ? Pair(owner: member.place, member: owner.place) : Pair(owner: owner.place, member: member.place)
      listed[relation, default: []].insert(pair)
    }
  }

  /// Both sides of a relationship name the same pairs. The one whose entity and name come first writes, as in a save.
  private static func relation(
    of property: RowLayout.Property, in entity: EntityIndex, _ schema: ResolvedSchema
  ) -> (Relation, isReversed: Bool) {
    let own = schema.entities[property.declaringEntity].layout
    let mine = Relation(
      entity: property.declaringEntity, slot: own.slot(named: property.name) ?? property.slot)
    let end = schema.end(of: property.slot, in: entity)
    guard let inverseSlot = end.inverseSlot else { return (mine, false) }
    let inverse = schema.entities[end.destination].layout.properties[inverseSlot]
    if (property.declaringEntity, property.name) <= (inverse.declaringEntity, inverse.name) {
      return (mine, false)
    }
    let theirs = schema.entities[inverse.declaringEntity].layout
    return (
      Relation(entity: inverse.declaringEntity, slot: theirs.slot(named: inverse.name) ?? inverseSlot), true
    )
  }

  /// Finds the pairs that the mirror lacks, and those that no snapshot lists any more.
  mutating func compare(_ store: CustomStore) throws {
    var present: [Relation: Set<Pair>] = [:]
    for listing in listings {
      let found = try store.mirror.related(
        entity: listing.entity, slot: listing.slot, owners: [listing.place.key]
      ) { _, _ in true }
      for entry in found.entries {
        let other = RowPlace(root: store.schema.entities[entry.entity.index].root, key: entry.key)
        let pair =
          listing.isReversed
          ? Pair(owner: other, member: listing.place) : Pair(owner: listing.place, member: other)
        present[listing.relation, default: []].insert(pair)
      }
    }
    for relation in Set(listed.keys).union(present.keys) {
      let (wanted, found) = (listed[relation] ?? [], present[relation] ?? [])
      for pair in wanted.subtracting(found) { change(.add, relation, pair, store.schema) }
      for pair in found.subtracting(wanted) { change(.remove, relation, pair, store.schema) }
    }
  }

  private mutating func change(
    _ kind: LinkChange.Kind, _ relation: Relation, _ pair: Pair, _ schema: ResolvedSchema
  ) {
    changes.append(
      LinkChange(
        kind: kind, entity: relation.entity, slot: relation.slot, owner: pair.owner.key,
        member: pair.member.key))
    touched.append((relation.entity, pair.owner, relation.slot))
    let end = schema.end(of: relation.slot, in: relation.entity)
    if let inverse = end.inverseSlot { touched.append((end.destination, pair.member, inverse)) }
  }

  /// Adds the models whose members change to what contexts are told.
  func note(_ unloaded: Set<RowPlace>, _ changes: inout MirrorChanges, in schema: ResolvedSchema) {
    for (entity, place, slot) in touched where !unloaded.contains(place) {
      changes.add(.updated, entity, place, [slot])
    }
  }
}

/// What contexts are told of a change of the mirror, once for each row.
struct MirrorChanges {
  private var places: [RowPlace: Int] = [:]
  private(set) var list: [MirrorChange] = []

  mutating func add(
    _ kind: StoreHistoryChange.Kind, _ entity: EntityIndex, _ place: RowPlace, _ properties: PropertySet?
  ) {
    guard let index = places[place] else {
      places[place] = list.count
      list.append(MirrorChange(kind: kind, entity: entity, place: place, properties: properties))
      return
    }
    if list[index].kind == .updated, kind == .updated, list[index].entity == entity, let properties {
      list[index].properties = (list[index].properties ?? PropertySet()).union(properties)
    } else if list[index].kind == .updated, kind == .updated {
      // Slots of an entity and of one above it are other numbers.
      list[index].properties = nil
    }
  }
}
