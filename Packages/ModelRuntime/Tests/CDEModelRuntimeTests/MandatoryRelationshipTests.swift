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

  @Test(
    "Random changes in contexts and batches are saved, and agree with plain sets", arguments: 0..<4)
  func random(_ run: Int) throws {
    let seed =
      ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64(run) &* 6151 &+ 11
    print("Required relationships to many, seed \(seed)")
    var random = MigrationRandom(seed: seed)
    let stack = try Stack(model: ownersAndThings())
    let context = stack.context()
    var (owners, things) = (Set<Int>(), Set<Int>())
    var members: [String: [Int: Set<Int>]] = [:]
    var next = 0
    // A member of a relationship without an inverse has one owner in the store, which sets do not show.
    let names = Self.names.dropLast()
    for _ in 0..<60 {
      func object(_ entity: String, _ n: Int) throws -> NSManagedObject {
        try #require(try context.all(entity, NSPredicate(format: "n == %@", n)).first)
      }
      for _ in 0..<3 {
        next += 1
        let name = names.randomElement(using: &random)!
        let owner = owners.sorted().randomElement(using: &random)
        let thing = things.sorted().randomElement(using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
          context.make("Owner", ["n": next])
          owners.insert(next)
        case 1:
          context.make("Thing", ["n": next])
          things.insert(next)
        case 2, 3:
          guard let owner, let thing else { continue }
          let (left, right) = (try object("Owner", owner), try object("Thing", thing))
          let isIn = members[name]?[owner]?.contains(thing) == true
          if name == "ranked" {
            let list = left.mutableOrderedSetValue(forKey: name)
            if isIn { list.remove(right) } else { list.add(right) }
          } else {
            let set = left.mutableSetValue(forKey: name)
            if isIn { set.remove(right) } else { set.add(right) }
          }
          if name == "things" || name == "ranked" {
            for other in owners { members[name, default: [:]][other]?.remove(thing) }
          }
          if isIn {
            members[name]?[owner]?.remove(thing)
          } else {
            members[name, default: [:]][owner, default: []].insert(thing)
          }
        case 4:
          guard let thing else { continue }
          context.delete(try object("Thing", thing))
          things.remove(thing)
          for name in names { for owner in owners { members[name]?[owner]?.remove(thing) } }
        default:
          guard let owner else { continue }
          context.delete(try object("Owner", owner))
          owners.remove(owner)
          for name in names { members[name]?[owner] = nil }
        }
      }
      try context.save()
      if Int.random(in: 0..<8, using: &random) == 0 {
        next += 1
        try context.execute(NSBatchInsertRequest(entityName: "Owner", objects: [["n": next]]))
        owners.insert(next)
        let update = NSBatchUpdateRequest(entityName: "Thing")
        update.predicate = NSPredicate(format: "n < 0")
        update.propertiesToUpdate = ["n": 0]
        try context.execute(update)
      }
    }
    let reader = stack.context()
    let found = try reader.all("Owner")
    #expect(Set(found.compactMap { $0.value(forKey: "n") as? Int }) == owners)
    for owner in found {
      let n = try #require(owner.value(forKey: "n") as? Int)
      for name in names {
        let value = owner.value(forKey: name)
        let list = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
        let read = Set(list.compactMap { ($0 as? NSManagedObject)?.value(forKey: "n") as? Int })
        #expect(read == members[name]?[n] ?? [], "\(name) of owner \(n), seed \(seed)")
      }
    }
    // The objects read through it until here.
    #expect(!reader.hasChanges)
  }
}
