@_spi(CDE) import CDESQLiteStore
import CDEStore
import CoreDataEvolution
import Foundation

/// Row child-save: what a child's save to its parent takes, beside a plain save without the store's part of it.
@MainActor
struct ChildSaveRow {
  let workspace: Workspace

  private static let changes = 10_000

  static func count(_ workspace: Workspace) -> Int { min(changes, workspace.samples.itemCount) }

  private var items: ArraySlice<ItemValues> { workspace.samples.items.prefix(Self.count(workspace)) }

  var contenders: [Contender] {
    [
      Contender(.ours) {
        try saving { context in
          let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
          child.parent = context
          return child
        }
      },
      Contender(.reference) { try saving { $0 } - storing() },
    ].map { $0.restartingSQLite() }
  }

  /// - Parameter context: makes the context that saves, given one that saves to the store.
  private func saving(_ context: (NSManagedObjectContext) -> NSManagedObjectContext) throws -> Double {
    let store = try OurStore(at: workspace.emptyPath("child-save.sqlite"))
    let plain = store.container.newBackgroundContext()
    let ids = try plain.performAndWait {
      let categories = OurStore.makeCategories(workspace.samples, in: plain)
      try plain.save()
      return categories.map(\.objectID)
    }
    let saving = context(plain)
    let time = try saving.performAndWait {
      let categories = ids.map { id in
        guard let category = saving.object(with: id) as? Category else {
          preconditionFailure("\(id) is no category.")
        }
        return category
      }
      for values in items { _ = Item(values, categories: categories, context: saving) }
      return try nanoseconds { try saving.save() }
    }
    if saving !== plain {
      let inserted = plain.performAndWait { plain.insertedObjects.count }
      precondition(inserted == items.count, "The parent got \(inserted) of \(items.count) objects.")
    }
    try store.close()
    return time
  }

  // MARK: The store alone

  private static let schema = StoreSchema(entities: [
    StoreEntity(
      name: "Item",
      attributes: [
        StoreAttribute(name: "title", type: .string), StoreAttribute(name: "count", type: .integer64),
        StoreAttribute(name: "score", type: .double), StoreAttribute(name: "createdAt", type: .date),
        StoreAttribute(name: "note", type: .string, isOptional: true),
        StoreAttribute(name: "uuid", type: .uuid),
      ],
      relationships: [
        StoreRelationship(name: "category", destination: "Category", inverse: "items", isToMany: false)
      ]),
    StoreEntity(
      name: "Category", attributes: [StoreAttribute(name: "name", type: .string)],
      relationships: [
        StoreRelationship(name: "items", destination: "Item", inverse: "category", isToMany: true)
      ]),
  ])

  /// What the store takes to write the same rows.
  private func storing() throws -> Double {
    let store = try SQLiteStore(
      schema: Self.schema,
      configuration: SQLiteStore.Configuration(
        location: .file(path: try workspace.emptyPath("child-save-store.sqlite").path)))
    var categories = RowBatchBuilder(
      layout: store.schema.entity(named: "Category")!.layout, rows: workspace.samples.categoryCount)
    for (index, name) in workspace.samples.categoryNames.enumerated() {
      categories.beginRow(key: -Int64(index + 1), version: 1)
      categories.setString(categories.layout.cells.startIndex, name)
    }
    var transaction = StoreTransaction()
    transaction.inserted = [categories.finish()]
    _ = try store.commit(transaction)
    transaction.inserted = [rows(store.schema.entity(named: "Item")!.layout)]
    let time = try nanoseconds { _ = try store.commit(transaction) }
    try store.close()
    return time
  }

  private func rows(_ layout: RowLayout) -> RowBatch {
    var builder = RowBatchBuilder(layout: layout, rows: items.count)
    for (index, item) in items.enumerated() {
      builder.beginRow(key: -Int64(index + 1), version: 1)
      for cell in layout.cells.indices {
        switch layout.cells[cell].name {
        case "title": builder.setString(cell, item.title)
        case "count": builder.setInteger(cell, Int64(item.count))
        case "score": builder.setReal(cell, item.score)
        case "createdAt": builder.setReal(cell, item.createdAt.timeIntervalSinceReferenceDate)
        case "note": if let note = item.note { builder.setString(cell, note) } else { builder.setNull(cell) }
        case "uuid": withUnsafeBytes(of: item.uuid.uuid) { builder.setBytes(cell, $0) }
        default:
          if let key = item.category { builder.setInteger(cell, key) } else { builder.setNull(cell) }
        }
      }
    }
    return builder.finish()
  }
}
