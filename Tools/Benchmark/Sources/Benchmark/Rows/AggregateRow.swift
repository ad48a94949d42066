import CoreDataEvolution
import Foundation

/// Row aggregates: a grouped request for dictionaries, beside the SQL that one would write by hand.
@MainActor
struct AggregateRow {
  let workspace: Workspace

  /// What a category has: the sum of a number, the number of its items, and their greatest score.
  private struct Totals {
    let category: Int64
    let sum: Int64
    let count: Int64
    let greatest: Double
  }

  var contenders: [Contender] {
    get throws {
      let store = try workspace.ours()
      let (plain, tuned) = (workspace.raw(), workspace.raw(.ours))
      return [
        Contender(.ours) { try ours(store) }, Contender(.raw) { raw(plain) },
        Contender(.rawTuned) { raw(tuned) },
      ]
    }
  }

  private func ours(_ store: OurStore) throws -> Double {
    let context = store.container.newBackgroundContext()
    return try context.performAndWait {
      let request = NSFetchRequest<NSDictionary>(entityName: "Item")
      request.resultType = .dictionaryResultType
      request.predicate = NSPredicate(format: "category != nil")
      request.propertiesToGroupBy = ["category"]
      request.propertiesToFetch = [
        "category", Self.computed("sum", "sum:", "count", .integer64AttributeType),
        Self.computed("number", "count:", "count", .integer64AttributeType),
        Self.computed("greatest", "max:", "score", .doubleAttributeType),
      ]
      return try nanoseconds {
        let found = try context.fetch(request)
        check(found.count)
        consume(found)
      }
    }
  }

  private static func computed(
    _ name: String, _ function: String, _ key: String, _ type: NSAttributeType
  ) -> NSExpressionDescription {
    let computed = NSExpressionDescription()
    computed.name = name
    computed.expression = TreeExpression(forFunction: function, arguments: [TreeExpression(forKeyPath: key)])
    computed.expressionResultType = type
    return computed
  }

  private func raw(_ raw: RawDatabase) -> Double {
    let statement = raw.prepare(
      "SELECT category, SUM(count), COUNT(count), MAX(score) FROM item WHERE category IS NOT NULL GROUP BY category"
    )
    return nanoseconds {
      var totals: [Totals] = []
      while statement.step() {
        totals.append(
          Totals(
            category: statement.integer(0), sum: statement.integer(1), count: statement.integer(2),
            greatest: statement.real(3)))
      }
      statement.reset()
      check(totals.count)
      consume(totals)
    }
  }

  private func check(_ groups: Int) {
    let categories = workspace.samples.categoryCount
    precondition(groups == categories, "There are \(groups) groups of \(categories) categories.")
  }
}
