import CoreDataEvolution
import PackageModel

/// An object that is looked up by a name no other one has.
protocol Named: PersistentEntity {
  var name: String { get set }
  init(context: NSManagedObjectContext)
  static func fetchRequest() -> NSFetchRequest<Self>
}

/// Finds objects by name without keeping them: between chunks only their IDs stay.
struct NameTable<Object: Named> {
  private var ids: [String: NSManagedObjectID] = [:]
  private var fresh: [Object] = []

  /// The objects with these names; new ones for names that no object has.
  ///
  /// Costs one query for each 500 names not met before, and none for the others.
  mutating func objects(named names: Set<String>, in context: NSManagedObjectContext) throws -> [String:
    Object]
  {
    var found: [String: Object] = [:]
    found.reserveCapacity(names.count)
    var unknown: [String] = []
    for name in names {
      if let id = ids[name], let object = context.object(with: id) as? Object {
        found[name] = object
      } else {
        unknown.append(name)
      }
    }
    for start in stride(from: 0, to: unknown.count, by: 500) {
      let request = Object.fetchRequest()
      request.predicate = NSPredicate(format: "name IN %@", Array(unknown[start...].prefix(500)))
      request.includesPendingChanges = false
      for object in try context.fetch(request) {
        found[object.name] = object
        ids[object.name] = object.objectID
      }
    }
    for name in unknown where found[name] == nil {
      let object = Object(context: context)
      object.name = name
      found[name] = object
      fresh.append(object)
    }
    return found
  }

  /// Takes the permanent IDs of what was new. Call it after each save, before the context forgets.
  mutating func remember() {
    for object in fresh { ids[object.name] = object.objectID }
    fresh = []
  }

  /// Forgets what was found, when objects may have been deleted.
  mutating func forget() {
    ids = [:]
    fresh = []
  }
}

extension Package: Named {}
extension Section: Named {}
extension Maintainer: Named {}
