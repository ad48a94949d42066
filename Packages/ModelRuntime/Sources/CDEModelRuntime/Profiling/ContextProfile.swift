@_spi(CDE) internal import CDEProfiling
internal import CDEStore

/// What counts the last fault of a context. Most faults have the kind of the one before.
struct LastFault {
  /// The context's activity keeps it until it is asked for another.
  private let count: Borrowed<EventCount>?
  private let record: Int

  init(_ count: EventCount? = nil, record: Int = 0) {
    self.count = count.map(Borrowed.init)
    self.record = record
  }

  /// Counts a fault that was fired alone, if it is of the last one's kind.
  ///
  /// - Returns: whether there is more to note of it; nil if it was not counted.
  @inline(__always)
  func add(_ key: ActivityKey) -> Bool? {
    guard let count, record == ProfileRecorder.current else { return nil }
    return count.with { $0.add(key) }
  }
}

/// What a profile keeps with one context. All calls are made on the context's isolation, while a record is on.
struct ContextProfile {
  /// What counts the last fault.
  private(set) var last = LastFault()
  private var known: ContextActivity?
  /// The beginning of the outermost block that runs.
  private var block: ContinuousClock.Instant?

  mutating func activity(_ recorder: ProfileRecorder, _ name: () -> String) -> ContextActivity {
    if let known, known.record == recorder.record { return known }
    let made = recorder.makeActivity(name())
    last = LastFault()
    known = made
    return made
  }

  // MARK: Faults

  /// Notes a fault that was fired alone.
  ///
  /// - Parameters:
  ///   - slot: the to-many relationship whose members were read; nil for the object's own row.
  ///   - isCounted: whether it was counted.
  ///   - isReached: whether a registered object of an entity refers to the fault's object by a to-one relationship.
  mutating func note(
    _ binding: EntityBinding, _ slot: SlotIndex?, isCounted: Bool, in activity: ContextActivity,
    isReached: (EntityBinding, PropertyInfo) -> Bool
  ) {
    let key = ActivityKey(binding, slot)
    let count = activity.count(of: key) { (binding.name, slot.map { binding.properties[$0].name }) }
    last = LastFault(count, record: activity.record)
    guard isCounted || count.add(), activity.noteAdded(count) else { return }
    activity.note(Self.remedy(binding, slot, activity.recentFetches, isReached), for: key)
  }

  /// The prefetch that would have read a run of faults with the fetch before.
  private static func remedy(
    _ binding: EntityBinding, _ slot: SlotIndex?, _ fetches: [RecentFetch],
    _ isReached: (EntityBinding, PropertyInfo) -> Bool
  ) -> FoundRemedy {
    let ending = slot.map { [binding.properties[$0].name] } ?? []
    for fetch in fetches {
      guard let origin = binding.model.entity(named: fetch.entity) else { continue }
      let isSame = binding.model.schema.entities[origin.index].subtree.contains(binding.index)
      if isSame, slot != nil { return FoundRemedy(fetch, keyPaths: ending) }
      var paths = origin.keyPaths(to: binding)
      if isSame || paths.count > 1 {
        // Several relationships lead there, or the objects may be the fetched ones: what refers to the object decides.
        let reaching = paths.filter { $0.count == 1 && !$0[0].isToMany && isReached(origin, $0[0]) }
        if isSame, reaching.isEmpty { return FoundRemedy(fetch, keyPaths: []) }
        if !reaching.isEmpty { paths = reaching }
      }
      if !paths.isEmpty {
        return FoundRemedy(
          fetch, keyPaths: paths.map { ($0.map(\.name) + ending).joined(separator: ".") }.sorted())
      }
    }
    return FoundRemedy(nil, keyPaths: [])
  }

  // MARK: Fetches

  /// Notes a fetch that ended.
  mutating func noteFetch(
    of binding: EntityBinding, from start: ContinuousClock.Instant, results: Int, areObjects: Bool,
    in activity: ContextActivity, condition: () -> String
  ) {
    let key = ActivityKey.fetches(of: binding)
    last = LastFault()
    _ = activity.note(key) { (binding.name, nil) }
    if areObjects, results > 1 { activity.noteFetch(of: binding.name, key: key) }
    activity.recorder.noteFetch(
      of: binding.name, from: start, results: results, in: activity, condition: condition)
  }

  // MARK: Blocks

  mutating func beginBlock() { block = .now }

  mutating func endBlock(in activity: ContextActivity) {
    guard let start = block else { return }
    block = nil
    activity.recorder.noteBlock(from: start, in: activity)
  }
}

extension ActivityKey {
  /// - Parameter slot: a to-many relationship; nil for the objects.
  @inline(__always)
  init(_ binding: EntityBinding, _ slot: SlotIndex?) {
    self = slot.map { .members(of: binding, slot: $0.rawValue) } ?? .objects(of: binding)
  }
}

extension EntityBinding {
  /// The shortest ways from this entity's relationships to another entity, of at most three steps.
  fileprivate func keyPaths(to target: EntityBinding) -> [[PropertyInfo]] {
    var ways: [(EntityBinding, [PropertyInfo])] = [(self, [])]
    var visited: Set<EntityIndex> = [index]
    for _ in 0..<3 {
      var next: [(EntityBinding, [PropertyInfo])] = []
      var found: [[PropertyInfo]] = []
      for (binding, path) in ways {
        for info in binding.properties where info.isRelationship {
          if info.destinations.contains(target.index) { found.append(path + [info]) }
          if visited.insert(info.destination).inserted {
            next.append((model.entities[info.destination], path + [info]))
          }
        }
      }
      if !found.isEmpty { return found }
      ways = next
    }
    return []
  }
}
