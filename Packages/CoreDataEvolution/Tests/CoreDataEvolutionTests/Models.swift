import CoreDataEvolution

@PersistentModel(observation: .mainActor)
final class Item: NSManagedObject {
  var timestamp: Date?
  var title: String = ""
  var count: Int = 0

  @Relationship(inverse: "items", deleteRule: .nullify)
  var tags: Set<Tag>
}

@PersistentModel
final class Tag: NSManagedObject {
  @Attribute(.unique)
  var name: String = ""

  @Relationship(inverse: "tags", deleteRule: .nullify)
  var items: Set<Item>
}

enum MySchema {
  static let objectModel = try! NSManagedObjectModel.makeRuntimeModel(Item.self, Tag.self)
}

enum StoreError: Error {
  case itemNotFound
}

/// A store of its own for each test that makes one.
struct TestStack {
  let container: NSPersistentContainer

  init(fileID: String = #fileID, function: String = #function) throws {
    container = try NSPersistentContainer.makeTest(
      model: MySchema.objectModel, fileID: fileID, function: function)
  }
}
