import CoreDataEvolution
import GRDB

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
      // The IDs are made in the order of the look-ups: the opponents' keys lie one behind the other as well.
      let (held, ids) = try context.performAndWait {
        let byKey = try OurStore.byKey(Item.fetchRequest(), in: context)
        return (byKey, keys.map { byKey[$0]!.objectID })
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
    let objects = workspace.samples.items.map { _ in Plain() }
    var references: [Int64: Reference] = [:]
    let inOrder = keys.map { key in
      let known = references[key] ?? Reference(objects[Int(key) - 1])
      references[key] = known
      return known
    }
    return Contender(.floor) {
      nanoseconds {
        for reference in inOrder {
          // The result of a look-up is retained. Without this line the optimiser removes that, since the result is not used.
          let object = Unmanaged.passUnretained(reference.object).retain()
          consume(object)
          object.release()
        }
      }
    }
  }

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

  /// The same with and without a record of the profile.
  var firingProfiled: [Contender] {
    let order = shuffledKeys()
    func firing() throws -> Double {
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
    return [
      Contender(.ours) {
        CDEProfile.start()
        defer { CDEProfile.stop() }
        return try firing()
      },
      Contender(.reference) { try firing() },
    ]
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
