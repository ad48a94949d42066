import CDEModelRuntime
import CDEObservation
import Foundation
import Testing

/// A view context and two writers take turns at random; a model of plain values says who must wake.
///
/// The schedule is drawn: each save's merge into the view context is done when the draw says so, early, late
/// or in between others, and some saves fail. CDE_OBSERVATION_STEPS sets the number of steps, CDE_SEED the draw.
@Suite("Wake-ups against a simple model")
@MainActor
struct RandomisedObservationTests {
  private enum Field: String, CaseIterable { case title, summary, rank }

  /// What one save changed, as the model sees it.
  private final class Save {
    let note: Notification
    let changed: [Int: Set<Field>]
    let isExact: Bool
    /// Whether the view context has had it, or some of its items by their IDs.
    var isDelivered = false
    var deliveredItems: Set<Int> = []

    init(note: Notification, changed: [Int: Set<Field>], isExact: Bool) {
      self.note = note
      self.changed = changed
      self.isExact = isExact
    }

    var news: [Int: Set<Field>] {
      isDelivered ? [:] : changed.filter { !deliveredItems.contains($0.key) }
    }
  }

  private static let items = 8
  /// How many saves a container remembers for merges by IDs.
  private static let commitsKept = 256

  @Test(
    "No wake-up is missed and none is spurious, in whichever order contexts save, fail and merge",
    arguments: [CDEObservationPrecision.registeredProducers, .everySave])
  func random(precision: CDEObservationPrecision) throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    let steps = environment["CDE_OBSERVATION_STEPS"].flatMap(Int.init) ?? 4_000
    print("randomised observation: seed \(seed), \(steps) steps")
    var random = Draws(seed: seed)
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(
      container: stack.container, preciseRouteEchoSuppression: .on, precision: precision)
    let view = stack.view
    var items = [stack.item]
    for number in 1..<Self.items {
      let item = Item(context: view)
      item.title = "item \(number)"
      items.append(item)
    }
    try view.save()
    let ids = items.map(\.objectID)
    let readers = Readers()
    for (index, item) in items.enumerated() {
      readers.add("\(index).title") { _ = item.title }
      readers.add("\(index).summary") { _ = item.summary }
      readers.add("\(index).rank") { _ = item.rank }
    }
    // Writer 0 is registered, writer 1 is not.
    let writers = [domain.newObservedBackgroundContext(), stack.container.newBackgroundContext()]
    let logs = writers.map(SaveLog.init)
    let viewLog = SaveLog(view)
    var dirty: [[Int: Set<Field>]] = [[:], [:], [:]]
    var waiting: [Save] = []
    var merged: [Save] = []
    // What merges by IDs can know of, the first save included.
    var recent = [
      Save(
        note: Notification(name: .NSManagedObjectContextDidSave),
        changed: Dictionary(uniqueKeysWithValues: (1..<Self.items).map { ($0, []) }), isExact: true)
    ]
    recent[0].isDelivered = true
    var value = 0

    func expect(_ expected: Set<String>, _ what: String, _ step: Int) throws {
      let found: [String: Int] = readers.take()
      try #require(
        found == Dictionary(uniqueKeysWithValues: expected.map { ($0, 1) }),
        "seed \(seed), step \(step): \(what)")
    }
    func names(_ changed: [Int: Set<Field>], isExact: Bool) -> Set<String> {
      Set(
        changed.flatMap { index, fields in
          (isExact ? Array(fields) : Field.allCases).map { "\(index).\($0.rawValue)" }
        })
    }
    func set(_ item: Item, _ field: Field) {
      value += 1
      switch field {
      case .title: item.title = "t\(value)"
      case .summary: item.summary = "s\(value)"
      case .rank: item.rank = value
      }
    }

    for step in 0..<steps {
      let writer = Int.random(in: 0...2, using: &random)
      let context = writer == 2 ? view : writers[writer]
      switch Int.random(in: 0..<12, using: &random) {
      case 0...4:
        let index = Int.random(in: 0..<Self.items, using: &random)
        let field = Field.allCases.randomElement(using: &random)!
        // Each object has one writer at a time, or saves would conflict.
        guard dirty.indices.allSatisfy({ $0 == writer || dirty[$0][index] == nil }) else { continue }
        guard let item = try context.existingObject(with: ids[index]) as? Item else { throw Unwanted() }
        if writer != 2, dirty[writer][index] == nil { context.refresh(item, mergeChanges: false) }
        if writer == 2, dirty[2][index] == nil, waiting.contains(where: { $0.changed[index] != nil }) {
          continue
        }
        set(item, field)
        dirty[writer][index, default: []].insert(field)
        try expect([], "a setter", step)
      case 5...6:
        let changed = dirty[writer]
        if changed.isEmpty { continue }
        try context.save()
        dirty[writer] = [:]
        if writer == 2 {
          try expect(names(changed, isExact: true), "a save of the view context", step)
          merged.append(Save(note: viewLog.last!, changed: changed, isExact: true))
          merged.last?.isDelivered = true
          recent.append(merged.last!)
        } else {
          try expect([], "a save that is not merged", step)
          waiting.append(
            Save(
              note: logs[writer].last!, changed: changed,
              isExact: writer == 0 || precision == .everySave))
          recent.append(waiting.last!)
        }
        if recent.count > Self.commitsKept { recent.removeFirst() }
      case 7:
        // A save that fails: nothing is woken, now or later.
        guard writer != 2, let index = dirty[writer].keys.randomElement(using: &random),
          let item = try context.existingObject(with: ids[index]) as? Item
        else { continue }
        item.title = Item.unwanted
        #expect(throws: (any Error).self) { try context.save() }
        context.rollback()
        dirty[writer] = [:]
        try expect([], "a failed save", step)
      case 8...9:
        if waiting.isEmpty { continue }
        // Mostly in order, sometimes not.
        let place = Bool.random(using: &random) ? 0 : waiting.indices.randomElement(using: &random)!
        let save = waiting.remove(at: place)
        view.mergeChanges(fromContextDidSave: save.note)
        try expect(names(save.news, isExact: save.isExact), "a merge", step)
        save.isDelivered = true
        merged.append(save)
        if merged.count > 20 { merged.removeFirst() }
      case 10:
        guard let save = merged.randomElement(using: &random) else { continue }
        view.mergeChanges(fromContextDidSave: save.note)
        try expect([], "an echo", step)
      default:
        let index = Int.random(in: 0..<Self.items, using: &random)
        let isMerge = Bool.random(using: &random)
        if isMerge {
          let known = recent.filter { $0.changed[index] != nil }
          let older = waiting.contains { save in
            save.changed[index] != nil && !known.contains { $0 === save }
          }
          if older { continue }
          NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: [ids[index]]], into: [view])
          if !known.isEmpty {
            let news = known.filter { $0.news[index] != nil }
            let fields = news.reduce(into: Set<Field>()) { $0.formUnion($1.changed[index]!) }
            for save in news { save.deliveredItems.insert(index) }
            try expect(
              news.isEmpty ? [] : names([index: fields], isExact: news.allSatisfy(\.isExact)),
              "a merge by ID",
              step)
            continue
          }
        } else if dirty[2].isEmpty {
          view.refresh(items[index], mergeChanges: true)
        } else {
          let concerned = dirty[2].mapValues { _ in Set<Field>() }
          dirty[2] = [:]
          domain.rollbackObservedChanges()
          try expect(names(concerned, isExact: false), "a rollback", step)
          continue
        }
        try expect(names([index: []], isExact: false), "a change without properties", step)
      }
    }
    // Once everything is merged, the view context reads what the store has.
    for save in waiting { view.mergeChanges(fromContextDidSave: save.note) }
    view.rollback()
    let fresh = stack.container.newBackgroundContext()
    for (index, id) in ids.enumerated() {
      let stored = try #require(try fresh.existingObject(with: id) as? Item)
      #expect(items[index].title == stored.title, "seed \(seed)")
      #expect(items[index].summary == stored.summary && items[index].rank == stored.rank, "seed \(seed)")
    }
  }
}
