import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import CDETestSupport
import Foundation
import Testing

@Suite("Saves and fetches under faults", .ownThreads)
struct SaveFaultTests {
  static let transient: [StoreFault] = [.diskFull, .ioError, .tornWrite, .busy]

  static func expectTyped(_ error: any Error, _ note: Comment) {
    let cause = (error as? ManagedObjectError)?.cause as? StoreError
    #expect(cause.map { [.full, .io, .busy, .cannotOpen].contains($0.code) } == true, "\(note): \(error)")
  }

  func steps(_ graph: FaultGraph, _ work: (NSManagedObjectContext) throws -> Void) throws -> [StoreStep] {
    let faults = StoreFaults()
    let container = try graph.open(faults)
    let context = container.newBackgroundContext()
    defer { _ = try? container.close() }
    return try context.performAndWait {
      try FaultGraph.change(context)
      faults.begin()
      try work(context)
      return faults.end()
    }
  }

  @Test(
    "A save that fails at any step leaves the context as it was, and succeeds once the fault is gone",
    arguments: transient)
  func saving(fault: StoreFault) async throws {
    let graph = try await FaultGraph()
    defer { graph.remove() }
    var failures = 0
    let steps = try steps(graph) { try $0.save() }.filter { fault.concerns($0.operation) }
    for step in steps.drawn(oneOf: 5) {
      let note = Comment(rawValue: "\(fault) at \(step)")
      let faults = StoreFaults()
      let container = try graph.open(faults)
      let context = container.newBackgroundContext()
      failures += try context.performAndWait {
        try FaultGraph.change(context)
        let unsaved = FaultGraph.unsaved(context)
        faults.begin(fault == .busy ? .always(.busy, from: step.number) : .at(step.number, fault))
        var failed = 0
        do { try context.save() } catch {
          failed = 1
          Self.expectTyped(error, note)
          faults.end()
          #expect(context.hasChanges, note)
          #expect(FaultGraph.unsaved(context) == unsaved, note)
          try context.save()
        }
        faults.end()
        #expect(!context.hasChanges, note)
        return failed
      }
      let contents = try await StoreContents(container)
      #expect(contents.difference(from: graph.after).isEmpty, note)
      #expect(try container.close() == "ok", note)
    }
    #expect(failures > 0)
  }

  @Test(
    "The process that dies at any step of three saves leaves each acknowledged one whole, and none in part",
    arguments: [StoreFault.crash, .crashInWrite])
  func dying(fault: StoreFault) async throws {
    let graph = try await FaultGraph()
    defer { graph.remove() }
    func work(_ context: NSManagedObjectContext, _ acknowledge: (Int) -> Void) throws {
      acknowledge(0)
      for number in 1...3 {
        if number > 1 { try FaultGraph.change(context, round: number) }
        try context.save()
        acknowledge(number)
      }
    }
    // What the store holds after each save.
    let undisturbed = try graph.open(nil)
    var worlds = [try await StoreContents(undisturbed)]
    let first = undisturbed.newBackgroundContext()
    for number in 1...3 {
      try await first.perform {
        try FaultGraph.change(first, round: number)
        try first.save()
      }
      worlds.append(try await StoreContents(undisturbed))
    }
    _ = try undisturbed.close()

    let steps = try steps(graph) { try work($0) { _ in } }.filter { fault.concerns($0.operation) }
    for step in steps.drawn(oneOf: 6) {
      let faults = StoreFaults()
      let container = try graph.open(faults)
      let context = container.newBackgroundContext()
      let acknowledged = try context.performAndWait {
        try FaultGraph.change(context)
        faults.begin(.at(step.number, fault))
        var count = 0
        try? work(context) { count = $0 }
        return count
      }
      faults.end()
      try container.reopenTestStores()
      let contents = try await StoreContents(container)
      let possible = worlds[acknowledged...min(acknowledged + 1, 3)]
      #expect(possible.contains(contents), "\(fault) at \(step), \(acknowledged) acknowledged")
      #expect(try container.close() == "ok", "\(fault) at \(step)")
    }
  }

  @Test("A fetch that fails at any step throws a typed error, and the context fetches on")
  func fetching() async throws {
    let graph = try await FaultGraph()
    defer { graph.remove() }
    func titles(_ context: NSManagedObjectContext) throws -> [String] {
      let request = Novel.fetchRequest()
      request.predicate = NSPredicate(format: "ANY topics.name == %@", "A")
      return try context.fetch(request).map(\.title).sorted()
    }
    func run(_ plan: FaultPlan, _ note: Comment) throws -> [StoreStep] {
      let faults = StoreFaults()
      let container = try graph.open(faults)
      let context = container.newBackgroundContext()
      faults.begin(plan)
      let steps = try context.performAndWait {
        do { #expect(try titles(context) == ["one", "two"], note) } catch { Self.expectTyped(error, note) }
        let steps = faults.end()
        #expect(try titles(context) == ["one", "two"], note)
        try FaultGraph.change(context)
        try context.save()
        return steps
      }
      _ = try container.close()
      return steps
    }
    let steps = try run(.none, "undisturbed")
    #expect(steps.contains { $0.operation == .read && $0.file == .database })
    for step in steps {
      for fault in [StoreFault.ioError, .busy] where fault.concerns(step.operation) {
        let plan = fault == .busy ? FaultPlan.always(.busy, from: step.number) : .at(step.number, fault)
        _ = try run(plan, Comment(rawValue: "\(fault) at \(step)"))
      }
    }
  }

  @Test("Faults drawn from a seed lose no save and double none")
  func drawn() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Faults are drawn from seed \(seed).")
    let faults = StoreFaults()
    let graph = try await FaultGraph()
    defer { graph.remove() }
    let container = try graph.open(faults)
    let context = container.newBackgroundContext()
    faults.begin(.drawn(seed: seed, oneIn: 30))
    let failures = context.performAndWait {
      var failures = 0
      for number in 0..<100 {
        let author = Author(context: context)
        author.name = "\(number)"
        let book = Novel(context: context)
        book.title = "\(number)"
        book.author = author
        // Each attempt takes other steps, so that none fails for ever.
        while context.hasChanges {
          do { try context.save() } catch {
            failures += 1
            Self.expectTyped(error, "seed \(seed)")
          }
        }
      }
      return failures
    }
    faults.end()
    #expect(failures > 0, "seed \(seed)")
    try container.reopenTestStores()
    let titles = try await container.performBackgroundTask { context in
      try context.fetch(Novel.fetchRequest()).compactMap { $0.author?.name == $0.title ? Int($0.title) : nil }
    }
    #expect(titles.sorted() == Array(0..<100), "seed \(seed)")
    #expect(try container.close() == "ok", "seed \(seed)")
  }
}

extension FaultGraph {
  /// The change, and after it two smaller ones.
  static func change(_ context: NSManagedObjectContext, round: Int) throws {
    if round == 1 { return try change(context) }
    for book in try context.fetch(Novel.fetchRequest()) { book.title += " \(round)" }
    Theme(context: context).name = "round \(round)"
  }
}
