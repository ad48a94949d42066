import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@PersistentModel
final class Item: NSManagedObject {
  var title: String = ""
  var count: Int = 0
  var score: Double = 0
  var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
  var note: String?
  var uuid: UUID?
  var flag: Bool = false
  var price: Decimal?
  var link: URL?
  var payload: Data?

  @Relationship(inverse: "items", deleteRule: .nullify)
  var category: Category?

  @Relationship(inverse: "items", deleteRule: .nullify)
  var tags: Set<Tag>
}

@PersistentModel
final class Category: NSManagedObject {
  var name: String = ""

  @Relationship(inverse: "category", deleteRule: .nullify)
  var items: Set<Item>
}

@PersistentModel
final class Tag: NSManagedObject {
  @Attribute(.unique, persistentName: "tag_name")
  var name: String = ""

  @Relationship(inverse: "tags", deleteRule: .nullify)
  var items: Set<Item>
}

/// A container over a throw-away store.
struct Stack {
  let container: NSPersistentContainer
  let folder: URL

  /// - Parameters:
  ///   - folder: the folder of another stack, whose store this one opens, too; by default a new one.
  ///   - options: options that are on.
  init(
    _ types: [any CDRuntimeSchemaProviding.Type] = [Item.self, Category.self, Tag.self],
    in folder: URL? = nil,
    options: String...
  ) throws {
    self.folder = folder ?? ProcessFolder.newURL()
    container = NSPersistentContainer(
      name: "Test", managedObjectModel: try NSManagedObjectModel.makeRuntimeModel(types))
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: self.folder.appendingPathComponent("Test.sqlite"))
    ]
    for option in options {
      container.persistentStoreDescriptions[0].setOption(true as NSNumber, forKey: option)
    }
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  func context() -> NSManagedObjectContext { container.newBackgroundContext() }

  /// Names of the files that hold external values, in order.
  func externalFiles() throws -> [String] {
    let all = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    return all.compactMap { $0 as? URL }
      .filter { $0.path.contains("EXTERNAL") && !$0.hasDirectoryPath }.map(\.lastPathComponent).sorted()
  }
}

extension Trait where Self == ConditionTrait {
  /// The test is about files, about SQL of its own, or about faults in the file system.
  static var onSQLite: Self { .enabled(if: StoresUnderTest.areSQLite, "The test is about SQLite stores.") }
}
