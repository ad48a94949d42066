internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  /// The dictionaries of a request. They are computed in the store and contain no unsaved changes.
  func dictionaries(_ plan: FetchPlan) throws -> [NSDictionary] {
    if plan.stores != nil, try !plan.isAsked(of: coordinator()) { return [] }
    return try dictionaries(plan, nil)
  }

  /// - Parameter rows: the values, if they were read before.
  func dictionaries(_ plan: FetchPlan, _ rows: ProjectedRows?) throws -> [NSDictionary] {
    let source = try source()
    return try plan.answering(source) { handle in
      let request = try DictionaryRequest(plan)
      let rows = try rows ?? source.store(of: handle).project(request.projection)
      return try (0..<rows.count).map { row in
        try request.dictionary(rows, row, of: handle) { try source.externalValue($0, of: $1) }
      }
    }
  }

  /// The number of dictionaries that a request returns.
  func dictionaryCount(_ plan: FetchPlan) throws -> Int {
    let source = try source()
    return try plan.answering(source) { handle in
      let projection = try DictionaryRequest(plan).projection
      guard projection.hasOneResultForEachRow else {
        return try source.store(of: handle).project(projection).count
      }
      return try source.store(of: handle).count(try plan.query())
    }
  }
}
