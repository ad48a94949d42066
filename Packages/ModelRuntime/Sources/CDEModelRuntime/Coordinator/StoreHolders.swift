@_spi(CDE) internal import CDEStore

/// Which stores of a coordinator hold which entities, and how their keys are told apart.
struct StoreHolders {
  /// The first store of each entity.
  private var firsts: IndexedArray<EntityIndex, StoreHandle?> = []
  /// All stores of the entities that several stores hold.
  private var several: [EntityIndex: [StoreHandle]] = [:]
  /// Removed stores, by their entities. Objects keep their IDs.
  private var removed: [EntityIndex: [StoreHandle]] = [:]
  /// The numbers of stores, by UUID. A store that is removed and added again has the same keys.
  private var ordinals: [String: Int64] = [:]
  private var nextOrdinal: Int64 = 1

  /// Whether stores share entities, or did so.
  private(set) var areShared = false

  func first(of entity: EntityIndex) -> StoreHandle? {
    firsts.indices.contains(entity) ? firsts[entity] : nil
  }

  /// The only store; nil for none or several.
  func sole(of entity: EntityIndex) -> StoreHandle? { several[entity] == nil ? first(of: entity) : nil }

  func all(of entity: EntityIndex) -> [StoreHandle] {
    several[entity] ?? first(of: entity).map { [$0] } ?? []
  }

  func holder(of entity: EntityIndex, key: Int64) -> StoreHandle? {
    guard areShared else { return first(of: entity) }
    if let list = several[entity] { return list.first { $0.holds(key) } }
    return first(of: entity).flatMap { $0.holds(key) ? $0 : nil }
  }

  func removed(of entity: EntityIndex, key: Int64) -> StoreHandle? {
    removed[entity]?.last { key <= 0 || $0.holds(key) }
  }

  // MARK: Adding

  /// The stores that hold some of the trees of entities.
  ///
  /// - Parameter roots: entities that inherit from no other. Keys are unique in their trees.
  func present(in roots: Set<EntityIndex>) -> [(root: EntityIndex, handle: StoreHandle)] {
    roots.sorted().flatMap { root in all(of: root).map { (root, $0) } }
  }

  /// The number of the range of keys of a store that is being added.
  ///
  /// - Returns: nil if there are no more numbers.
  mutating func ordinal(of identifier: String, in roots: Set<EntityIndex>) -> Int64? {
    let present = present(in: roots)
    let past = roots.flatMap { removed[$0] ?? [] }
    func isFree(_ ordinal: Int64) -> Bool {
      let offset = KeyShift(ordinal: ordinal).offset
      return present.allSatisfy { $0.handle.shift.offset != offset }
    }
    let ordinal: Int64
    if let known = ordinals[identifier], isFree(known) {
      ordinal = known
    } else if present.isEmpty, !areShared || past.isEmpty {
      ordinal = 0
    } else {
      guard nextOrdinal < KeyShift.limit else { return nil }
      ordinal = nextOrdinal
      nextOrdinal += 1
    }
    if !present.isEmpty || ordinal > 0 {
      for handle in present.map(\.handle) + past { handle.share() }
      areShared = true
    }
    ordinals[identifier] = ordinal
    return ordinal
  }

  mutating func add(_ handle: StoreHandle, _ entities: Set<EntityIndex>, count: Int) {
    if firsts.isEmpty { firsts = IndexedArray(repeating: nil, count: count) }
    for entity in entities {
      let held = all(of: entity)
      if held.isEmpty { firsts[entity] = handle } else { several[entity] = held + [handle] }
      removed[entity]?.removeAll { old in
        guard old.identifier == handle.identifier else { return false }
        if old !== handle { old.give(to: handle) }
        return true
      }
    }
  }

  /// Gives the stores of each entity the order of a list.
  mutating func sort(by list: [StoreHandle]) {
    for (entity, handles) in several {
      let sorted = list.filter { handle in handles.contains { $0 === handle } }
      several[entity] = sorted
      firsts[entity] = sorted.first
    }
  }

  mutating func remove(_ handle: StoreHandle) {
    for entity in firsts.indices {
      let held = all(of: entity)
      guard held.contains(where: { $0 === handle }) else { continue }
      let left = held.filter { $0 !== handle }
      firsts[entity] = left.first
      several[entity] = left.count > 1 ? left : nil
      removed[entity] = (areShared ? removed[entity] ?? [] : []) + [handle]
    }
  }
}
