import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import CoreDataEvolution
@_spi(CDE) import CDEStore
import Foundation

extension Explanation {
  /// An index of an entity that turns a scan into a search.
  struct Suggestion: Hashable {
    let entity: String
    let properties: [String]

    private var name: String {
      "by" + properties.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And")
    }

    /// The index in the model's source.
    var xml: String {
      let elements = properties.map {
        "<fetchIndexElement property=\"\($0)\" type=\"Binary\" order=\"ascending\"/>"
      }
      return "<fetchIndex name=\"\(name)\">\(elements.joined())</fetchIndex>"
    }

    func add(to model: NSManagedObjectModel) {
      guard let description = model.entitiesByName[entity] else { return }
      let elements = properties.compactMap { description.propertiesByName[$0] }.map {
        NSFetchIndexElementDescription(property: $0, collationType: .binary)
      }
      description.indexes.append(NSFetchIndexDescription(name: name, elements: elements))
    }
  }

  /// Tries indexes on an empty file of the same model, and takes the first one with which the fetch scans less.
  ///
  /// An index of the model helps on a server as well.
  func suggestion(_ store: OpenedStore, _ entity: NSEntityDescription) throws -> Suggestion? {
    guard let scans = try scans(store, entity, with: nil) else { return nil }
    for candidate in try candidates(entity) {
      if let left = try self.scans(store, entity, with: candidate), left < scans { return candidate }
    }
    return nil
  }

  /// How many tables the fetch reads whole in a file that has an index more; nil if the model makes no file.
  private func scans(
    _ store: OpenedStore, _ entity: NSEntityDescription, with index: Suggestion?
  ) throws -> Int? {
    let model = store.model.copy() as! NSManagedObjectModel
    index?.add(to: model)
    let folder = TemporaryFolder.newURL(prefix: "cde-copy-")
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let made = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType,
        configurationName: store.container.persistentStoreDescriptions[0].configuration,
        at: folder.appendingPathComponent("empty.sqlite"),
        options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
      defer { try? coordinator.remove(made) }
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      let request = try store.request(entity, predicate: predicate, sort: sort, limit: limit)
      request.entity = model.entitiesByName[entity.name ?? ""]
      return try context.performAndWait { try context.explain(request).scans.count }
    } catch { throw ToolError(error) }
  }

  private func candidates(_ entity: NSEntityDescription) throws(ToolError) -> [Suggestion] {
    var equal: [[String]] = []
    var ranged: [[String]] = []
    if let predicate {
      do { Self.collect(try PredicateTree(format: predicate), &equal, &ranged) } catch {
        throw ToolError("The predicate can't be read: \(error.message)", .usage)
      }
    }
    func isAttribute(_ path: [String]) -> Bool { path.count == 1 && entity.attributesByName[path[0]] != nil }
    var lists: [[String]] = []
    let own = equal.filter(isAttribute).map { $0[0] }
    let ranges = ranged.filter(isAttribute).map { $0[0] }
    if !own.isEmpty || !ranges.isEmpty { lists.append(own + ranges.prefix(1)) }
    lists += own.map { [$0] } + ranges.map { [$0] }
    if let first = sort.first.map({ $0.hasPrefix("-") ? String($0.dropFirst()) : $0 }), isAttribute([first]) {
      lists.append([first])
    }
    var result = lists.map { list in
      Suggestion(
        entity: entity.name ?? "", properties: list.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
      )
    }
    // An attribute of a related object: the other entity's index, from which SQLite may come.
    for path in equal + ranged where path.count == 2 {
      if let other = entity.relationshipsByName[path[0]]?.destinationEntity,
        other.attributesByName[path[1]] != nil
      {
        result.append(Suggestion(entity: other.name ?? "", properties: [path[1]]))
      }
    }
    return result
  }

  /// The key paths that all objects of the result must have a value or a range of.
  private static func collect(_ tree: PredicateTree, _ equal: inout [[String]], _ ranged: inout [[String]]) {
    switch tree {
    case .and(let parts): for part in parts { collect(part, &equal, &ranged) }
    case .or(let parts): for part in parts { collect(part, &equal, &ranged) }
    case .comparison(let comparison) where comparison.options.isEmpty:
      for case .keyPath(let path) in [comparison.left, comparison.right] {
        switch comparison.op {
        case .equal, .in: equal.append(path)
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .beginsWith: ranged.append(path)
        default: break
        }
      }
    default: break
    }
  }
}
