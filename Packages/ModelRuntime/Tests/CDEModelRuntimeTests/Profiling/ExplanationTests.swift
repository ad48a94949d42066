import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import CDEPredicates
import CDEStore
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Plans of fetches, on whichever engine is under test.
@Suite("How stores answer a fetch")
struct ExplanationTests {
  /// Items with an index of their title, and one of count and score.
  private static func container(_ folder: URL) throws -> NSPersistentContainer {
    let known = try NSManagedObjectModel.makeRuntimeModel([Item.self, Category.self, Tag.self])
    let model = try #require(known.copy() as? NSManagedObjectModel)
    let item = try #require(model.entitiesByName["Item"])
    func element(_ name: String) throws -> NSFetchIndexElementDescription {
      NSFetchIndexElementDescription(
        property: try #require(item.propertiesByName[name]), collationType: .binary)
    }
    item.indexes = [
      NSFetchIndexDescription(name: "byTitle", elements: [try element("title")]),
      NSFetchIndexDescription(name: "byCount", elements: [try element("count"), try element("score")]),
    ]
    let container = NSPersistentContainer(name: "Explained", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: folder.appendingPathComponent("Explained.sqlite"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  private let context: NSManagedObjectContext
  private let container: NSPersistentContainer

  init() throws {
    container = try Self.container(ProcessFolder.newURL())
    context = container.newBackgroundContext()
  }

  private func request(_ format: String?, sort: String? = nil) -> NSFetchRequest<Item> {
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = format.map { NSPredicate(format: $0) }
    if let sort { request.sortDescriptors = [NSSortDescriptor(key: sort, ascending: true)] }
    return request
  }

  @Test(
    "An indexed attribute is searched",
    arguments: [
      "title == 'a'", "title BEGINSWITH 'a'", "title > 'a' AND title < 'c'", "count == 3",
      "count BETWEEN {1, 3}",
      "count == 3 AND score > 1", "title IN {'a', 'b'} AND flag == YES",
    ])
  func searching(format: String) throws {
    try context.performAndWait {
      let explanation = try context.explain(request(format), prefersIndexes: true)
      #expect(explanation.usesIndex, "\(explanation)")
      #expect(explanation.statements.count == 1 && explanation.statements[0].sql.contains("SELECT"))
      #expect(explanation.statements[0].steps.contains { $0.index?.lowercased().contains("item") == true })
    }
  }

  @Test("Without an index all rows are read", arguments: ["note == 'a'", "score > 1", "title ENDSWITH 'a'"])
  func scanning(format: String) throws {
    try context.performAndWait {
      let explanation = try context.explain(request(format))
      #expect(!explanation.usesIndex)
      if StoresUnderTest.areSQLite { #expect(explanation.description.contains("(all rows) SCAN")) }
    }
  }

  @Test("The plan is that of the statement that a fetch runs, and nothing is fetched")
  func statement() throws {
    try context.performAndWait {
      let request = request("title == 'a'", sort: "count")
      let statement = try #require(try request.explain(in: context).statements.first)
      #expect(statement.sql.contains("ORDER BY"))
      #expect(context.registeredObjects.isEmpty)
      let own = try request.explain()
      let named = try request.explain(in: context)
      #expect(own == named)
    }
  }

  @Test("An order alone may use an index; a fetch of everything reads all rows")
  func orders() throws {
    try context.performAndWait {
      let ordered = try context.explain(request(nil, sort: "title"), prefersIndexes: true)
      let everything = try context.explain(request(nil))
      #expect(ordered.usesIndex && !everything.usesIndex)
    }
  }

  @Test("A fetch that the store can't answer is the error that the fetch has")
  func errors() throws {
    context.performAndWait {
      #expect(throws: (any Error).self) { try context.explain(request("nothing == 1")) }
      let unknown = NSFetchRequest<NSManagedObject>(entityName: "Nothing")
      #expect(throws: (any Error).self) { try context.explain(unknown) }
    }
  }

  @Test("A child's fetch is explained by the stores")
  func children() throws {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    try child.performAndWait {
      let explanation = try child.explain(request("title == 'a'"), prefersIndexes: true)
      #expect(explanation.usesIndex)
    }
  }
}
