internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  /// The dictionaries of a request. They are computed in the store and contain no unsaved changes.
  ///
  /// - Parameter rows: the values, if they were read before.
  func dictionaries(_ plan: FetchPlan, _ rows: ProjectedRows? = nil) throws -> [NSDictionary] {
    let source = try source()
    let stores = try handles(for: plan)
    // Core Data has no result then, not even one for no rows.
    if let stores, stores.isEmpty { return [] }
    return try plan.answering(source) { _ in
      let request = try DictionaryRequest(plan)
      let rows = try rows ?? source.project(request.projection, of: plan.binding, in: stores)
      return try (0..<rows.count).map { row in
        try request.dictionary(rows, row) {
          source.handle(for: $0, key: $1)
        } external: {
          try source.externalValue($0, of: $1)
        }
      }
    }
  }

  /// The number of dictionaries that a request returns.
  func dictionaryCount(_ plan: FetchPlan) throws -> Int {
    let source = try source()
    let stores = try handles(for: plan)
    if let stores, stores.isEmpty { return 0 }
    return try plan.answering(source) { _ in
      let projection = try DictionaryRequest(plan).projection
      guard projection.hasOneResultForEachRow else {
        return try source.project(projection, of: plan.binding, in: stores).count
      }
      return try source.storedCount(try plan.query(), of: plan.binding, in: stores)
    }
  }
}
