import CDEModelRuntime
import Foundation
import Testing

/// A random program over one-to-one relationships: two containers, as of two processes, whose contexts know of each other's saves by
/// refreshes of single objects and by conflicts. Saves of one happen before, between and inside those of the other.
///
/// Everything runs on one thread, so a seed gives the same schedule each time.
final class PartnersProgram: @unchecked Sendable {
  // Guard: the program runs on one thread.
  /// Runs steps of others before the policy resolves the conflicts of a save.
  private final class Policy: NSMergePolicy, @unchecked Sendable {
    // Guard: the program runs on one thread.
    weak var program: PartnersProgram?

    override func resolve(mergeConflicts list: [Any]) throws {
      program?.interrupt()
      try super.resolve(mergeConflicts: list)
    }
  }

  private struct Writer {
    let context: NSManagedObjectContext
    let container: Int
    let name: String
    var authors: [NSManagedObject] = []
    var cards: [NSManagedObject] = []
    /// Whether the context fails in conflicts. Only such contexts count: their saves lose nothing. They get no merges, after which an
    /// unsaved value is no conflict any more.
    var counts = false
    /// How often the context counted in each card since its last save.
    var unsavedCounts: [Int: Int] = [:]
  }

  private static let size = 4
  private var random = SplitMix(state: 0)
  private var writers: [Writer] = []
  private let reader: NSManagedObjectContext
  private var saving: Set<Int> = []
  private var observers: [any NSObjectProtocol] = []
  private var counted: [Int: Int] = [:]
  private(set) var log: [String] = []
  private(set) var faults: [String] = []
  private(set) var saves = 0
  private(set) var refusals = 0

  /// Runs steps until a check finds a fault.
  ///
  /// - Parameter steps: a random number for each step, from which all its choices follow.
  static func run(_ steps: [UInt64]) throws -> PartnersProgram {
    let program = try PartnersProgram()
    for step in steps where program.faults.isEmpty { try program.step(step) }
    program.end()
    return program
  }

  /// Leaves steps out while the program still finds a fault.
  static func shortest(_ steps: [UInt64]) throws -> PartnersProgram {
    try run(shortened(steps) { try !run($0).faults.isEmpty })
  }

  private init() throws {
    let first = try Stack(model: MergeProgram.model())
    let stacks = [first, try Stack(model: MergeProgram.model(), in: first.folder)]
    reader = try Stack(model: MergeProgram.model(), in: first.folder).context()
    let maker = first.context()
    for number in 0..<Self.size {
      maker.make("Author", ["number": number])
      maker.make("Card", ["number": number, "value": 0])
    }
    try maker.save()
    let types: [(NSMergePolicyType, String)] = [
      (.mergeByPropertyObjectTrumpMergePolicyType, "object"),
      (.mergeByPropertyStoreTrumpMergePolicyType, "store"), (.errorMergePolicyType, "error"),
    ]
    for (place, stack) in stacks.enumerated() {
      for (type, name) in types {
        let context = stack.context()
        let policy = Policy(merge: type)
        policy.program = self
        context.mergePolicy = policy
        let index = writers.count
        writers.append(
          Writer(
            context: context, container: place, name: "\(place)-\(name)",
            counts: type == .errorMergePolicyType
          ))
        observers.append(
          NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: context, queue: nil
          ) { [weak self] _ in self?.interrupt() })
        observers.append(
          NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
          ) { [weak self] in self?.merge($0, from: index) })
        try look(index)
      }
    }
  }

  private func end() { for observer in observers { NotificationCenter.default.removeObserver(observer) } }

  private func look(_ index: Int) throws {
    func all(_ entity: String) throws -> [NSManagedObject] {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      return try writers[index].context.fetch(request)
    }
    writers[index].authors = try all("Author")
    writers[index].cards = try all("Card")
    for object in writers[index].authors + writers[index].cards { _ = object.value(forKey: "value") }
  }

  // MARK: Steps

  private func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private func step(_ number: UInt64) throws {
    random = SplitMix(state: number)
    try act(self.number(below: writers.count))
  }

  /// Lets writers of another container act that are not saving.
  private func interrupt() {
    guard saving.count < 2, let busy = saving.first.map({ writers[$0].container }), number(below: 3) == 0
    else {
      return
    }
    let others = writers.indices.filter { writers[$0].container != busy }
    for _ in 0...number(below: 3) {
      let other = others[number(below: others.count)]
      if saving.contains(other) { continue }
      do { try act(other) } catch { faults.append("\(error)") }
    }
  }

  /// Passes a save on to the other contexts of its container, which have the commit's rows, and no others.
  private func merge(_ save: Notification, from index: Int) {
    for other in writers.indices where other != index && writers[other].container == writers[index].container
    {
      if !writers[other].counts { writers[other].context.mergeChanges(fromContextDidSave: save) }
    }
  }

  private func act(_ index: Int) throws {
    let writer = writers[index]
    let author = writer.authors[number(below: Self.size)]
    let card = writer.cards[number(below: Self.size)]
    func name(_ object: NSManagedObject?) -> String {
      object.map { "\($0.entity.name!)\($0.value(forKey: "number")!)" } ?? "nil"
    }
    func set(_ object: NSManagedObject, _ key: String, _ value: NSManagedObject?) {
      log.append("\(writer.name): \(name(object)).\(key) = \(name(value))")
      object.setValue(value, forKey: key)
    }
    switch number(below: 100) {
    case 0..<20: set(author, "card", number(below: 4) == 0 ? nil : card)
    case 20..<40: set(card, "holder", number(below: 4) == 0 ? nil : author)
    case 40..<50:
      if !writer.counts { return }
      log.append("\(writer.name): \(name(card)).value += 1")
      card.setValue(card.value(forKey: "value") as! Int + 1, forKey: "value")
      writers[index].unsavedCounts[writer.cards.firstIndex(of: card)!, default: 0] += 1
    case 50..<72:
      let object = number(below: 2) == 0 ? author : card
      if object === card, !writer.unsavedCounts.isEmpty { return }
      log.append("\(writer.name): refresh \(name(object))")
      writer.context.refresh(object, mergeChanges: true)
      _ = object.value(forKey: "value")
    case 72..<74:
      if !writer.unsavedCounts.isEmpty { return }
      log.append("\(writer.name): refresh all")
      writer.context.refreshAllObjects()
    default: try save(index)
    }
  }

  private func save(_ index: Int) throws {
    let writer = writers[index]
    if !writer.context.hasChanges { return }
    saving.insert(index)
    defer { saving.remove(index) }
    log.append("\(writer.name): save")
    do {
      try writer.context.save()
    } catch let error as ManagedObjectError where error.code == .saveConflict {
      log.append("\(writer.name): refused")
      refusals += 1
      writer.context.rollback()
      writer.context.refreshAllObjects()
      writers[index].unsavedCounts = [:]
      return
    }
    saves += 1
    log.append("\(writer.name): saved")
    counted.merge(writers[index].unsavedCounts) { $0 + $1 }
    writers[index].unsavedCounts = [:]
    try check()
  }

  // MARK: Checks

  /// Whether both sides of all pairs agree in the store, and all counts are there.
  private func check() throws {
    reader.reset()
    for author in try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")) {
      let card = author.value(forKey: "card") as? NSManagedObject
      if let card, card.value(forKey: "holder") as? NSManagedObject !== author {
        faults.append("The card of author \(author.value(forKey: "number")!) has another holder.")
      }
    }
    for card in try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Card")) {
      let number = card.value(forKey: "number") as! Int
      let holder = card.value(forKey: "holder") as? NSManagedObject
      if let holder, holder.value(forKey: "card") as? NSManagedObject !== card {
        faults.append("The holder of card \(number) has another card.")
      }
      let value = card.value(forKey: "value") as! Int
      if value != counted[number, default: 0] {
        faults.append("Card \(number) has the value \(value) instead of \(counted[number, default: 0]).")
      }
    }
  }
}
