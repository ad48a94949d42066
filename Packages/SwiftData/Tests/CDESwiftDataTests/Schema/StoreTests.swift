import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Stores of schemas")
struct StoreTests {
  enum Kind: String, Codable { case shop, home }
  struct Size: Codable, Equatable {
    var width = 1
    var height = 2
  }

  enum V1 {
    final class Place: Sketch {
      var name: String { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] { [property("name", \Place.name)] }
    }
  }

  enum V2 {
    final class Place: Sketch {
      var title: String { absent() }
      var kind: Kind { absent() }
      var size: Size { absent() }
      var words: [String] { absent() }
      var counts: [String: Int] { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [
          property("title", \Place.title, Schema.Attribute(originalName: "name")),
          property("kind", \Place.kind, default: Kind.home), property("size", \Place.size, default: Size()),
          property("words", \Place.words, default: ["a"]),
          property("counts", \Place.counts, default: ["x": 1]),
        ]
      }
    }
  }

  @Test("Rows of an older version keep renamed properties, and get the default values of new ones", .onSQLite)
  func migration() throws {
    let old = try Stack(Schema([V1.Place.self], version: Schema.Version(1, 0, 0)))
    let context = old.context()
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Place", into: context).setValue(
        "Inn", forKey: "name")
      try context.save()
    }
    for store in old.container.persistentStoreCoordinator.persistentStores {
      try old.container.persistentStoreCoordinator.remove(store)
    }
    let schema = Schema([V2.Place.self], version: Schema.Version(2, 0, 0))
    let new = try Stack(schema, file: old.file)
    let attributes = try #require(schema.entitiesByName["Place"]).attributesByName
    let other = new.context()
    try other.performAndWait {
      let place = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Place")).first)
      func read<T>(_ name: String, _ type: T.Type) throws -> T {
        let shape = try #require(attributes[name]?.shape)
        return try ValueCoding.decode(place.value(forKey: name), as: type, shape, name: name)
      }
      #expect(try read("title", String.self) == "Inn")
      #expect(try read("kind", Kind.self) == .home)
      #expect(try read("size", Size.self) == Size())
      #expect(try read("words", [String].self) == ["a"])
      #expect(try read("counts", [String: Int].self) == ["x": 1])
    }
    #expect(try new.file.rows("SELECT ZTITLE, ZKIND, ZWIDTH FROM ZPLACE") == [["Inn", "home", "1"]])
    // The default values are of types that archives of models don't have.
    #expect(try new.file.rows("SELECT count(*) FROM Z_MODELCACHE") == [["1"]])
  }

  final class Station: Sketch {
    var kind: Kind { absent() }
    var size: Size? { absent() }
    var name: String { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("kind", \Station.kind, Schema.Attribute(.unique)), property("size", \Station.size),
        property("name", \Station.name),
      ]
    }
  }

  @Test("A unique enumeration makes the second object the row of the first", .onSQLite)
  func uniqueEnumeration() throws {
    let stack = try Stack(Schema(Station.self))
    let context = stack.context()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.performAndWait {
      for name in ["a", "b"] {
        let station = NSEntityDescription.insertNewObject(forEntityName: "Station", into: context)
        station.setValue(["kind": "shop"], forKey: "kind")
        station.setValue(name, forKey: "name")
        try context.save()
      }
    }
    #expect(try stack.file.rows("SELECT ZKIND, ZNAME FROM ZSTATION") == [["shop", "b"]])
  }

  struct AllOptional: Codable, Equatable {
    var a: Int?
    var b: String?
  }

  final class Empty: Sketch {
    var values: AllOptional { absent() }
    var other: AllOptional? { absent() }
    var name: String { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("values", \Empty.values), property("other", \Empty.other), property("name", \Empty.name),
      ]
    }
  }

  @Test("A struct without a value in any part is saved, changed and read, also where it is not optional")
  func emptyStruct() throws {
    let schema = Schema(Empty.self)
    let shape = try #require(ValueShape.of(AllOptional.self))
    let request = NSFetchRequest<NSManagedObject>(entityName: "Empty")
    func read<T>(_ object: NSManagedObject, _ name: String, _ type: T.Type) throws -> T {
      try ValueCoding.decode(object.value(forKey: name), as: type, shape, name: name)
    }
    let stack = try Stack(schema)
    let context = stack.context()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Empty", into: context)
      object.setValue(try ValueCoding.encode(AllOptional(), shape, name: "values"), forKey: "values")
      object.setValue(try ValueCoding.encode(AllOptional(a: 1), shape, name: "other"), forKey: "other")
      object.setValue("a", forKey: "name")
      try context.save()
    }
    let other = stack.context()
    try other.performAndWait {
      let object = try #require(try other.fetch(request).first)
      let values = try read(object, "values", AllOptional.self)
      #expect(values == AllOptional())
      object.setValue("b", forKey: "name")
      try other.save()
      object.setValue(try ValueCoding.encode(AllOptional(b: "x"), shape, name: "values"), forKey: "values")
      object.setValue(try ValueCoding.encode(AllOptional(), shape, name: "other"), forKey: "other")
      try other.save()
    }
    let last = stack.context()
    try last.performAndWait {
      let object = try #require(try last.fetch(request).first)
      let values = try read(object, "values", AllOptional.self)
      #expect(values == AllOptional(b: "x"))
      // The columns can't tell an optional without a value from a struct without one.
      #expect(try read(object, "other", AllOptional?.self) == nil)
    }
  }
}
