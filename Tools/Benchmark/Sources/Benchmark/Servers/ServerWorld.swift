#if PostgreSQL
  import CDEPostgreSQL
  import CDEPostgreSQLStore
  @_spi(CDE) import CDEStore
  import CoreDataEvolution

  /// A server's database with the samples in this library's tables and in those of the code by hand.
  @MainActor
  final class ServerWorld {
    let samples: Samples
    let url: String
    private let isAlone: Bool
    private var lastSchema = 0

    /// The schema with the filled store of ours. That of the code by hand is "raw".
    private static let filled = "filled"

    /// - Parameters:
    ///   - url: of a server that the run may do anything with.
    ///   - isAlone: whether the code by hand is left out.
    init(_ url: String, samples: Samples, isAlone: Bool) throws {
      (self.url, self.samples, self.isAlone) = (url, samples, isAlone)
      let raw = RawServer(url)
      raw.makeTables()
      raw.prepareInsert()
      raw.insert(samples.items)
      raw.execute("DROP SCHEMA IF EXISTS \(Self.filled) CASCADE")
      let container = try container(Self.filled)
      let context = container.newBackgroundContext()
      try context.performAndWait {
        let categories = OurStore.makeCategories(samples, in: context)
        // In slices, so that the keys ascend with the samples.
        for start in stride(from: 0, to: samples.itemCount, by: 1000) {
          for values in samples.items[start..<min(start + 1000, samples.itemCount)] {
            _ = Item(values, categories: categories, context: context)
          }
          try context.save()
        }
      }
      try close(container)
      raw.execute("VACUUM ANALYZE")
    }

    func compete(_ contenders: [Contender], rounds: Int, per count: Int) async throws -> Rounds {
      try await Rounds.measure(
        isAlone ? contenders.filter { $0.side == .ours } : contenders, rounds: rounds, per: count)
    }

    /// A schema without a store. The former one is dropped.
    func emptySchema() -> String {
      let raw = RawServer(url)
      raw.execute("DROP SCHEMA IF EXISTS empty\(lastSchema) CASCADE")
      lastSchema += 1
      // A former run over the same server may have left it.
      raw.execute("DROP SCHEMA IF EXISTS empty\(lastSchema) CASCADE")
      return "empty\(lastSchema)"
    }

    /// A container as each process has one.
    ///
    /// - Parameter options: options of the store that are on.
    func container(
      _ schema: String = ServerWorld.filled, _ options: [String] = []
    ) throws -> NSPersistentContainer {
      let container = NSPersistentContainer(name: "Benchmark", managedObjectModel: OurStore.model)
      let description = NSPersistentStoreDescription(url: URL(string: url)!)
      description.type = CDEPostgreSQLStoreType
      description.setOption(schema as NSString, forKey: CDEPostgreSQLSchemaOption)
      description.setOption(12 as NSNumber, forKey: CDEPostgreSQLPoolSizeOption)
      for option in options { description.setOption(true as NSNumber, forKey: option) }
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      return container
    }

    func close(_ container: NSPersistentContainer) throws {
      let coordinator = container.persistentStoreCoordinator
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // MARK: The store alone

    /// Items and categories, as the model has them.
    private static let schema = StoreSchema(entities: [
      StoreEntity(
        name: "Category", attributes: [StoreAttribute(name: "name", type: .string)],
        relationships: [
          StoreRelationship(name: "items", destination: "Item", inverse: "category", isToMany: true)
        ]),
      StoreEntity(
        name: "Item",
        attributes: [
          StoreAttribute(name: "title", type: .string), StoreAttribute(name: "count", type: .integer64),
          StoreAttribute(name: "score", type: .double), StoreAttribute(name: "createdAt", type: .date),
          StoreAttribute(name: "note", type: .string), StoreAttribute(name: "uuid", type: .uuid),
        ],
        relationships: [
          StoreRelationship(name: "category", destination: "Category", inverse: "items", isToMany: false)
        ]),
    ])

    /// A store of the entities alone, with the categories.
    func emptyStore() throws -> PostgreSQLStore {
      let configuration = PostgreSQLConfiguration(url: url, schema: emptySchema())
      let store = try PostgreSQLStore(schema: Self.schema, configuration: configuration)
      let layout = store.schema.entity(named: "Category")!.layout
      var builder = RowBatchBuilder(layout: layout, rows: samples.categoryCount)
      let name = layout.cells.firstIndex { $0.name == "name" }!
      for (number, text) in samples.categoryNames.enumerated() {
        builder.beginRow(key: -Int64(number + 1), version: 1)
        builder.setString(name, text)
      }
      var transaction = StoreTransaction()
      transaction.inserted = [builder.finish()]
      _ = try store.commit(transaction)
      return store
    }

    /// The items as new rows.
    func newItems(of store: PostgreSQLStore) -> StoreTransaction {
      let layout = store.schema.entity(named: "Item")!.layout
      let cells = ItemCells(layout)
      var builder = RowBatchBuilder(layout: layout, rows: samples.itemCount)
      for item in samples.items {
        builder.beginRow(key: -item.id, version: 1)
        builder.setString(cells.title, item.title)
        builder.setInteger(cells.count, Int64(item.count))
        builder.setReal(cells.score, item.score)
        builder.setReal(cells.createdAt, item.createdAt.timeIntervalSinceReferenceDate)
        if let note = item.note { builder.setString(cells.note, note) }
        withUnsafeBytes(of: item.uuid.uuid) { builder.setBytes(cells.uuid, $0) }
        if let category = item.category { builder.setInteger(cells.category, category) }
      }
      var transaction = StoreTransaction()
      transaction.inserted = [builder.finish()]
      return transaction
    }
  }

  /// The places of an item's values in its rows.
  struct ItemCells {
    let title, count, score, createdAt, note, uuid, category: CellIndex

    init(_ layout: RowLayout) {
      func cell(_ name: String) -> CellIndex { layout.cells.firstIndex { $0.name == name }! }
      title = cell("title")
      count = cell("count")
      score = cell("score")
      createdAt = cell("createdAt")
      note = cell("note")
      uuid = cell("uuid")
      category = layout.cells.indices.first {
        layout.cells[$0].role == .key && layout.cells[$0].name.hasPrefix("category")
      }!
    }

    @inline(__always)
    func item(_ batch: RowBatch, _ row: Int) -> ItemValues {
      ItemValues(
        id: batch.key(row), title: batch.string(row, title)!, count: Int(batch.integer(row, count)!),
        score: batch.real(row, score)!,
        createdAt: Date(timeIntervalSinceReferenceDate: batch.real(row, createdAt)!),
        note: batch.string(row, note),
        uuid: UUID(uuid: batch.bytes(row, uuid).loadUnaligned(as: uuid_t.self)),
        category: batch.integer(row, category))
    }
  }
#endif
