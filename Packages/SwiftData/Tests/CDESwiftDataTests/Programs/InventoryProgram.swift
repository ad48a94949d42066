import CDESwiftData
import Testing

@Model
final class Product {
  #Unique<Product>([\.sku], [\.vendor, \.vendorCode])

  @Attribute(.preserveValueOnDeletion) var sku: String
  var vendor: String
  var vendorCode: Int
  var stock: Int

  init(sku: String, vendor: String, vendorCode: Int, stock: Int = 0) {
    self.sku = sku
    self.vendor = vendor
    self.vendorCode = vendorCode
    self.stock = stock
  }
}

actor Warehouse: ModelActor {
  nonisolated let modelContainer: ModelContainer
  nonisolated let modelExecutor: any ModelExecutor

  init(container: ModelContainer) {
    modelContainer = container
    let context = ModelContext(container)
    context.autosaveEnabled = false
    modelExecutor = DefaultSerialModelExecutor(modelContext: context)
  }

  func receive(_ amount: Int, of id: PersistentIdentifier) throws -> Int {
    guard let product = self[id, as: Product.self] else { return 0 }
    product.stock += amount
    try modelContext.save()
    return product.stock
  }

  func add(_ sku: String, _ vendor: String, _ code: Int) throws -> PersistentIdentifier {
    let product = Product(sku: sku, vendor: vendor, vendorCode: code)
    modelContext.insert(product)
    try modelContext.save()
    return product.persistentModelID
  }
}

@Suite("An inventory that several actors change")
struct InventoryProgram {
  @Test("Identifiers cross actors, and each actor has its instance")
  func actors() async throws {
    let container = try ModelContainer(
      for: Product.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let (north, south) = (Warehouse(container: container), Warehouse(container: container))
    let id = try await north.add("A-1", "ACME", 1)
    #expect(id.entityName == "Product")
    #expect(id.storeIdentifier != nil)
    let results = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<20 {
        group.addTask {
          try await number % 2 == 0 ? north.add("B-\(number)", "ACME", 100 + number).hashValue : 1
        }
      }
      return try await group.reduce(0) { sum, _ in sum + 1 }
    }
    #expect(results == 20)
    #expect(try await south.receive(3, of: id) == 3)
    #expect(try await north.receive(4, of: id) == 7)
    // The vendor's code is unique as well: the later product takes the place of the earlier one.
    _ = try await north.add("C-1", "X", 1)
    _ = try await north.add("C-2", "X", 1)
    let context = ModelContext(container)
    let ofX = try context.fetch(FetchDescriptor<Product>(predicate: #Predicate { $0.vendor == "X" }))
    #expect(ofX.map(\.sku) == ["C-2"])
  }

  @Test("A registered model is found without reading, others are made")
  func registered() throws {
    let container = try ModelContainer(
      for: Product.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let product = Product(sku: "A", vendor: "V", vendorCode: 1, stock: 5)
    let early = product.persistentModelID
    context.insert(product)
    try context.save()
    let id = product.persistentModelID
    #expect(early != id)
    #expect(context.registeredModel(for: id) as Product? === product)
    let other = ModelContext(container)
    #expect(other.registeredModel(for: id) as Product? == nil)
    let found = try #require(other.model(for: id) as? Product)
    #expect(found.stock == 5)
    #expect(other.registeredModel(for: id) as Product? === found)
    #expect(found.persistentModelID == product.persistentModelID)
    let ids: Set<PersistentIdentifier> = [id]
    let some = FetchDescriptor<Product>(predicate: #Predicate { ids.contains($0.persistentModelID) })
    #expect(try context.fetchCount(some) == 1)
    #expect(try context.fetchIdentifiers(FetchDescriptor<Product>()) == [id])
  }
}
