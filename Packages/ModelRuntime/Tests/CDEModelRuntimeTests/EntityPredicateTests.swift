import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("Predicates on entities, on objects themselves, and computed values")
struct EntityPredicateTests {
  let world: DictionaryWorld
  var context: NSManagedObjectContext { world.context }

  init() throws {
    world = try DictionaryWorld()
    try world.fill()
  }

  private func entity(_ name: String) throws -> NSEntityDescription {
    try #require(world.stack.container.managedObjectModel.entitiesByName[name])
  }

  /// The numbers of the objects that a condition finds: in the store, and among unsaved objects and all in memory.
  private func counts(_ format: String, _ arguments: Any...) throws -> [Int] {
    let predicate = NSPredicate(format: format, argumentArray: arguments)
    let reader = world.stack.context()
    let stored = try reader.all("Sale", predicate, sort: "count").map {
      $0.value(forKey: "count") as? Int ?? 0
    }
    let all = try context.all("Sale", sort: "count")
    let inMemory = try all.filter { try predicate.matches($0) }.map { $0.value(forKey: "count") as? Int ?? 0 }
    #expect(stored == inMemory, "\(format)")
    for object in all { object.setValue(true, forKey: "flag") }
    let pending = try context.all("Sale", predicate, sort: "count").map {
      $0.value(forKey: "count") as? Int ?? 0
    }
    context.rollback()
    #expect(stored == pending, "\(format) with unsaved changes")
    return stored
  }

  @Test("An entity is compared with exactly that entity, also over relationships")
  func entities() throws {
    let (sale, refund, seller) = (try entity("Sale"), try entity("Refund"), try entity("Seller"))
    for format in ["entity == %@", "self.entity == %@", "SELF.entity == %@", "entity IN {%@}", "entity = %@"]
    {
      #expect(try counts(format, sale) == [0, 3, 4, 6])
      #expect(try counts(format, refund) == [5])
      #expect(try counts(format, seller).isEmpty)
    }
    #expect(try counts("entity != %@", refund) == [0, 3, 4, 6])
    #expect(try counts("entity IN %@", [refund, sale]) == [0, 3, 4, 5, 6])
    #expect(try counts("seller.entity == %@", seller) == [3, 4, 5, 6])
    #expect(try counts("seller.entity == nil") == [0])
    #expect(try counts("NOT (entity == %@ OR count == 3)", refund) == [0, 4, 6])
    #expect(try counts("entity.name == 'Refund'") == [5])
    #expect(try counts("entity.name BEGINSWITH 'Re' OR count == 6") == [5, 6])
    #expect(try counts("ANY followers.entity == %@", sale) == [3])
  }

  @Test("Objects are compared as such, by their IDs, and with lists of both")
  func objects() throws {
    let all = try context.all("Sale", sort: "count")
    let (one, other) = (all[1], all[2])
    for format in ["self == %@", "SELF == %@", "objectID == %@", "self.objectID == %@"] {
      #expect(try counts(format, one) == [3])
      #expect(try counts(format, one.objectID) == [3])
    }
    #expect(try counts("SELF IN %@", [one, other]) == [3, 4])
    #expect(try counts("objectID IN %@", [one.objectID, other.objectID]) == [3, 4])
    #expect(try counts("origin.objectID == %@", one.objectID) == [4])
    #expect(try counts("seller.self == %@", try #require(one.one("seller"))) == [3, 6])
    #expect(try counts("objectID != %@", one.objectID) == [0, 4, 5, 6])
  }

  @Test(
    "Computed values have the same result in the store and in memory",
    arguments: [
      ("sqrt(count) > 2", [5, 6]), ("count ** 2 == 16", [4]), ("ln(count) < ln(4.5)", [3, 4]),
      ("log(amount) > 0.3", [4, 5]), ("exp(amount) > 5 AND amount < 3", [4]), ("floor(amount) == 2", [4]),
      ("ceiling(amount) == 2", [3]), ("trunc(amount) == amount", [0, 5, 6]),
      ("modulus:by:(amount, 1) == 0.5", [3, 4]),
      ("title.length == 4", [4]), ("length:(title) > 4", [3, 5, 6]),
      ("seller.name.length == 3", [3, 4, 5, 6]),
      ("canonical:(title) == 'apple'", [3, 5, 6]), ("sqrt(0 - count) == nil", [0, 3, 4, 5, 6]),
      ("day + 60 == CAST(86460, 'NSDate')", [3]), ("day - 60 < CAST(86400, 'NSDate')", [3]),
      ("day - CAST(86340, 'NSDate') == 60", [3]), ("{4, 5}[0] == count", [4]),
      // Whole numbers beyond 2^53 in a value of no one type.
      (
        "modulus:by:(TERNARY(count == 4, 9223372036854775807, 2), TERNARY(title CONTAINS[c] 'nothing', 0.5, 9223372036854775806)) == 1",
        [4]
      ),
    ])
  func computed(_ format: String, _ expected: [Int]) throws {
    #expect(try counts(format) == expected)
  }

  @Test("What only memory can answer is refused with the reason")
  func refusals() throws {
    for (format, reason) in [
      ("tags[0].score == 1", "a member by its index"), ("tags[LAST] == nil", "a member by its index"),
      ("FUNCTION(SELF, 'rating') > 3", "a store can't call rating"), ("entity == origin", "given as values"),
      ("day * 2 == 4", "* is for numbers"), ("day + day == 4", "+ is for numbers"),
      ("sqrt(title) == 1", "for numbers"),
    ] {
      let error = #expect(throws: ManagedObjectError.self) {
        try context.all("Sale", NSPredicate(format: format))
      }
      #expect(error?.message.contains(reason) == true, "\(format): \(error?.message ?? "")")
    }
  }
}
