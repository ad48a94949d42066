import CoreDataEvolution
import GRDB

/// Rows g: the items of every category.
@MainActor
struct RelationshipRows {
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

  private struct CategoryValues {
    var id: Int64
    var name: String
  }

  var cold: [Contender] {
    [
      Contender(.ours) {
        let context = store.container.newBackgroundContext()
        return try context.performAndWait {
          try nanoseconds { check(Self.walk(try context.fetch(Category.fetchRequest()))) }
        }
      }
    ] + oneByOne
  }

  var prefetched: [Contender] {
    let request = Category.fetchRequest()
    request.relationshipKeyPathsForPrefetching = ["items"]
    func group(_ raw: RawDatabase) -> @MainActor () -> Double {
      let categories = raw.prepare("SELECT id,name FROM category")
      // The plus keeps the planner from the index: reading the table in order is faster.
      let items = raw.prepare("SELECT \(RawDatabase.columns) FROM item WHERE +category IS NOT NULL")
      return {
        nanoseconds {
          let owners = Self.categories(categories)
          var members = [Int64: [ItemValues]](minimumCapacity: owners.count)
          while items.step() {
            let item = items.item()
            members[item.category!, default: []].append(item)
          }
          items.reset()
          consume((owners, members))
        }
      }
    }
    let (plain, tuned) = (group(raw), group(tuned))
    return [
      Contender(.ours) {
        let context = store.container.newBackgroundContext()
        return try context.performAndWait {
          try nanoseconds { check(Self.walk(try context.fetch(request))) }
        }
      },
      Contender(.raw) { plain() },
      Contender(.rawTuned) { tuned() },
      Contender(.grdb) {
        try nanoseconds {
          let request = CategoryRecord.including(all: CategoryRecord.items.forKey("items"))
          consume(try pool.read { try FilledCategory.fetchAll($0, request) })
        }
      },
    ]
  }

  var warm: [Contender] {
    get throws {
      let context = store.container.newBackgroundContext()
      let categories = try context.performAndWait {
        let categories = try context.fetch(Category.fetchRequest())
        check(Self.walk(categories))
        return categories
      }
      return [
        Contender(.ours) {
          context.performAndWait {
            nanoseconds { check(Self.walk(categories)) }
          }
        }
      ] + oneByOne
    }
  }

  /// Reads the relationship of each owner.
  private nonisolated static func walk(_ categories: [Category]) -> Int {
    var total = 0
    for category in categories {
      let items = category.items
      total += items.count
      consume(items)
    }
    return total
  }

  private var oneByOne: [Contender] {
    func each(_ raw: RawDatabase) -> @MainActor () -> Double {
      let categories = raw.prepare("SELECT id,name FROM category")
      let items = raw.prepare("SELECT \(RawDatabase.columns) FROM item WHERE category = ?")
      return {
        nanoseconds {
          raw.execute("BEGIN")
          var total = 0
          for category in Self.categories(categories) {
            items.bind(1, category.id)
            let members = items.items()
            total += members.count
            consume(members)
          }
          raw.execute("COMMIT")
          check(total)
        }
      }
    }
    let (plain, tuned) = (each(raw), each(tuned))
    return [
      Contender(.raw) { plain() },
      Contender(.rawTuned) { tuned() },
      Contender(.grdb) {
        try nanoseconds {
          try pool.read { database in
            for category in try CategoryRecord.fetchAll(database) {
              consume(try category.request(for: CategoryRecord.items).fetchAll(database))
            }
          }
        }
      },
    ]
  }

  private static func categories(_ statement: RawStatement) -> [CategoryValues] {
    var categories: [CategoryValues] = []
    while statement.step() {
      categories.append(CategoryValues(id: statement.integer(0), name: statement.text(1)))
    }
    statement.reset()
    return categories
  }

  private nonisolated func check(_ found: Int) {
    let expected = workspace.samples.filedCount
    precondition(found == expected, "Walked over \(found) of \(expected) items.")
  }
}
