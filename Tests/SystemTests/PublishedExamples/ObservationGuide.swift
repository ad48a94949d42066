// swift-format-ignore-file
// What is printed stays as it was printed.
import CoreDataEvolution
import Testing

// The examples of CoreDataEvolution's guide to observation, but for SwiftUI's views and `@objc(Item)`.

enum ObservationGuide {
// printed
@PersistentModel(observation: .mainActor)
final class Item: NSManagedObject {
  var title: String = ""
  var summary: String = ""

  @Relationship(inverse: "items", deleteRule: .nullify)
  var tag: Tag?
}
// end

  @PersistentModel(observation: .mainActor)
  final class Tag: NSManagedObject {
    @Relationship(inverse: "tag", deleteRule: .nullify) var items: Set<Item>
  }

// printed
@MainActor
final class Store {
  let container: NSPersistentContainer
  let observation: CDEObservationDomain

  init(container: NSPersistentContainer) {
    self.container = container
    observation = CDEObservationDomain(container: container)
  }
}
// end

  @MainActor
  static func edit(_ item: Item, _ viewContext: NSManagedObjectContext) throws {
// printed
item.title = "Draft"
// No CDE Observation refresh is promised yet.

try viewContext.save()
// The retained domain routes the saved change.
// end
  }

// printed
@NSModelActor
actor ItemWriter {
  func rename(
    id: NSManagedObjectID,
    to title: String,
    observation: CDEObservationDomain
  ) async throws {
    guard let item = self[id, as: Item.self] else { return }
    item.title = title
    try await saveObservedChanges(in: observation)
  }
}
// end

  @MainActor
  static func ordinary(_ observation: CDEObservationDomain) -> NSManagedObjectContext {
// printed
let context = observation.newObservedBackgroundContext()

context.perform {
  do {
    // mutate observed model objects
    try context.save()
  } catch {
    context.rollback()
  }
}
// end
    return context
  }

  @MainActor
  static func wrapper(_ observation: CDEObservationDomain, _ context: NSManagedObjectContext) async throws {
// printed
try await observation.saveObservedChanges(in: context)
// end
  }

  @MainActor
  static func rollBack(_ observation: CDEObservationDomain) {
// printed
observation.rollbackObservedChanges()
// end
  }

  // The guide prints them as statements of their own, where the compiler would call their results unused.
  @resultBuilder
  enum Domains {
    static func buildBlock(_ domains: CDEObservationDomain...) -> [CDEObservationDomain] { domains }
  }

  @MainActor
  @Domains
  static func domains(_ container: NSPersistentContainer) -> [CDEObservationDomain] {
// printed
// .auto (default): on for NSPersistentCloudKitContainer, off otherwise
CDEObservationDomain(container: container)

// .on: a non-CloudKit container that still re-merges (PHT, a parent/child chain)
CDEObservationDomain(container: container, preciseRouteEchoSuppression: .on)

// .off: the store never re-merges its own saves
CDEObservationDomain(container: container, preciseRouteEchoSuppression: .off)
// end
  }
}

@Suite("Examples of the guide to observation")
@MainActor
struct ObservationGuideTests {
  typealias Item = ObservationGuide.Item

  @Test("The guide's store, writer and contexts change what the view context reads")
  func guide() async throws {
    let container = try NSPersistentContainer.makeRuntimeTest(
      modelTypes: Item.self, ObservationGuide.Tag.self, testName: "ObservationGuide-\(UUID())")
    container.viewContext.automaticallyMergesChangesFromParent = true
    let store = ObservationGuide.Store(container: container)
    let item = Item(context: container.viewContext)
    try ObservationGuide.edit(item, container.viewContext)
    #expect(item.title == "Draft")
    try await ObservationGuide.ItemWriter(container: container)
      .rename(id: item.objectID, to: "Final", observation: store.observation)
    // Merges take their turns on the context like everything else.
    await container.viewContext.perform(schedule: .enqueued) {}
    #expect(item.title == "Final")
    item.summary = "dropped"
    ObservationGuide.rollBack(store.observation)
    #expect(item.summary == "")
    let context = ObservationGuide.ordinary(store.observation)
    try await ObservationGuide.wrapper(store.observation, context)
    let id = item.objectID
    let title = try await context.perform { try (context.existingObject(with: id) as? Item)?.title }
    #expect(title == "Final")
    #expect(ObservationGuide.domains(container).count == 3)
  }
}
