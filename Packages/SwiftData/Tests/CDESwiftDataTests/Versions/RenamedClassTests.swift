import CDESwiftData
import Foundation
import Synchronization
import Testing

@Suite("Classes that move between versions", .serialized)
struct RenamedClassTests {
  private func oldStore() throws -> URL {
    let url = try TemporaryStore().url
    let context = try Garden.open(ShopV1.self, url)
    let label = ShopLabel(text: "new")
    for name in ["tea", "rice"] {
      let item = ShopV1.Item(name: name, price: name.count)
      item.label = label.text
      context.insert(item)
    }
    context.insert(label)
    try context.save()
    return url
  }

  @Test("Code carries the values of a class that gets another name")
  func renamed() throws {
    let context = try Garden.open(ShopV2.self, oldStore(), ShopPlan.self)
    let products = try context.fetch(FetchDescriptor<ShopV2.Product>(sortBy: [SortDescriptor(\.name)]))
    #expect(products.map(\.name) == ["rice", "tea"] && products.map(\.price) == [4, 3])
  }

  @Test("A class that both versions share keeps its models, and makes new ones for the container")
  func shared() throws {
    let context = try Garden.open(ShopV2.self, oldStore(), ShopPlan.self)
    #expect(try context.fetch(FetchDescriptor<ShopLabel>()).map(\.text) == ["new"])
    let label = ShopLabel(text: "sale")
    context.insert(label)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<ShopLabel>()) == 2)
  }
}

extension RenamedClassTests {
  @Test("Identifiers are equal before and after a migration to a schema that numbers its classes otherwise")
  func identifiers() throws {
    let url = try oldStore()
    var kept: [PersistentIdentifier: String] = [:]
    do {
      let context = try Garden.open(ShopV1.self, url)
      for label in try context.fetch(FetchDescriptor<ShopLabel>()) {
        kept[label.persistentModelID] = label.text
      }
    }
    // Its name comes before those of the others.
    let context = ModelContext(
      try ModelContainer(
        for: Schema([ShopV1.Item.self, ShopLabel.self, ShopAddress.self]),
        configurations: ModelConfiguration(url: url)))
    context.insert(ShopAddress())
    try context.save()
    let labels = try context.fetch(FetchDescriptor<ShopLabel>())
    #expect(labels.map { kept[$0.persistentModelID] } == ["new"])
    let id = try #require(kept.keys.first)
    #expect(labels[0].persistentModelID == id && context.model(for: id) as? ShopLabel === labels[0])
    let address = try #require(try context.fetch(FetchDescriptor<ShopAddress>()).first)
    #expect(address.persistentModelID != id)
  }
}

@Model
final class ShopAddress {
  var city = ""
  init() {}
}

@Model
final class ShopLabel {
  var text: String
  init(text: String) { self.text = text }
}

enum ShopV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, ShopLabel.self] }

  @Model
  final class Item {
    var name: String
    var price: Int
    var label: String?
    init(name: String, price: Int) {
      self.name = name
      self.price = price
    }
  }
}

enum ShopV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Product.self, ShopLabel.self] }

  @Model
  final class Product {
    var name: String
    var price: Int
    init(name: String, price: Int) {
      self.name = name
      self.price = price
    }
  }
}

enum ShopPlan: SchemaMigrationPlan {
  private static let carried = Mutex<[(String, Int)]>([])

  static var schemas: [any VersionedSchema.Type] { [ShopV1.self, ShopV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: ShopV1.self, toVersion: ShopV2.self,
        willMigrate: { context in
          let values = try context.fetch(FetchDescriptor<ShopV1.Item>()).map { ($0.name, $0.price) }
          carried.withLock { $0 = values }
        },
        didMigrate: { context in
          for (name, price) in carried.withLock({ $0 }) {
            context.insert(ShopV2.Product(name: name, price: price))
          }
          try context.save()
        })
    ]
  }
}
