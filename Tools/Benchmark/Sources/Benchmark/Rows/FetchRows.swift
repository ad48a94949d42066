import CoreDataEvolution
import GRDB

/// Rows c, c1, c2 and d: fetching objects of which none is registered, or all are.
@MainActor
struct FetchRows {
  let workspace: Workspace
  private let store: OurStore
  private let raw: RawDatabase
  private let tuned: RawDatabase
  private let pool: DatabasePool

  init(_ workspace: Workspace) throws {
    self.workspace = workspace
    store = try workspace.ours()
    raw = workspace.raw()
    tuned = workspace.raw(.ours)
    pool = try RecordDatabase.open(workspace.rawPath)
  }

  private var count: Int { workspace.samples.itemCount }

  // MARK: Everything

  var fetchAll: [Contender] {
    [Contender(.ours) { try oursAll(Item.fetchRequest()) }] + opponentsFetchingAll
  }

  /// The main actor's context, with a domain listening, as an interface would read.
  var fetchAllAndRead: [Contender] {
    let context = store.container.viewContext
    let domain = CDEObservationDomain(container: store.container)
    return [
      Contender(.ours) {
        defer { context.reset() }
        return try withExtendedLifetime(domain) {
          try nanoseconds {
            let items = try context.fetch(Item.fetchRequest())
            check(items.count)
            var sum = 0
            for item in items { sum &+= item.readAll() }
            consume(sum)
          }
        }
      }
    ] + opponentsFetchingAll
  }

  var fetchFaults: [Contender] {
    let request = Item.fetchRequest()
    request.includesPropertyValues = false
    return [Contender(.ours) { try oursAll(request) }] + opponentsFetchingAll
  }

  var refetch: [Contender] {
    get throws {
      let context = store.container.newBackgroundContext()
      let held = try context.performAndWait { try context.fetch(Item.fetchRequest()) }
      return [
        Contender(.ours) {
          try context.performAndWait {
            try nanoseconds {
              let items = try context.fetch(Item.fetchRequest())
              check(items.count)
              consume(held)
            }
          }
        }
      ] + opponentsFetchingAll
    }
  }

  private func oursAll(_ request: NSFetchRequest<Item>) throws -> Double {
    let context = store.container.newBackgroundContext()
    return try context.performAndWait {
      try nanoseconds {
        let items = try context.fetch(request)
        check(items.count)
        consume(items)
      }
    }
  }

  private var opponentsFetchingAll: [Contender] {
    func all(_ raw: RawDatabase) -> @MainActor () -> Double {
      let statement = raw.prepare("SELECT \(RawDatabase.columns) FROM item")
      return {
        nanoseconds {
          let items = statement.items()
          check(items.count)
          consume(items)
        }
      }
    }
    let (plain, tuned) = (all(raw), all(tuned))
    return [
      Contender(.raw) { plain() },
      Contender(.rawTuned) { tuned() },
      Contender(.grdb) { try nanoseconds { consume(try pool.read { try ItemRecord.fetchAll($0) }) } },
    ]
  }

  private func check(_ found: Int) { precondition(found == count, "Fetched \(found) of \(count) items.") }

  // MARK: One category at a time

  /// A hundred categories, spread over all of them.
  private var chosen: [Int64] {
    let categories = workspace.samples.categoryCount
    return (0..<100).map { Int64(1 + $0 * 37 % categories) }
  }

  var chosenItemCount: Int {
    let chosen = chosen
    var counts = Array(repeating: 0, count: workspace.samples.categoryCount + 1)
    for item in workspace.samples.items { if let category = item.category { counts[Int(category)] += 1 } }
    return chosen.reduce(0) { $0 + counts[Int($1)] }
  }

  var fetchByCategory: [Contender] {
    get throws {
      let expected = chosenItemCount
      func check(_ found: Int) { precondition(found == expected, "Fetched \(found) of \(expected) items.") }
      func each(_ raw: RawDatabase) -> @MainActor () -> Double {
        let statement = raw.prepare("SELECT \(RawDatabase.columns) FROM item WHERE category = ?")
        return {
          nanoseconds {
            var total = 0
            for category in chosen {
              statement.bind(1, category)
              let items = statement.items()
              total += items.count
              consume(items)
            }
            check(total)
          }
        }
      }
      let (plain, tuned) = (each(raw), each(tuned))
      return [
        Contender(.ours) { try oursByCategory(check) },
        Contender(.raw) { plain() },
        Contender(.rawTuned) { tuned() },
        Contender(.grdb) {
          try nanoseconds {
            var total = 0
            for category in chosen {
              let items = try pool.read { try ItemRecord.filter(Column("category") == category).fetchAll($0) }
              total += items.count
              consume(items)
            }
            check(total)
          }
        },
      ]
    }
  }

  private func oursByCategory(_ check: (Int) -> Void) throws -> Double {
    let context = store.container.newBackgroundContext()
    return try context.performAndWait {
      let byKey = try OurStore.byKey(Category.fetchRequest(), in: context)
      let categories = chosen.map { byKey[$0]! }
      return try nanoseconds {
        var total = 0
        for category in categories {
          let request = Item.fetchRequest()
          request.predicate = NSPredicate(format: "category == %@", category)
          let items = try context.fetch(request)
          total += items.count
          consume(items)
        }
        check(total)
      }
    }
  }
}

extension NSManagedObjectID {
  /// The row's key, from the last part of the URI: `p` and the number.
  var primaryKey: Int64 {
    guard let key = Int64(uriRepresentation().lastPathComponent.dropFirst()) else {
      preconditionFailure("\(uriRepresentation()) names no stored row.")
    }
    return key
  }
}
