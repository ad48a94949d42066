import CoreDataEvolution

enum Mood: String { case calm, busy }

// Objects of background contexts decode it elsewhere.
nonisolated struct Style: Codable, Equatable {
  var color = "red"
}

@Composition
struct Spot: Equatable {
  var row: Int
  var label: String?
}

@PersistentModel
final class Item: NSManagedObject {
  var title: String = ""
  var note: String?
  @Attribute(storageMethod: .raw) var mood: Mood = .calm
  @Attribute(storageMethod: .codable) var style: Style?
  @Attribute(storageMethod: .composition) var spot: Spot?
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
      item.mood = .busy
      item.style = Style(color: title)
      item.spot = Spot(row: title.count)
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

/// Reads, on the main actor, which is where this module's declarations live without saying so; the macro
/// can't see that, and warns where it is not said.
@MainActor @NSMainModelActor
final class Reader {
  func titles(matching format: String, _ argument: String) throws -> [String] {
    let request = Item.fetchRequest()
    request.predicate = NSPredicate(format: format, argument)
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try modelContext.fetch(request).map(\.title)
  }

  func isComplete(_ item: Item) -> Bool {
    item.mood == .busy && item.style == Style(color: item.title) && item.spot == Spot(row: item.title.count)
  }

  func name(of id: NSManagedObjectID) -> String? {
    self[id, as: List.self]?.name
  }
}
