import CDEManagedModel
import CDEModelRuntime
import Foundation

enum Level: Int { case low, high }
enum Status: String { case open, done }

@PersistentModel
final class Item: NSManagedObject {
  var title: String = ""
  var note: String?
  var count: Int16 = 0
  var due: Date?
  var isDone: Bool = false
  var token: UUID?
  var link: URL?
  @Attribute(storageMethod: .raw) var status: Status?
  @Relationship(inverse: "items", deleteRule: .nullify) var tags: Set<Tag>
}

@PersistentModel
final class Tag: NSManagedObject {
  var name: String = ""
  @Relationship(inverse: "tags", deleteRule: .nullify) var items: Set<Item>
}

// A comparison that could hold for no object.
func filters(_ value: Any) -> [NSPredicate] {
  [
    Item.path.count.equals("x"),  // error: is unavailable: compare with a value
    Item.path.title.equals(5),  // error: is unavailable: compare with a value
    Item.path.note.notEquals(5),  // error: is unavailable: compare with a value
    Item.path.due.greaterThan(1500),  // error: is unavailable: compare with a value
    Item.path.due.lessThan("today"),  // error: is unavailable: compare with a value
    Item.path.title.greaterThanOrEqual(Date()),  // error: is unavailable: compare with a value
    Item.path.count.lessThanOrEqual("5"),  // error: is unavailable: compare with a value
    Item.path.isDone.equals(1),  // error: is unavailable: compare with a value
    Item.path.isDone.equals("YES"),  // error: is unavailable: compare with a value
    Item.path.token.equals("x"),  // error: is unavailable: compare with a value
    Item.path.link.equals("https://a.example"),  // error: is unavailable: compare with a value
    Item.path.status.equals(Level.low),  // error: is unavailable: compare with a value
    Item.path.status.equals(1),  // error: is unavailable: compare with a value
    Item.path.title.equals(Level.low),  // error: is unavailable: compare with a value
    Item.path.tags.any.name.equals(5),  // error: is unavailable: compare with a value
    Item.path.title.equals(value),  // error: is unavailable: compare with a value
  ]
}
