import CDESwiftData
import Foundation
import Observation
import Synchronization
import Testing

/// Another container of the same file stands for another process: it shares nothing with the first one but the file.
@Suite("Changes of other containers and processes", .timeLimit(.minutes(2)))
@MainActor
struct OtherContainerTests {
  private let travel: Travel
  private let other: ModelContext
  private let plan: TravelPlan
  private let theirs: TravelPlan

  private var context: ModelContext { travel.container.mainContext }

  init() throws {
    travel = try Travel()
    plan = TravelPlan("Rome")
    plan.items = [ListItem("Hat")]
    travel.container.mainContext.insert(plan)
    try travel.container.mainContext.save()
    other = ModelContext(try Travel.open(travel.url))
    theirs = try #require(try other.fetch(FetchDescriptor<TravelPlan>()).first)
  }

  @Test("A registered model gets the value, and exactly the readers of the property wake")
  func value() async throws {
    let (name, nights, items) = (
      Reader { [plan] in plan.name }, Reader { [plan] in plan.nights }, Reader { [plan] in plan.items.count }
    )
    theirs.name = "Roma"
    try other.save()
    await name.woken()
    #expect(plan.name == "Roma" && !context.hasChanges)
    #expect(!nights.isAwake && !items.isAwake)
  }

  @Test("A registered relationship gets its members, and its readers wake")
  func relationship() async throws {
    let (name, items) = (Reader { [plan] in plan.name }, Reader { [plan] in plan.items.count })
    theirs.items.append(ListItem("Passport"))
    try other.save()
    await items.woken()
    #expect(Set(plan.items.map(\.title)) == ["Hat", "Passport"] && !name.isAwake)
  }

  @Test("A model that was deleted elsewhere has no context any more")
  func deletion() async throws {
    let name = Reader { [plan] in plan.name }
    other.delete(theirs)
    try other.save()
    await name.woken()
    #expect(plan.modelContext == nil)
    #expect(try context.fetchCount(FetchDescriptor<TravelPlan>()) == 0)
  }

  @Test("A query gets a model that was inserted elsewhere")
  func query() async throws {
    let query = try ObservedQuery<TravelPlan>(sort: [SortDescriptor(\.name)], in: context)
    let names = Reader { query.models.map(\.name) }
    other.insert(TravelPlan("Lima"))
    try other.save()
    await names.woken()
    #expect(query.models.map(\.name) == ["Lima", "Rome"])
  }

  @Test("Unsaved changes of other properties stay, and are saved on top")
  func unsaved() async throws {
    plan.nights = 9
    let name = Reader { [plan] in plan.name }
    theirs.name = "Roma"
    theirs.nights = 2
    try other.save()
    await name.woken()
    #expect(plan.name == "Roma" && plan.nights == 9)
    try context.save()
    let fresh = try ModelContext(travel.container).fetch(FetchDescriptor<TravelPlan>())
    #expect(fresh.map(\.name) == ["Roma"] && fresh.map(\.nights) == [9])
  }

  @Test("A context that code made has the change by its next call after it arrived")
  func madeContext() async throws {
    let mine = ModelContext(travel.container)
    let registered = try #require(try mine.fetch(FetchDescriptor<TravelPlan>()).first)
    let name = Reader { [plan] in plan.name }
    theirs.name = "Roma"
    try other.save()
    // The main context of the same container has it, so it has arrived.
    await name.woken()
    _ = try mine.fetchCount(FetchDescriptor<TravelPlan>())
    #expect(registered.name == "Roma")
  }

  @Test("A model actor gets the change")
  func actors() async throws {
    let watcher = PlanWatcher(modelContainer: travel.container)
    let id = plan.persistentModelID
    #expect(try await watcher.name(of: id) == "Rome")
    theirs.name = "Roma"
    try other.save()
    try await watcher.waits(until: "Roma")
  }

  @Test("The notification of a remote change is posted, and the history tells what changed")
  func notification() async throws {
    let (posted, continuation) = AsyncStream.makeStream(of: Void.self)
    let observer = NotificationCenter.default.addObserver(
      forName: Notification.Name("NSPersistentStoreRemoteChangeNotification"), object: nil, queue: nil
    ) { _ in continuation.yield() }
    defer { NotificationCenter.default.removeObserver(observer) }
    let last = try #require(try travel.history().last).token
    other.author = "widget"
    theirs.nights = 5
    try other.save()
    for await _ in posted {
      let later = try context.fetchHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(
          predicate: #Predicate { $0.token > last && $0.author == "widget" }))
      guard let change = later.first?.changes.first else { continue }
      guard case .update(let update as DefaultHistoryUpdate<TravelPlan>) = change else {
        Issue.record("The change is \(change).")
        break
      }
      #expect(update.updatedAttributes.map { $0 as PartialKeyPath } == [\TravelPlan.nights])
      break
    }
  }
}

@ModelActor
actor PlanWatcher {
  private var kept: TravelPlan?

  func name(of id: PersistentIdentifier) throws -> String {
    if kept == nil { kept = self[id, as: TravelPlan.self] }
    return try #require(kept).name
  }

  /// Each context merges on its own executor, so that another context's readers tell nothing about this one.
  func waits(until name: String) async throws {
    let kept = try #require(kept)
    while kept.name != name {
      await withCheckedContinuation { continuation in
        withObservationTracking {
          _ = kept.name
        } onChange: {
          continuation.resume()
        }
      }
    }
  }
}

/// A reader of properties, which wakes when one of them changes.
@MainActor
final class Reader {
  private let flag = Flag()
  private let stream: AsyncStream<Void>

  init<Value>(_ read: () -> Value) {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    self.stream = stream
    let flag = flag
    withObservationTracking {
      _ = read()
    } onChange: {
      flag.isSet.withLock { $0 = true }
      continuation.yield()
    }
  }

  var isAwake: Bool { flag.isSet.withLock { $0 } }

  /// Waits for the change.
  func woken() async {
    for await _ in stream { break }
    // What wakes a reader comes before the value.
    await Task.yield()
  }

  private final class Flag: Sendable {
    let isSet = Mutex(false)
  }
}
