import CoreDataEvolution
import Testing

@PersistentModel
final class Counter: NSManagedObject {
  var number: Int = 0
  var value: Int = 0
}

@NSModelActor
actor Incrementer {
  /// Kept, so that the context goes on with the values it has read.
  private var counters: [Counter] = []

  /// Adds one to a counter; tries again when another actor saved it first.
  ///
  /// - Returns: how often it tried again.
  func increment(_ number: Int) throws -> Int {
    var conflicts = 0
    while true {
      let request = Counter.fetchRequest()
      request.predicate = NSPredicate(format: "number == %d", number)
      guard let counter = try modelContext.fetch(request).first else { throw Missing(number: number) }
      counter.value += 1
      do {
        try modelContext.save()
        return conflicts
      } catch let error as ManagedObjectError where error.code == .saveConflict {
        conflicts += 1
        modelContext.rollback()
        modelContext.refreshAllObjects()
      }
    }
  }

  func values() throws -> [Int] {
    modelContext.refreshAllObjects()
    let request = Counter.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    counters = try modelContext.fetch(request)
    return counters.map(\.value)
  }

  struct Missing: Error {
    let number: Int
  }
}

@Suite("Many writers over one store")
struct CounterTests {
  static let counters = 4

  private func container(_ function: String = #function) throws -> NSPersistentContainer {
    let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Counter.self, function: function)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for number in 0..<Self.counters {
        let counter = Counter(context: context)
        counter.number = number
      }
      try context.save()
    }
    return container
  }

  @Test("64 tasks on 16 model actors: every conflict is reported, retried, and the counters add up")
  func actors() async throws {
    let container = try container()
    let actors = (0..<16).map { _ in Incrementer(container: container) }
    for actor in actors { #expect(try await actor.values() == [0, 0, 0, 0]) }
    let conflicts = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<64 {
        group.addTask {
          var conflicts = 0
          for turn in 0..<10 {
            conflicts += try await actors[task % 16].increment((task + turn) % Self.counters)
          }
          return conflicts
        }
      }
      return try await group.reduce(0, +)
    }
    let values = try await actors[0].values()
    #expect(values.reduce(0, +) == 640)
    #expect(values == [160, 160, 160, 160])
    // Every actor had read and kept every counter before the first write: all but one were behind at least once.
    #expect(conflicts >= 15)
  }

  @Test("Two processes over one store: no increment is lost")
  func processes() async throws {
    let container = try container()
    let path = try #require(container.persistentStoreCoordinator.persistentStores.first?.url?.path)
    async let one: Void = child(path)
    async let two: Void = child(path)
    let incrementer = Incrementer(container: container)
    for turn in 0..<100 { _ = try await incrementer.increment(turn % Self.counters) }
    _ = await (one, two)
    #expect(try await incrementer.values() == [75, 75, 75, 75])
  }

  private func child(_ path: String) async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let container = NSPersistentContainer(
        name: "Counters", managedObjectModel: try .makeRuntimeModel(Counter.self))
      container.persistentStoreDescriptions = [
        NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
      ]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      let incrementer = Incrementer(container: container)
      for turn in 0..<100 { _ = try await incrementer.increment(turn % CounterTests.counters) }
    }
  }
}
