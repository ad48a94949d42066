import CoreDataEvolution
import GRDB
import Foundation

/// Rows e and e1: finding objects by ID, and reading the rows of faults.
@MainActor
struct LookupRows {
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

  private var keys: [Int64] { workspace.samples.randomKeys }

  /// Random rows inside one read transaction.
  private var opponents: [Contender] {
    func look(_ raw: RawDatabase) -> @MainActor () -> Double {
      let statement = raw.prepare("SELECT \(RawDatabase.columns) FROM item WHERE id = ?")
      return {
        nanoseconds {
          raw.execute("BEGIN")
          for key in keys {
            statement.bind(1, key)
            precondition(statement.step(), "There is no item \(key).")
            consume(statement.item())
            statement.reset()
          }
          raw.execute("COMMIT")
        }
      }
    }
    let (plain, tuned) = (look(raw), look(tuned))
    return [
      Contender(.raw) { plain() },
      Contender(.rawTuned) { tuned() },
      Contender(.grdb) {
        try nanoseconds {
          try pool.read { database in
            for key in keys { consume(try ItemRecord.fetchOne(database, key: key)) }
          }
        }
      },
    ]
  }

  var registered: [Contender] {
    get throws {
      let context = store.container.newBackgroundContext()
      let (held, ids) = try context.performAndWait {
        let request = Item.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        let items = try context.fetch(request)
        var ids = keys.map { items[Int($0) - 1].objectID }
        if getenv("FOREIGN") != nil {
          ids = ids.map { context.persistentStoreCoordinator!.managedObjectID(forURIRepresentation: $0.uriRepresentation())! }
        }
        return (items, ids)
      }
      return [
        Contender(.ours) {
          context.performAndWait {
            nanoseconds {
              for id in ids { consume(context.object(with: id)) }
              consume(held)
            }
          }
        },
        plainObjects,
      ] + opponents
    }
  }

  /// Takes an object through another one, which is the least that a look-up by an ID can be.
  private var plainObjects: Contender {
    let references = workspace.samples.items.map { _ in Plain() }.map(Reference.init)
    let inOrder = keys.map { references[Int($0) - 1] }
    return Contender(.floor) {
      nanoseconds {
        for reference in inOrder { consume(Self.object(of: reference)) }
      }
    }
  }

  /// Its own call, as a look-up is: what comes back is retained.
  @inline(never)
  private static func object(of reference: Reference) -> Plain { reference.object }

  /// As large as a managed object and as an ID.
  private final class Plain {
    let words = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  }

  private final class Reference {
    let object: Plain
    let words = (0, 0, 0, 0, 0, 0)

    init(_ object: Plain) { self.object = object }
  }

  /// Each fault is fired by reading a property; every object once, in random order.
  var firingSingly: [Contender] {
    let order = shuffledKeys()
    return [
      Contender(.ours) {
        let context = store.container.newBackgroundContext()
        return try context.performAndWait {
          let faults = try faults(in: context)
          let inOrder = order.map { faults[$0]! }
          return nanoseconds {
            var sum = 0
            for item in inOrder { sum &+= item.count }
            consume(sum)
          }
        }
      }
    ] + opponents
  }

  var firingInBatches: [Contender] {
    let order = shuffledKeys()
    return [
      Contender(.ours) {
        let context = store.container.newBackgroundContext()
        return try context.performAndWait {
          let faults = try faults(in: context)
          let inOrder = order.map { faults[$0]! }
          return try nanoseconds {
            var sum = 0
            for start in stride(from: 0, to: inOrder.count, by: 100) {
              let batch = Array(inOrder[start..<min(start + 100, inOrder.count)])
              let request = Item.fetchRequest()
              request.predicate = NSPredicate(format: "SELF IN %@", batch)
              request.returnsObjectsAsFaults = false
              _ = try context.fetch(request)
              for item in batch { sum &+= item.count }
            }
            consume(sum)
          }
        }
      }
    ] + opponents
  }

  private nonisolated func faults(in context: NSManagedObjectContext) throws -> [Int64: Item] {
    let request = Item.fetchRequest()
    request.includesPropertyValues = false
    return try OurStore.byKey(request, in: context)
  }

  private func shuffledKeys() -> [Int64] {
    var generator = SequenceGenerator(seed: 31)
    var order = (1...workspace.samples.itemCount).map(Int64.init)
    for index in stride(from: order.count - 1, to: 0, by: -1) {
      order.swapAt(index, generator.below(index + 1))
    }
    return order
  }
}
