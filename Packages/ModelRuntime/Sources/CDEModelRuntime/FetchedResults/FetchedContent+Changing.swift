internal import CDEPredicates
internal import CDEStore
internal import Foundation

/// How the entries of a result are to change.
struct FetchedChanges {
  /// An entry that is new, or may have to move.
  struct Placement {
    var entry: FetchedEntry
    var keys: [StoreValue]
    var sectionName: String
  }

  /// Entries of the result that leave it.
  var removed: [FetchedEntry] = []
  /// New entries, and entries of the result whose keys or section names may differ.
  var placed: [Placement] = []
  /// Entries that changed and keep keys and section name.
  var touched: [FetchedEntry] = []

  var isEmpty: Bool { removed.isEmpty && placed.isEmpty && touched.isEmpty }
}

extension FetchedContent {
  /// Carries out changes.
  ///
  /// The other entries are fixed: they keep their order, and an entry moves only if it has to pass a fixed entry, or another
  /// entry that does not move. So the changes name as few moves as possible.
  ///
  /// - Precondition: the fixed entries have keys, in ascending order within each section.
  func apply(_ changes: FetchedChanges, _ rules: FetchRules) -> FetchedUpdate {
    var changing = Changing(content: self, rules: rules)
    changing.recordOldPlaces(changes)
    if changes.removed.isEmpty, changes.placed.isEmpty { return changing.unmoved(changes) }
    for entry in changing.leaving { remove(entry) }
    changing.findNewPlaces(changes)
    return changing.finish(changes)
  }
}

/// The work of one call of `apply`.
private struct Changing {
  let content: FetchedContent
  let rules: FetchRules
  private(set) var leaving: [FetchedEntry] = []
  private let oldSections: [FetchedSection]
  /// Old places, by entry.
  private var old: [ObjectIdentifier: IndexPath] = [:]
  /// The number of fixed entries before an entry in its old section.
  private var oldGap: [ObjectIdentifier: Int] = [:]
  private var update = FetchedUpdate()

  private struct Item {
    var entry: FetchedEntry
    var keys: [StoreValue]
    /// The number of fixed entries before it in its new section.
    var gap: Int
    /// The old row if it stays in its section.
    var oldRow: Int?
    /// Among new entries of equal keys, the first one named comes first.
    var number: Int
  }

  /// The items that come into one section, in order.
  private struct Group {
    var section: FetchedSection
    var items: [Item]
    /// The number of fixed sections before a section that has no fixed entries.
    var gap = 0
    var isMoved = false
  }
  private var groups: [Group] = []
  private var fixedSections: [FetchedSection] = []

  init(content: FetchedContent, rules: FetchRules) {
    self.content = content
    self.rules = rules
    oldSections = content.sections
  }

  mutating func recordOldPlaces(_ changes: FetchedChanges) {
    leaving = changes.removed + changes.placed.lazy.map(\.entry).filter { $0.chunk != nil }
    for entry in leaving + changes.touched { old[ObjectIdentifier(entry)] = content.path(of: entry) }
    var passed: [Int: Int] = [:]
    for entry in leaving.sorted(by: { old[ObjectIdentifier($0)]! < old[ObjectIdentifier($1)]! }) {
      let path = old[ObjectIdentifier(entry)]!
      oldGap[ObjectIdentifier(entry)] = path.row - passed[path.section, default: 0]
      passed[path.section, default: 0] += 1
    }
  }

  mutating func findNewPlaces(_ changes: FetchedChanges) {
    fixedSections = oldSections.filter { $0.count > 0 || !content.isSectioned }
    let fixed = Dictionary(fixedSections.map { ($0.name, $0) }) { first, _ in first }
    let emptied = Dictionary(oldSections.lazy.filter { $0.count == 0 }.map { ($0.name, $0) }) { one, _ in one
    }
    var places: [String: Int] = [:]
    for (number, placement) in changes.placed.enumerated() {
      let name = placement.sectionName
      let place = places[name] ?? groups.count
      if place == groups.count {
        places[name] = place
        let section = fixed[name] ?? emptied[name] ?? content.makeSection(name)
        groups.append(Group(section: section, items: []))
      }
      groups[place].items.append(item(placement, number, in: groups[place].section))
    }
    for index in groups.indices {
      groups[index].items.sort(by: precede)
      if groups[index].section.count == 0 {
        let keys = groups[index].items[0].keys
        groups[index].gap = fixedSections.count { $0.first.map { !rules.precede(keys, $0.keys!) } ?? true }
      }
    }
  }

  private func item(_ placement: FetchedChanges.Placement, _ number: Int, in section: FetchedSection) -> Item
  {
    let keys = placement.keys
    let low = section.count { rules.precede($0.keys!, keys) }
    let high = section.count { !rules.precede(keys, $0.keys!) }
    let path = old[ObjectIdentifier(placement.entry)]
    guard let path, oldSections[path.section] === section else {
      return Item(entry: placement.entry, keys: keys, gap: high, oldRow: nil, number: number)
    }
    // Among equal keys it stays where it was.
    let gap = min(max(oldGap[ObjectIdentifier(placement.entry)]!, low), high)
    return Item(entry: placement.entry, keys: keys, gap: gap, oldRow: path.row, number: number)
  }

  private func precede(_ left: Item, _ right: Item) -> Bool {
    if left.gap != right.gap { return left.gap < right.gap }
    if rules.precede(left.keys, right.keys) { return true }
    if rules.precede(right.keys, left.keys) { return false }
    return (left.oldRow ?? .max, left.number) < (right.oldRow ?? .max, right.number)
  }

  mutating func finish(_ changes: FetchedChanges) -> FetchedUpdate {
    arrangeSections()
    for group in groups {
      for (offset, item) in group.items.enumerated() {
        item.entry.keys = item.keys
        content.insert(item.entry, in: group.section, at: item.gap + offset)
      }
    }
    update.deletions = changes.removed.map { .init(object: $0.object, old: old[ObjectIdentifier($0)]) }
    for group in groups { report(group) }
    update.updates += changes.touched.map(inBothStates)
    update.deletions.sort { $0.old! > $1.old! }
    update.insertions.sort { $0.new! < $1.new! }
    update.moves.sort { $0.new! < $1.new! }
    update.updates.sort { $0.new! < $1.new! }
    return update
  }

  /// The update if nothing comes, leaves or moves.
  func unmoved(_ changes: FetchedChanges) -> FetchedUpdate {
    var update = FetchedUpdate()
    update.updates = changes.touched.map(inBothStates).sorted { $0.new! < $1.new! }
    return update
  }

  private func inBothStates(_ entry: FetchedEntry) -> FetchedUpdate.Object {
    .init(object: entry.object, old: old[ObjectIdentifier(entry)], new: content.path(of: entry))
  }

  private mutating func report(_ group: Group) {
    let staying = group.items.filter { item in
      item.oldRow != nil && item.gap == oldGap[ObjectIdentifier(item.entry)]
    }
    let kept =
      group.isMoved ? [] : longestAscendingPart(of: staying.map { $0.oldRow! })
    let stayingEntries = Set(
      staying.lazy.filter { kept.contains($0.oldRow!) }.map { ObjectIdentifier($0.entry) })
    for item in group.items {
      let change = inBothStates(item.entry)
      if change.old == nil {
        update.insertions.append(change)
      } else if stayingEntries.contains(ObjectIdentifier(item.entry)) {
        update.updates.append(change)
      } else {
        update.moves.append(change)
      }
    }
  }

  /// The groups of sections without fixed entries, in the order of the sections.
  private var looseGroups: [Int] {
    if !content.isSectioned { return [] }
    return groups.indices.filter { groups[$0].section.count == 0 }.sorted { left, right in
      let (one, other) = (groups[left], groups[right])
      return one.gap != other.gap
        ? one.gap < other.gap : rules.precede(one.items[0].keys, other.items[0].keys)
    }
  }

  /// Puts the sections without fixed entries between those with fixed entries, and drops empty ones.
  private mutating func arrangeSections() {
    let oldIndexes = Dictionary(
      uniqueKeysWithValues: oldSections.enumerated().map { (ObjectIdentifier($1), $0) })
    // The gap of a section that lost all its entries, in the old order of the fixed sections.
    var oldGaps: [ObjectIdentifier: Int] = [:]
    var passed = 0
    for section in oldSections {
      oldGaps[ObjectIdentifier(section)] = passed
      if section.count > 0 || !content.isSectioned { passed += 1 }
    }
    let loose = looseGroups
    let staying = loose.filter { oldGaps[ObjectIdentifier(groups[$0].section)] == groups[$0].gap }
      .map { oldIndexes[ObjectIdentifier(groups[$0].section)]! }
    let kept = longestAscendingPart(of: staying)
    for index in loose {
      let place = oldIndexes[ObjectIdentifier(groups[index].section)]
      groups[index].isMoved =
        place.map {
          !(kept.contains($0) && oldGaps[ObjectIdentifier(groups[index].section)] == groups[index].gap)
        } ?? false
    }

    var order: [FetchedSection] = []
    var next = loose[...]
    for gap in 0...fixedSections.count {
      while let index = next.first, groups[index].gap == gap {
        order.append(groups[index].section)
        next = next.dropFirst()
      }
      if gap < fixedSections.count { order.append(fixedSections[gap]) }
    }
    content.arrange(order)

    let moved = Set(groups.lazy.filter(\.isMoved).map { ObjectIdentifier($0.section) })
    let present = Set(order.map(ObjectIdentifier.init))
    update.deletedSections = oldSections.enumerated().reversed().filter {
      !present.contains(ObjectIdentifier($1)) || moved.contains(ObjectIdentifier($1))
    }.map { ($1, $0) }
    update.insertedSections = order.enumerated().filter {
      oldIndexes[ObjectIdentifier($1)] == nil || moved.contains(ObjectIdentifier($1))
    }.map { ($1, $0) }
  }
}
