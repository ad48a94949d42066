import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

// Source: "Using Collection Operators" of Apple's Key-Value Coding Programming Guide.
@Suite("Collection operators in key paths")
struct CollectionOperatorTests {
  private func category() throws -> (NSManagedObjectContext, NSManagedObject) {
    let part = entity(
      "Part", nil,
      [
        attribute("weight", .doubleAttributeType), attribute("price", .decimalAttributeType),
        attribute("name", .stringAttributeType), attribute("made", .dateAttributeType),
      ])
    let box = entity("Box", nil, [attribute("name", .stringAttributeType)])
    let tag = entity("Label", nil, [attribute("name", .stringAttributeType)])
    connect(.many(box, "parts"), .one(part, "box"))
    connect(.many(part, "labels"), .many(tag, "parts"))
    let context = try Stack(model: model(part, box, tag)).context()
    let made = context.make("Box")
    let labels = ["x", "y"].map { context.make("Label", ["name": $0]) }
    for (name, weight, price) in [("b", 1.5, "0.10"), ("a", 3, "0.20"), ("a", nil, nil)]
      as [(String, Double?, String?)]
    {
      let part = context.make("Part", ["name": name, "box": made])
      part.setValue(weight, forKey: "weight")
      part.setValue(price.flatMap { Decimal(string: $0) }, forKey: "price")
      part.setValue(Set(name == "a" ? labels : [labels[0]]) as NSSet, forKey: "labels")
      part.setValue(Date(timeIntervalSinceReferenceDate: weight ?? 0), forKey: "made")
    }
    return (context, made)
  }

  @Test("Numbers: a missing value counts as zero, and sums of decimals are exact")
  func numbers() throws {
    let (context, box) = try category()
    #expect(box.value(forKeyPath: "parts.@count") as? Int == 3)
    #expect(box.value(forKeyPath: "parts.@sum.weight") as? Double == 4.5)
    #expect(box.value(forKeyPath: "parts.@avg.weight") as? Double == 1.5)
    #expect(box.value(forKeyPath: "parts.@min.weight") as? Double == 1.5)
    #expect(box.value(forKeyPath: "parts.@max.weight") as? Double == 3)
    #expect(box.value(forKeyPath: "parts.@sum.price") as? Decimal == Decimal(string: "0.30"))
    let empty = context.make("Box")
    #expect(empty.value(forKeyPath: "parts.@sum.weight") as? Int == 0)
    #expect(empty.value(forKeyPath: "parts.@avg.weight") as? Int == 0)
    #expect(empty.value(forKeyPath: "parts.@max.weight") == nil)
  }

  @Test("Decimals of members are collected, and may be members of sets")
  func decimals() throws {
    let (context, box) = try category()
    let twin = context.make("Part", ["box": box, "price": Decimal(string: "0.10")!])
    let expected: Set<Decimal> = [Decimal(string: "0.1")!, Decimal(string: "0.2")!]
    let prices = try #require(box.value(forKeyPath: "parts.price") as? NSSet)
    #expect(prices.count == 2 && Set(prices.allObjects.compactMap { $0 as? Decimal }) == expected)
    let distinct = box.value(forKeyPath: "parts.@distinctUnionOfObjects.price") as? [NSDecimalNumber]
    #expect(distinct.map { Set($0.map(\.decimalValue)) } == expected && distinct?.count == 2)
    let price = try #require(twin.value(forKey: "price") as? NSDecimalNumber)
    #expect(price.isEqual(NSDecimalNumber(string: "0.1")) && "\(price)" == "0.1")
    #expect(prices.contains(NSNumber(value: 0.1)) && prices.contains(NSNumber(value: 0.2)))
    // Equal numbers of other classes have the same hash.
    for number: NSNumber in [3, -7, 0, 2.5, 1e20, true] {
      twin.setValue(number.decimalValue, forKey: "price")
      let members = try #require(box.value(forKeyPath: "parts.price") as? NSSet)
      #expect(members.contains(number), "\(number)")
    }
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: price.stringValue, requiringSecureCoding: true)
    #expect(!archive.isEmpty)
  }

  @Test("A live set at the end of a path over to-one relationships changes the object there")
  func livePaths() throws {
    let (context, box) = try category()
    let part = try #require(try context.all("Part", sort: "weight").last)
    let other = context.make("Part")
    part.mutableSetValue(forKeyPath: "box.parts").add(other)
    #expect(other.value(forKey: "box") as? NSManagedObject === box)
    part.mutableSetValue(forKeyPath: "box.parts").remove(other)
    #expect(other.value(forKey: "box") == nil)
    #expect(box.mutableSetValue(forKeyPath: "parts").count == 3)
    #expect(other.mutableSetValue(forKeyPath: "box.parts").count == 0)
  }

  @Test("A value is set in every member that a path reaches")
  func settingMembers() throws {
    let (context, box) = try category()
    box.setValue("n", forKeyPath: "parts.name")
    box.setValue("z", forKeyPath: "parts.labels.name")
    #expect(
      try context.all("Part", sort: "name").map { $0.value(forKey: "name") as? String } == ["n", "n", "n"])
    #expect(try context.all("Label", sort: "name").map { $0.value(forKey: "name") as? String } == ["z", "z"])
    let alone = context.make("Part")
    alone.setValue("x", forKeyPath: "box.name")
    #expect(alone.value(forKeyPath: "box.name") == nil)
  }

  @Test("Foundation's collections have the values of their members, and set them")
  func foundationCollections() throws {
    let (context, box) = try category()
    let parts = try #require(box.value(forKey: "parts") as? NSSet)
    #expect(parts.value(forKey: "name") as? NSSet == NSSet(array: ["a", "b"]))
    #expect(parts.value(forKeyPath: "@sum.weight") as? Double == 4.5)
    #expect(parts.value(forKeyPath: "labels.@count") as? NSSet == NSSet(array: [1, 2]))
    let ordered = NSArray(array: try context.all("Part", sort: "weight"))
    #expect(ordered.value(forKey: "name") as? [String] == ["a", "b", "a"])
    #expect((ordered.value(forKey: "weight") as? NSArray)?[0] is NSNull)
    #expect(ordered.value(forKey: "@count") as? Int == 3)
    #expect(ordered.value(forKeyPath: "@max.weight") as? Double == 3)
    #expect(
      (NSOrderedSet(array: ["abc", "de"]).value(forKey: "length") as? NSOrderedSet)?.array as? [Int] == [
        3, 2,
      ])
    box.mutableSetValue(forKey: "parts").setValue("n", forKey: "name")
    ordered.setValue(2, forKey: "weight")
    #expect(try context.all("Part").allSatisfy { $0.value(forKey: "name") as? String == "n" })
    #expect(parts.value(forKeyPath: "@sum.weight") as? Double == 6)
  }

  @Test("Least and greatest values of texts and dates")
  func order() throws {
    let (context, box) = try category()
    #expect(box.value(forKeyPath: "parts.@min.name") as? String == "a")
    #expect(box.value(forKeyPath: "parts.@max.made") as? Date == Date(timeIntervalSinceReferenceDate: 3))
    withExtendedLifetime(context) {}
  }

  @Test("Unions, of values and of the members of collections")
  func unions() throws {
    let (context, box) = try category()
    #expect((box.value(forKeyPath: "parts.@unionOfObjects.name") as? [String])?.sorted() == ["a", "a", "b"])
    #expect(
      (box.value(forKeyPath: "parts.@distinctUnionOfObjects.name") as? [String])?.sorted() == ["a", "b"])
    let labels = try #require(box.value(forKeyPath: "parts.@distinctUnionOfSets.labels") as? NSSet)
    #expect(labels.count == 2)
    #expect((box.value(forKeyPath: "parts.@unionOfArrays.labels") as? [NSManagedObject])?.count == 5)
    #expect((box.value(forKeyPath: "parts.@distinctUnionOfArrays.labels") as? [NSManagedObject])?.count == 2)
    withExtendedLifetime(context) {}
  }

  @Test("Several values are read and set at once, and NSNull stands for none")
  func several() throws {
    let (context, box) = try category()
    box.setValuesForKeys(["name": "n"])
    #expect(box.dictionaryWithValues(forKeys: ["name"])["name"] as? String == "n")
    box.setValuesForKeys(["name": NSNull()])
    #expect(box.dictionaryWithValues(forKeys: ["name"])["name"] is NSNull)
    withExtendedLifetime(context) {}
  }

  @Test(
    "The IDs of a relationship's objects are read without the objects, unless unsaved changes may concern them"
  )
  func identities() throws {
    let (writer, box) = try category()
    try writer.save()
    let coordinator = try #require(writer.persistentStoreCoordinator)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    let read = try context.existingObject(with: box.objectID)
    let ids = Set(box.set("parts").map(\.objectID))
    #expect(Set(read.objectIDs(forRelationshipNamed: "parts")) == ids)
    #expect(context.registeredObjects == [read] && read.hasFault(forRelationshipNamed: "parts"))
    let part = try context.existingObject(with: ids.first!)
    #expect(part.objectIDs(forRelationshipNamed: "box") == [box.objectID])
    part.setValue(nil, forKey: "box")
    #expect(Set(read.objectIDs(forRelationshipNamed: "parts")) == ids.subtracting([part.objectID]))
    #expect(part.objectIDs(forRelationshipNamed: "box").isEmpty)
    let new = context.make("Part", ["box": read])
    #expect(read.objectIDs(forRelationshipNamed: "parts").contains(new.objectID))
  }
}
