import CDESwiftData
import Foundation

// The models of SwiftData's sample of a travel app, with attributes that outlive their models in the history.

@Model
final class TravelPlan {
  @Attribute(.preserveValueOnDeletion) var name: String
  @Attribute(.preserveValueOnDeletion) var startDate: Date
  @Attribute(.preserveValueOnDeletion) var code: UUID
  @Attribute(.preserveValueOnDeletion) var nights: Int
  @Attribute(.preserveValueOnDeletion) var price: Decimal?
  @Attribute(.preserveValueOnDeletion) var keywords: [String] = []
  var destination: String
  @Relationship(deleteRule: .cascade, inverse: \Accommodation.plan) var accommodation: Accommodation?
  @Relationship(deleteRule: .cascade, inverse: \ListItem.plan) var items: [ListItem] = []

  init(
    _ name: String, startDate: Date = Date(timeIntervalSinceReferenceDate: 700_000_000), code: UUID = UUID(),
    nights: Int = 3, destination: String = "Rome"
  ) {
    self.name = name
    self.startDate = startDate
    self.code = code
    self.nights = nights
    self.destination = destination
  }
}

@Model
final class Accommodation {
  var address: String
  var isConfirmed = false
  var plan: TravelPlan?

  init(_ address: String) { self.address = address }
}

@Model
final class ListItem {
  @Attribute(.preserveValueOnDeletion) var title: String
  var plan: TravelPlan?

  init(_ title: String) { self.title = title }
}

/// A store of travel plans, its container and contexts.
struct Travel {
  let url: URL
  let container: ModelContainer

  init(inMemory: Bool = false) throws {
    url = try TemporaryStore().url
    container = try Self.open(inMemory ? nil : url)
  }

  static func open(_ url: URL?) throws -> ModelContainer {
    try ModelContainer(
      for: TravelPlan.self,
      configurations: url.map { ModelConfiguration(url: $0) }
        ?? ModelConfiguration(isStoredInMemoryOnly: true))
  }

  func context(_ author: String? = nil) -> ModelContext {
    let context = ModelContext(container)
    context.author = author
    return context
  }

  /// Saves a plan of each name in a transaction of its own.
  @discardableResult
  func add(_ names: String..., author: String? = nil) throws -> [PersistentIdentifier] {
    let context = context(author)
    return try names.map { name in
      let plan = TravelPlan(name)
      context.insert(plan)
      try context.save()
      return plan.persistentModelID
    }
  }

  /// The whole history.
  func history() throws -> [DefaultHistoryTransaction] {
    try context().fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
  }

  func numbers(
    _ predicate: Predicate<DefaultHistoryTransaction>? = nil
  ) throws -> [Int64] {
    try context().fetchHistory(HistoryDescriptor(predicate: predicate)).map(\.transactionIdentifier)
  }
}
