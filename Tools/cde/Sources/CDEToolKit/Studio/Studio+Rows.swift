import CDEManagedModel
import CDEModelRuntime
import Foundation

extension Studio {
  /// A page of rows. The first page is read by itself, so that it does not wait for the keys of all objects.
  ///
  /// - Parameters:
  ///   - query: which objects, in which order.
  ///   - start: the number of rows before the page.
  ///   - limit: the greatest number of rows.
  /// - Returns: `rows`, each a list that begins with the ID; `total`, if it is known; and `whole`: whether the places are those of the
  ///   list of all keys. Without an order the first page may show other rows before.
  public func rows(_ query: StudioQuery, at start: Int = 0, limit: Int = 100) throws
    -> JSONValue
  {
    let state = try state()
    let listing = listing(query, state)
    if start <= 0, !listing.isWhole { return try firstRows(query, limit, state) }
    let start = max(0, start)
    return try log.timing(query.text, query) {
      try listing.page(at: start, limit: limit, state.store, log) { context, objects, total in
        state.counts.withLock { $0[query] = total }
        return try answer(objects, query, at: start, total: total, isWhole: true, state, context)
      }
    }
  }

  /// The number of rows. Begins to read the keys of all objects, if there are more pages than the first.
  public func count(_ query: StudioQuery) throws -> JSONValue {
    let state = try state()
    let count = try count(query, state)
    let listing = listing(query, state)
    if count > StudioListing.pageSize, !listing.isWhole {
      let log = log
      DispatchQueue.global(qos: .utility).async {
        // A page tells the error.
        try? listing.page(at: 0, limit: 0, state.store, log) { _, _, _ in }
      }
    }
    return .object([.init("state", .int(state.number)), .init("count", .int(count))])
  }

  func count(_ query: StudioQuery, _ state: StudioState) throws -> Int {
    if let known = state.counts.withLock({ $0[query] }) { return known }
    let request = try query.request(state.store)
    let count = try log.timing("count \(query.text)", query) {
      try state.store.readAnew { try $0.count(for: request) }
    }
    state.counts.withLock { $0[query] = count }
    return count
  }

  private func listing(_ query: StudioQuery, _ state: StudioState) -> StudioListing {
    state.listings.withLock { listings in
      let listing: StudioListing
      if let place = listings.firstIndex(where: { $0.query == query }) {
        listing = listings.remove(at: place)
      } else {
        listing = StudioListing(query, state.store)
      }
      listings.append(listing)
      // Of a million objects a list takes 8 megabytes.
      if listings.count > 8 { listings.removeFirst() }
      return listing
    }
  }

  private func firstRows(_ query: StudioQuery, _ limit: Int, _ state: StudioState) throws -> JSONValue {
    let request = try query.request(state.store)
    request.fetchLimit = limit + 1
    request.returnsObjectsAsFaults = false
    request.relationshipKeyPathsForPrefetching = request.entity?.namedRelationships
    return try log.timing(query.text, query) {
      try state.store.readAnew { context in
        let objects = try context.fetch(request)
        let isAll = objects.count <= limit
        if isAll { state.counts.withLock { $0[query] = objects.count } }
        let total: Int? = isAll ? objects.count : state.counts.withLock { $0[query] }
        return try answer(
          Array(objects.prefix(limit)), query, at: 0, total: total, isWhole: isAll, state, context)
      }
    }
  }

  // MARK: Rows

  private func answer(
    _ objects: [NSManagedObject], _ query: StudioQuery, at start: Int, total: Int?, isWhole: Bool,
    _ state: StudioState, _ context: NSManagedObjectContext
  ) throws -> JSONValue {
    let entity = try state.store.entity(named: query.entity)
    let columns =
      entity.shownAttributes(state.store.names) as [NSPropertyDescription] + entity.shownRelationships
    let sizes = try Self.sizes(objects, columns, entity, context)
    let rows = objects.map { object -> JSONValue in
      let cells = columns.map { column -> JSONValue in
        if let relationship = column as? NSRelationshipDescription, relationship.isToMany {
          return .int(sizes[object.objectID]?[relationship.name] ?? 0)
        }
        let cell = RowListing.cell(of: object, column, state.store)
        if column is NSRelationshipDescription { return cell.json }
        return cell.json == .null ? .null : .string(Self.shortened(cell.text))
      }
      return .array([.string(ShortID.text(object.objectID))] + cells)
    }
    return .object([
      .init("state", .int(state.number)), .init("at", .int(start)), .init("whole", .bool(isWhole)),
      .init("total", total.map { .int($0) } ?? .null), .init("rows", .array(rows)),
    ])
  }

  static func shortened(_ text: String, to limit: Int = 200) -> String {
    text.utf8.count <= limit || text.count <= limit ? text : text.prefix(limit) + "…"
  }

  /// The sizes of the to-many relationships, for all objects in one query.
  private static func sizes(
    _ objects: [NSManagedObject], _ columns: [NSPropertyDescription], _ entity: NSEntityDescription,
    _ context: NSManagedObjectContext
  ) throws -> [NSManagedObjectID: [String: Int]] {
    let names = columns.compactMap { ($0 as? NSRelationshipDescription)?.isToMany == true ? $0.name : nil }
    if names.isEmpty || objects.isEmpty { return [:] }
    let request = NSFetchRequest<NSDictionary>()
    request.entity = entity
    request.resultType = .dictionaryResultType
    request.predicate = NSPredicate(format: "SELF IN %@", objects.map(\.objectID))
    request.propertiesToFetch = ["objectID"] + names.map { "\($0).@count" }
    var result: [NSManagedObjectID: [String: Int]] = [:]
    for row in try context.fetch(request) {
      guard let id = row["objectID"] as? NSManagedObjectID else { continue }
      result[id] = Dictionary(
        uniqueKeysWithValues: names.map { ($0, (row["\($0).@count"] as? NSNumber)?.intValue ?? 0) })
    }
    return result
  }
}
