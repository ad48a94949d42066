import CoreDataEvolution
import Observation

/// A plain class with the property that the rows of models without a context access.
@Observable
final class PlainPiece {
  var count = 0
}

/// What stands beside SwiftData's layer: the same model as `@PersistentModel`, observed. In a file of its own, because the names of
/// both layers clash.
@MainActor
struct SwiftDataReferences {
  private let store: OurStore
  private let domain: CDEObservationDomain
  private let repetitions: Int
  private let count: Int

  init(_ workspace: Workspace) throws {
    store = try workspace.oursCopy()
    domain = CDEObservationDomain(container: store.container)
    repetitions = SwiftDataRows.accesses(workspace)
    count = workspace.samples.itemCount
  }

  private func item() throws -> Item {
    let request = Item.fetchRequest()
    request.fetchLimit = 1
    return try store.container.viewContext.fetch(request)[0]
  }

  var numberRead: Contender {
    get throws {
      let item = try item()
      return time { _ in item.count }
    }
  }

  var numberWrite: Contender {
    get throws {
      let item = try item()
      return time {
        item.count = $0; return 0
      }
    }
  }

  var textRead: Contender {
    get throws {
      let item = try item()
      return time { _ in item.title.utf8.count }
    }
  }

  var textWrite: Contender {
    get throws {
      let item = try item()
      let texts = ["A title of some length", "Another title of some length"]
      return time {
        item.title = texts[$0 & 1]; return 0
      }
    }
  }

  var fetch: Contender {
    let context = store.container.viewContext
    return Contender(.reference) { [domain, count] in
      defer { context.reset() }
      return try withExtendedLifetime(domain) {
        try nanoseconds {
          let items = try context.fetch(Item.fetchRequest())
          precondition(items.count == count, "Fetched \(items.count) of \(count) items.")
          var sum = 0
          for item in items { sum &+= item.readAll() }
          consume(sum)
        }
      }
    }
  }

  static func insert(_ workspace: Workspace) -> Contender {
    let rows = InsertRows(workspace: workspace, batch: workspace.samples.itemCount)
    return Contender(.reference) { try rows.ours(NSPersistentHistoryTrackingKey) }
  }

  @inline(__always)
  private func time(_ body: @escaping @MainActor (Int) -> Int) -> Contender {
    Contender(.reference) { [repetitions, domain] in
      withExtendedLifetime(domain) {
        nanoseconds {
          var sum = 0
          for number in 0..<repetitions { sum &+= body(number) }
          consume(sum)
        }
      }
    }
  }
}
