import CoreDataEvolution

@PersistentModel
final class Owner: NSManagedObject {
  var number: Int = 0
  var revision: Int = 0

  @Relationship(inverse: "owner", deleteRule: .cascade)
  var members: Set<Member>

  @Relationship(inverse: "owners", deleteRule: .nullify)
  var marks: Set<Mark>
}

@PersistentModel
final class Member: NSManagedObject {
  var number: Int = 0
  var revision: Int = 0
  var text: String = ""

  @Relationship(inverse: "members", deleteRule: .nullify)
  var owner: Owner?
}

@PersistentModel
final class Mark: NSManagedObject {
  @Attribute(.unique)
  var name: String = ""

  @Relationship(inverse: "marks", deleteRule: .nullify)
  var owners: Set<Owner>
}

enum GraphStore {
  /// Opens the store at a path, or makes it, with the settings an app would have.
  ///
  /// - Parameter history: whether the store records its history.
  static func open(_ path: String, history: Bool = false) throws -> NSPersistentContainer {
    let model = try NSManagedObjectModel.makeRuntimeModel(Owner.self, Member.self, Mark.self)
    let container = NSPersistentContainer(name: "Graphs", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
    if history { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  static func close(_ container: NSPersistentContainer) throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}
