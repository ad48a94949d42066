import CoreDataEvolution

@PersistentModel
final class Item: NSManagedObject {
  var title: String = ""
  var note: String?
  @Relationship(inverse: "items", deleteRule: .nullify) var list: List?
}

@PersistentModel
final class List: NSManagedObject {
  var name: String = ""
  @Relationship(inverse: "list", deleteRule: .cascade) var items: Set<Item>
}

/// Writes, on a background context of its own.
@NSModelActor
actor Writer {
  func add(_ titles: [String], to name: String) throws -> NSManagedObjectID {
    let list = List(context: modelContext)
    list.name = name
    for title in titles {
      let item = Item(context: modelContext)
      item.title = title
      item.list = list
    }
    try modelContext.save()
    return list.objectID
  }

  func rename(_ id: NSManagedObjectID, to name: String) throws {
    self[id, as: List.self]?.name = name
    try modelContext.save()
  }
}

/// Reads, on the main actor, which is where this module's declarations live without saying so.
@NSMainModelActor
final class Reader {
  func titles(matching format: String, _ argument: String) throws -> [String] {
    let request = Item.fetchRequest()
    request.predicate = NSPredicate(format: format, argument)
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try modelContext.fetch(request).map(\.title)
  }

  func name(of id: NSManagedObjectID) -> String? {
    self[id, as: List.self]?.name
  }
}
