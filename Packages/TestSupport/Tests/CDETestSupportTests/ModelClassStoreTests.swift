import CDESwiftData
import CDETestSupport
import CDETesting
import Foundation
import Testing

@Model
final class Trip {
  @Attribute(.unique) var title: String
  @Relationship(deleteRule: .cascade, inverse: \Stay.trip) var stays: [Stay] = []
  init(title: String) { self.title = title }
}

@Model
final class Stay {
  var place: String
  var trip: Trip?
  init(_ place: String) { self.place = place }
}

@ModelActor
actor Planner {
  func plan(_ title: String) throws -> PersistentIdentifier {
    let trip = Trip(title: title)
    modelContext.insert(trip)
    try modelContext.save()
    return trip.persistentModelID
  }
}

@Suite("Stores of @Model classes for tests", .store(Trip.self))
struct ModelClassStoreTests {
  @Test("Each case has an empty store of its own, also beside others at the same time", arguments: 0..<8)
  func own(number: Int) async throws {
    let container = TestStore.current.modelContainer
    let context = ModelContext(container)
    #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 0)
    for index in 0...number {
      let trip = Trip(title: "\(index)")
      trip.stays = [Stay("a"), Stay("b")]
      context.insert(trip)
    }
    await Task.yield()
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) == number + 1)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Stay>()) == 2 * (number + 1))
  }

  @Test("What the store was asked is counted")
  func activity() throws {
    let context = ModelContext(TestStore.current.modelContainer)
    context.insert(Trip(title: "Alps"))
    try context.save()
    #expect(TestStore.current.activity.requests.count { $0.kind == .save } == 1)
    let other = ModelContext(TestStore.current.modelContainer)
    #expect(try other.fetch(FetchDescriptor<Trip>()).map(\.title) == ["Alps"])
    #expect(TestStore.current.activity.requests.count { $0.kind == .read } >= 1)
  }

  @Test("The classes may be of an actor", .store(Trip.self, Stay.self))
  func actors() async throws {
    let container = TestStore.current.modelContainer
    let id = try await Planner(modelContainer: container).plan("Alps")
    #expect((ModelContext(container).model(for: id) as? Trip)?.title == "Alps")
  }

  @Test("Containers in memory that are made at the same time never meet")
  func inMemory() async throws {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 1...16 {
        group.addTask {
          let container = try ModelContainer(
            for: Trip.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
          let context = ModelContext(container)
          for index in 0..<number {
            // Equal unique values would be one row in a common store.
            context.insert(Trip(title: "\(index)"))
            try context.save()
          }
          let found = try ModelContext(container).fetchCount(FetchDescriptor<Trip>())
          return found - number
        }
      }
      for try await difference in group { #expect(difference == 0) }
    }
  }
}
