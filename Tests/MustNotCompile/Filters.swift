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
    Item.path.count.equals("x"),  // error: is unavailable: compare with a value of the property's type
    Item.path.title.equals(5),  // error: 'equals' is unavailable
    Item.path.note.notEquals(5),  // error: 'notEquals' is unavailable
    Item.path.due.greaterThan(1500),  // error: 'greaterThan' is unavailable
    Item.path.due.lessThan("today"),  // error: 'lessThan' is unavailable
    Item.path.title.greaterThanOrEqual(Date()),  // error: 'greaterThanOrEqual' is unavailable
    Item.path.count.lessThanOrEqual("5"),  // error: 'lessThanOrEqual' is unavailable
    Item.path.isDone.equals(1),  // error: 'equals' is unavailable
    Item.path.isDone.equals("YES"),  // error: 'equals' is unavailable
    Item.path.token.equals("x"),  // error: 'equals' is unavailable
    Item.path.link.equals("https://a.example"),  // error: 'equals' is unavailable
    Item.path.status.equals(Level.low),  // error: 'equals' is unavailable
    Item.path.status.equals(1),  // error: 'equals' is unavailable
    Item.path.title.equals(Level.low),  // error: 'equals' is unavailable
    Item.path.tags.any.name.equals(5),  // error: 'equals' is unavailable
    Item.path.title.equals(value),  // error: 'equals' is unavailable
  ]
}
