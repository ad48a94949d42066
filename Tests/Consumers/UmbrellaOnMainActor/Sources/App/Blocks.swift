import CoreDataEvolution

/// Blocks written on the main actor, by every way onto a background context; all but the one that returns at once stay there.
final class Screen {
  private var count = 0

  func check(_ container: NSPersistentContainer) async throws {
    let context = container.newBackgroundContext()
    let expected = try titles(container.viewContext)
    let awaited = try await context.perform {
      MainActor.assertIsolated()
      return try self.titles(context)
    }
    let inTheBackground = try await container.performBackgroundTask { try self.titles($0) }
    let waiting = try context.performAndWait { try self.titles(context) }
    let called = await withCheckedContinuation { continuation in
      context.perform {
        let items = try? context.fetch(Item.fetchRequest())
        continuation.resume(returning: (items ?? []).map { $0.title }.sorted { $0 < $1 })
      }
    }
    let actors = try await Writer(container: container).withContext { context in
      try context.fetch(Item.fetchRequest()).map { $0.title }.sorted { $0 < $1 }
    }
    precondition(
      [awaited, inTheBackground, waiting, called, actors].allSatisfy { $0 == expected },
      "a block found something else")
    precondition(count == expected.count * 4, "a block lost a count")
  }

  /// Every closure in here is the main actor's.
  private func titles(_ context: NSManagedObjectContext) throws -> [String] {
    let titles = try context.fetch(Item.fetchRequest()).map { item in
      count += 1
      return item.title
    }
    return titles.sorted { $0 < $1 }
  }
}
