import CDEManagedModel
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Schemas of model classes")
struct SchemaTests {
  enum Travel {
    final class Trip: Sketch {
      var name: String { absent() }
      var photo: Data? { absent() }
      var note: String { absent() }
      var code: Int { absent() }
      var stays: [Stay] { absent() }
      var guide: Guide? { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [
          property("name", \Trip.name, Schema.Attribute(.unique, .spotlight, originalName: "title")),
          property("photo", \Trip.photo, Schema.Attribute(.externalStorage, .allowsCloudEncryption)),
          property("note", \Trip.note, Schema.Attribute(.ephemeral), default: "none"),
          property(
            "code", \Trip.code, Schema.Attribute(.preserveValueOnDeletion, hashModifier: "2"), default: 7),
          property(
            "stays", \Trip.stays,
            Schema.Relationship(
              deleteRule: .cascade, minimumModelCount: 1, maximumModelCount: 5, originalName: "nights",
              inverse: \Stay.trip, hashModifier: "x")),
          property("guide", \Trip.guide, Schema.Relationship(.unique, deleteRule: .deny)),
        ]
      }
    }
    final class Stay: Sketch {
      var trip: Trip { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] { [property("trip", \Stay.trip)] }
    }
    final class Guide: Sketch {
      var name: String { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] { [property("name", \Guide.name)] }
    }
  }

  @Test("A schema has the classes that a class reaches, named without module and outer types")
  func reach() throws {
    let schema = Schema(Travel.Trip.self)
    #expect(schema.entities.map(\.name) == ["Trip", "Stay", "Guide"])
    #expect(schema.entity(for: Travel.Guide.self)?.name == "Guide")
    #expect(Schema.entityName(for: Travel.Stay.self) == "Stay")
    #expect(
      schema.types.map { ObjectIdentifier($0) } == [
        ObjectIdentifier(Travel.Trip.self), ObjectIdentifier(Travel.Stay.self),
        ObjectIdentifier(Travel.Guide.self),
      ])
    #expect(schema.version == Schema.Version(1, 0, 0))
    #expect(
      schema.entitiesByName["Trip"]?.storedProperties.map(\.name) == [
        "name", "photo", "note", "code", "stays", "guide",
      ])
  }

  @Test("Options of attributes reach the description and the schema")
  func attributes() throws {
    let schema = Schema(Travel.Trip.self)
    let trip = try #require(try schema.managedObjectModel().entitiesByName["Trip"])
    let (name, photo) = (trip.attributesByName["name"], trip.attributesByName["photo"])
    #expect(name?.renamingIdentifier == "title")
    #expect(name?.isIndexedBySpotlight == true)
    #expect(name?.isOptional == false)
    #expect(photo?.allowsExternalBinaryDataStorage == true)
    #expect(photo?.allowsCloudEncryption == true)
    #expect(photo?.isOptional == true)
    #expect(trip.attributesByName["note"]?.isTransient == true)
    #expect(trip.attributesByName["note"]?.defaultValue as? String == "none")
    #expect(trip.attributesByName["code"]?.preservesValueInHistoryOnDeletion == true)
    #expect(trip.attributesByName["code"]?.defaultValue as? Int == 7)
    #expect(trip.attributesByName["code"]?.versionHashModifier == "2")
    #expect(trip.uniquenessConstraints as? [[String]] == [["name"], ["guide"]])

    let entity = try #require(schema.entitiesByName["Trip"])
    #expect(entity.attributesByName["name"]?.isUnique == true)
    #expect(entity.attributesByName["name"]?.originalName == "title")
    #expect(entity.attributesByName["photo"]?.isOptional == true)
    #expect(entity.attributesByName["photo"]?.valueType == Data?.self)
    #expect(entity.attributesByName["note"]?.isTransient == true)
    #expect(entity.attributesByName["code"]?.defaultValue as? Int == 7)
    #expect(entity.attributes.count == 4)
    #expect(entity.relationships.count == 2)
  }

  @Test("Options of relationships reach the description and the schema")
  func relationships() throws {
    let schema = Schema(Travel.Trip.self)
    let model = try schema.managedObjectModel()
    let trip = try #require(model.entitiesByName["Trip"])
    let stays = try #require(trip.relationshipsByName["stays"])
    #expect(stays.isToMany && !stays.isOptional)
    #expect((stays.minCount, stays.maxCount) == (1, 5))
    #expect(stays.deleteRule == .cascadeDeleteRule)
    #expect(stays.renamingIdentifier == "nights")
    #expect(stays.versionHashModifier == "x")
    #expect(stays.inverseRelationship?.name == "trip")
    #expect(stays.inverseRelationship?.inverseRelationship === stays)
    let guide = try #require(trip.relationshipsByName["guide"])
    #expect((guide.minCount, guide.maxCount) == (0, 1))
    #expect(guide.isOptional && guide.inverseRelationship == nil)
    #expect(guide.deleteRule == .denyDeleteRule)
    #expect(model.entitiesByName["Stay"]?.relationshipsByName["trip"]?.isOptional == false)

    let written = try #require(schema.entitiesByName["Trip"]?.relationshipsByName["stays"])
    #expect(written.destination == "Stay" && written.inverseName == "trip")
    #expect(written.inverseKeyPath == \Travel.Stay.trip && written.keypath == \Travel.Trip.stays)
    #expect(!written.isToOneRelationship && written.deleteRule == .cascade)
  }

  @Test("Equal schemas of the same classes have one model, and other versions another")
  func oneModel() throws {
    let model = try Schema(Travel.Trip.self).managedObjectModel()
    #expect(try Schema(Travel.Trip.self).managedObjectModel() === model)
    let newer = try Schema([Travel.Trip.self], version: Schema.Version(2, 0, 0)).managedObjectModel()
    #expect(newer !== model)
    #expect(newer.versionIdentifiers == ["2.0.0"])
    #expect(newer.entityVersionHashesByName == model.entityVersionHashesByName)
  }

  enum Other {
    final class Guide: Sketch {
      static var schemaMetadata: [Schema.PropertyMetadata] { [] }
    }
  }

  @Test("Two classes of one name are an error that names both")
  func sameName() throws {
    let error = try failure(of: Schema(Travel.Trip.self, Other.Guide.self))
    #expect(error.code == .invalidSchema)
    #expect(error.message.contains("Travel.Guide") && error.message.contains("Other.Guide"))
  }

  struct Opaque {}

  final class Mistaken: Sketch {
    var opaque: Opaque { absent() }
    var friends: [Mistaken] { absent() }
    var best: Mistaken? { absent() }
    var name: String { absent() }
    var few: [Mistaken] { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("opaque", \Mistaken.opaque),
        property("friends", \Mistaken.friends, Schema.Relationship(maximumModelCount: 1)),
        property("best", \Mistaken.best, Schema.Attribute(.unique)),
        property("name", \Mistaken.name, Schema.Relationship()),
        property("few", \Mistaken.few, Schema.Relationship(minimumModelCount: 3, maximumModelCount: 2)),
      ]
    }
  }

  @Test(
    "Properties that can't be stored are told by name, with what to do",
    arguments: [
      "Mistaken.opaque is of type Opaque, which is neither Codable nor a model. Conform the type to Codable",
      "Mistaken.friends is an array of at most one model. Make it an optional model.",
      "Mistaken.best has @Attribute, and its value is a model. Write @Relationship instead.",
      "Mistaken.name has @Relationship, and String is no model.",
      "Mistaken.few has at least 3 and at most 2 models. Correct one of the counts.",
    ])
  func mistakes(message: String) throws {
    #expect(try failure(of: Schema(Mistaken.self)).message.contains(message))
  }

  final class Place: Sketch {
    struct Address: Codable {
      struct Point: Codable {
        var latitude: Double
        var longitude: Double
      }
      var city: String
      var point: Point
    }
    enum Kind: String, Codable { case shop, home }

    var name: String { absent() }
    var kind: Kind { absent() }
    var address: Address { absent() }
    var latitude: Double { absent() }
    var longitude: Double { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("name", \Place.name), property("kind", \Place.kind), property("address", \Place.address),
        property("latitude", \Place.latitude), property("longitude", \Place.longitude),
        property("", \Place.self, Schema.Unique<Place>([\.name, \.kind], [\.address.city])),
        property(
          "", \Place.self,
          Schema.Index<Place>(
            .binary([\.address.point.latitude, \.name]), .binary([\.kind]), .rtree([\.latitude, \.longitude]))
        ),
      ]
    }
  }

  @Test("Constraints and indexes name properties and parts of structs", .onSQLite)
  func constraints() throws {
    let schema = Schema(Place.self)
    let entity = try #require(schema.entitiesByName["Place"])
    #expect(entity.uniquenessConstraints == [["name", "kind"], ["address.city"]])
    #expect(
      entity.indices == [["address.point.latitude", "name"], ["kind"], ["latitude", "longitude"]])
    let stack = try Stack(schema)
    let indexes = try stack.file.rows(
      "SELECT sql FROM sqlite_master WHERE tbl_name = 'ZPLACE' AND type = 'index' ORDER BY name"
    ).map { $0[0] }
    #expect(
      indexes.contains {
        $0.contains("UNIQUE") && $0.contains("(ZNAME COLLATE BINARY ASC, ZKIND COLLATE BINARY ASC)")
      })
    #expect(indexes.contains { $0.contains("UNIQUE") && $0.contains("(ZCITY COLLATE BINARY ASC)") })
    #expect(indexes.contains { $0.contains("(ZLATITUDE COLLATE BINARY ASC, ZNAME COLLATE BINARY ASC)") })
    #expect(indexes.contains { $0.hasSuffix("(ZKIND COLLATE BINARY ASC)") })
  }

  final class Named: Sketch {
    var name: String { absent() }
    var count: Int { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("name", \Named.name),
        property("", \Named.self, Schema.Unique<Named>([\.name.count])),
      ]
    }
  }

  @Test("A constraint on a computed value is an error")
  func computedConstraint() throws {
    let error = try failure(of: Schema(Named.self))
    #expect(error == .unsupportedKeyPath)
    #expect(error.message.contains("#Unique of Named"))
  }

  @Test("A schema of entities that are made by hand gives the same model")
  func entities() throws {
    let shelf = Schema.Entity(
      "Shelf",
      properties: Schema.Attribute(name: "room", options: [.unique], valueType: String.self),
      Schema.Attribute(name: "address", valueType: Place.Address?.self))
    let schema = Schema(shelf)
    let entity = try #require(try schema.managedObjectModel().entitiesByName["Shelf"])
    #expect(entity.attributesByName["room"]?.attributeType == .stringAttributeType)
    #expect(entity.uniquenessConstraints as? [[String]] == [["room"]])
    let address = try #require(schema.entities[0].attributesByName["address"] as? Schema.CompositeAttribute)
    #expect(address.properties.map(\.name) == ["city", "point"])
    #expect(address.isOptional)
  }

  /// The error of a schema that can't be used.
  private func failure(of schema: Schema) throws -> SwiftDataError {
    try #require(throws: SwiftDataError.self) { try schema.managedObjectModel() }
  }
}
