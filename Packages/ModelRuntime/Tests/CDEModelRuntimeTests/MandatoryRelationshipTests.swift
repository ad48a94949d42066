import CDEManagedModel
import CDEModelFiles
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

// Source: Core Data checks `minCount` and `maxCount` of a relationship to many. Stores that Apple's framework wrote have
// thousands of rows with an empty one that is not optional.

/// Owners with required relationships to many, in each form in which these are stored.
private func ownersAndThings(least: Int = 0) -> NSManagedObjectModel {
  let number = { attribute("n", .integer64AttributeType, optional: false, default: 0) }
  let (owner, thing) = (entity("Owner", nil, [number()]), entity("Thing", nil, [number()]))
  connect(.many(owner, "things", optional: false, min: least), .one(thing, "owner"))
  connect(.many(owner, "ranked", ordered: true, optional: false), .one(thing, "ranker"))
  connect(.many(owner, "labels", optional: false), .many(thing, "labelled", optional: false))
  point(.many(owner, "extras", optional: false), to: thing)
  return model(owner, thing)
}

@Suite("Required relationships to many")
struct MandatoryRelationshipTests {
  private static let names = ["things", "ranked", "labels", "extras"]

  @Test(
    "A new object may have none, and may lose the last member by removal and by deletion", arguments: names)
  func empty(name: String) throws {
    let stack = try Stack(model: ownersAndThings())
    let context = stack.context()
    let owner = context.make("Owner")
    try context.save()
    for deletes in [false, true] {
      let thing = context.make("Thing")
      let value: Any = name == "ranked" ? NSOrderedSet(object: thing) : NSSet(object: thing)
      owner.setValue(value, forKey: name)
      try context.save()
      if deletes { context.delete(thing) } else { owner.setValue(nil, forKey: name) }
      try context.save()
    }
    let read = try #require(try stack.context().all("Owner").first)
    #expect(
      (read.value(forKey: name) as? NSSet)?.count ?? (read.value(forKey: name) as? NSOrderedSet)?.count == 0)
    var none: AnyObject? = name == "ranked" ? NSOrderedSet() : NSSet()
    try owner.validateValue(&none, forKey: name)
  }

  @Test("A minimum count is checked, and so is a required relationship to one")
  func counted() throws {
    let model = ownersAndThings(least: 1)
    model.entitiesByName["Thing"]?.relationshipsByName["owner"]?.isOptional = false
    let context = try Stack(model: model).context()
    let (owner, thing) = (context.make("Owner"), context.make("Thing"))
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(
      Set(error?.failures.map(\.code) ?? []) == [.relationshipLacksMinimumCount, .missingMandatoryProperty])
    #expect(error?.failures.compactMap(\.property).sorted() == ["owner", "things"])
    thing.setValue(owner, forKey: "owner")
    try context.save()
  }

  @Test(
    "A migration by a mapping model and an inferred one carry objects with empty relationships", .onSQLite)
  func migrations() throws {
    func books(_ name: String) -> NSManagedObjectModel {
      let shelf = entity("Shelf", nil, [attribute(name, .stringAttributeType)])
      shelf.propertiesByName[name]?.renamingIdentifier = "name"
      let book = entity("Book", nil, [attribute("title", .stringAttributeType)])
      connect(.many(shelf, "books", optional: false), .one(book, "shelf"))
      return model(shelf, book)
    }
    func store() throws -> OldStore {
      try OldStore(books("name")) { $0.make("Shelf", ["name": "empty"]) }
    }
    let shelf = Library.entityMapping("Shelf", "Shelf", "Shelf", .transformEntityMappingType)
    shelf.attributeMappings = [Library.property("label", "$source.name")]
    shelf.relationshipMappings = [Library.property("books", Library.destinations("Book", "books"))]
    let book = Library.entityMapping("Book", "Book", "Book", .copyEntityMappingType)
    let mapping = NSMappingModel()
    mapping.entityMappings = [shelf, book]
    let migrated = try Library.migrate(
      try store(), mapping, NSMigrationManager(sourceModel: books("name"), destinationModel: books("label")))
    #expect(try migrated.sql("SELECT ZLABEL FROM ZSHELF") == [["empty"]])
    let inferred = try store()
    let container = try inferred.opened(books("label"))
    #expect(
      try container.work { try $0.all("Shelf").map { $0.value(forKey: "label") as? String } } == ["empty"])
    try container.close()
  }
}
