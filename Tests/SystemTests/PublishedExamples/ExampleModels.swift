import CoreDataEvolution
import Testing

// What the published guides' examples take as given: models, errors, a stack. The examples themselves stand
// in the other files of this folder, between `// printed` and `// end`, as their authors printed them.
//
// Not here: the article that declares its database with SwiftData's own `@ModelActor`. That macro is SwiftData's and
// not offered; what the article makes with it, the `Database` protocol and its actors, is the layer Databases.

@PersistentModel final class Item: NSManagedObject {
  var timestamp: Date?
  @Relationship(inverse: "items", deleteRule: .nullify) var tag: Tag?
}

@PersistentModel final class Tag: NSManagedObject {
  var name: String = ""
  @Relationship(inverse: "tag", deleteRule: .nullify) var items: Set<Item>
}

enum MySchema {
  static var objectModel: NSManagedObjectModel {
    get throws { try .makeRuntimeModel(Item.self, Tag.self) }
  }
}

enum MyError: Error { case objectNotExist, objectNotFound }
enum StoreError: Error { case itemNotFound }

struct TestStack {
  let container: NSPersistentContainer

  init(function: String = #function) throws {
    container = try .makeRuntimeTest(
      modelTypes: [Item.self, Tag.self], testName: "PublishedExamples-\(function)-\(UUID())")
  }
}
