import CDEManagedModel
import CDEModelRuntime
import Foundation
import Synchronization

/// Which objects a page lists, and in which order.
public struct StudioQuery: Hashable, Sendable {
  public var entity: String
  /// A condition as NSPredicate's format strings write it; empty for none.
  public var predicate = ""
  /// Key paths; a minus before one means descending.
  public var sort: [String] = []
  /// An object and the name of its relationship, of which only the members are listed: `Person/p1.books`.
  public var owner: String?
  /// Whether objects of sub-entities are left out.
  var isExact = false

  public init(entity: String) { self.entity = entity }

  init(entity: String, isExact: Bool) {
    self.entity = entity
    self.isExact = isExact
  }

  /// The query as a page shows it.
  var text: String {
    var parts = [entity]
    if let owner { parts.append("of \(owner)") }
    if !predicate.isEmpty { parts.append("where \(predicate)") }
    if !sort.isEmpty { parts.append("sort \(sort.joined(separator: ", "))") }
    return parts.joined(separator: " ")
  }

  func request(_ store: OpenedStore) throws -> NSFetchRequest<NSManagedObject> {
    let description = try store.entity(named: entity)
    let condition = predicate.trimmingCharacters(in: .whitespacesAndNewlines)
    let request = try store.request(
      description, predicate: condition.isEmpty ? nil : condition, sort: sort)
    request.includesSubentities = !isExact
    let limits = [try owner.map { try members($0, store) }, request.predicate].compactMap { $0 }
    if limits.count > 1 {
      request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: limits)
    } else {
      request.predicate = limits.first
    }
    return request
  }

  /// The condition for the members of a relationship.
  private func members(_ text: String, _ store: OpenedStore) throws -> NSPredicate {
    let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2 else {
      throw ToolError("\(text) names no relationship. Write Entity/p1.relationship.", .usage)
    }
    let id = try store.objectID(parts[0])
    guard let relationship = id.entity.relationshipsByName[parts[1]] else {
      throw ToolError("\(id.entity.name ?? "") has no relationship \(parts[1]).", .usage)
    }
    if let inverse = relationship.inverseRelationship {
      return NSPredicate(format: inverse.isToMany ? "ANY %K == %@" : "%K == %@", inverse.name, id)
    }
    let ids = try store.readAnew { context in
      try context.existingObject(with: id).objectIDs(forRelationshipNamed: relationship.name)
    }
    return NSPredicate(format: "SELF IN %@", ids)
  }
}

/// The objects of a query in their order. Their keys are read once, 8 bytes for each object, so that each page costs the same.
final class StudioListing: Sendable {
  /// The rows of one page, and of one batch.
  static let pageSize = 100

  let query: StudioQuery
  private let context: NSManagedObjectContext
  private let found = Found()
  private let whole = Atomic<Bool>(false)

  private final class Found: @unchecked Sendable {
    // Guard: used on the isolation of the listing's context only.
    var objects: FetchResultsCollection<NSManagedObject>?
  }

  init(_ query: StudioQuery, _ store: OpenedStore) {
    self.query = query
    context = store.container.newBackgroundContext()
  }

  /// Whether the keys are read.
  var isWhole: Bool { whole.load(ordering: .acquiring) }

  /// Calls a closure with the objects of a page and the number of all objects. Reads the keys first, if that has not happened.
  func page<Value>(
    at start: Int, limit: Int, _ store: OpenedStore, _ log: QueryLog,
    _ body: (NSManagedObjectContext, [NSManagedObject], Int) throws -> Value
  ) throws -> Value {
    do {
      return try context.performAndWait {
        let objects = try found.objects ?? read(store, log)
        let page = (0..<objects.count).dropFirst(start).prefix(limit).map { objects[$0] }
        return try body(context, page, objects.count)
      }
    } catch { throw ToolError(error) }
  }

  private func read(_ store: OpenedStore, _ log: QueryLog) throws -> FetchResultsCollection<NSManagedObject> {
    let request = try query.request(store)
    request.relationshipKeyPathsForPrefetching = request.entity?.namedRelationships
    if query.sort.isEmpty, let column = request.entity?.unindexedAttribute {
      // Without an order SQLite may read the keys from an index, in the index's order. With a column that no index has, it reads the
      // table, whose order is that of the keys.
      let all = NSPredicate(format: "%K == nil OR %K != nil", column, column)
      request.predicate = NSCompoundPredicate(
        andPredicateWithSubpredicates: [all] + (request.predicate.map { [$0] } ?? []))
    }
    let objects = try log.timing("keys of \(query.text)", query) {
      try context.fetch(request, batchSize: Self.pageSize)
    }
    found.objects = objects
    whole.store(true, ordering: .releasing)
    return objects
  }
}

extension NSEntityDescription {
  /// The relationships whose objects a row names.
  var namedRelationships: [String] { shownRelationships.filter { !$0.isToMany }.map(\.name) }

  /// An attribute that is in no index and in no uniqueness constraint of the entity and its parents.
  fileprivate var unindexedAttribute: String? {
    var taken: Set<String> = []
    var entity: NSEntityDescription? = self
    while let here = entity {
      taken.formUnion(here.indexes.flatMap { $0.elements.compactMap { $0.property?.name } })
      for constraint in here.uniquenessConstraints {
        taken.formUnion(
          constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name })
      }
      entity = here.superentity
    }
    return attributesByName.values.filter {
      !$0.isTransient && !$0.isIndexed && !taken.contains($0.name)
        && ![.compositeAttributeType, .transformableAttributeType, .binaryDataAttributeType].contains(
          $0.attributeType)
    }.map(\.name).min()
  }
}
