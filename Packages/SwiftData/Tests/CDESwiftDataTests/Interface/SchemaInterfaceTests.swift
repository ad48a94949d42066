import CDESwiftData
import Foundation
import Testing

@Suite("The interface of schemas")
struct SchemaInterfaceTests {
  private enum Version: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 1)
    static var models: [any PersistentModel.Type] { [Journey.self] }
  }

  @Test("A schema is made of classes, entities or a version, and goes to a file and back")
  func schema() throws {
    isHashable(Schema.self)
    isCodable(Schema.self)
    isSendable(Schema.self)
    let _: ([any PersistentModel.Type], Schema.Version) -> Schema = Schema.init(_:version:)
    let _: (any PersistentModel.Type..., Schema.Version) -> Schema = Schema.init(_:version:)
    let _: (Schema.Entity..., Schema.Version) -> Schema = Schema.init(_:version:)
    let _: (any VersionedSchema.Type) -> Schema = Schema.init(versionedSchema:)
    let _: KeyPath<Schema, Schema.Version> = \Schema.version
    let _: KeyPath<Schema, Schema.Version> = \Schema.encodingVersion
    let _: KeyPath<Schema, [Schema.Entity]> = \Schema.entities
    let _: KeyPath<Schema, [String: Schema.Entity]> = \Schema.entitiesByName
    let _: (Schema) -> (any PersistentModel.Type) -> Schema.Entity? = Schema.entity(for:)
    let _: (any PersistentModel.Type) -> String = Schema.entityName(for:)
    let _: (Schema) -> (URL) throws -> Void = Schema.save(to:)
    let _: (URL) throws -> Schema = Schema.load(from:)

    let schema = Schema([Journey.self])
    #expect(schema.version == Schema.Version(1, 0, 0) && schema == Schema(Halt.self, Journey.self))
    #expect(schema.entity(for: Journey.self) === schema.entitiesByName["Journey"])
    #expect(Schema.entityName(for: Journey.self) == "Journey" && schema.entities.count == 3)
    #expect(Schema(versionedSchema: Version.self).version == Version.versionIdentifier)
    let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: url) }
    try schema.save(to: url)
    #expect(try Schema.load(from: url) == schema)
  }

  @Test("A version is three numbers in order")
  func version() throws {
    isHashable(Schema.Version.self)
    isComparable(Schema.Version.self)
    isCodable(Schema.Version.self)
    isSendable(Schema.Version.self)
    let _: (Int, Int, Int) -> Schema.Version = Schema.Version.init(_:_:_:)
    let _: KeyPath<Schema.Version, Int> = \Schema.Version.major
    let _: KeyPath<Schema.Version, Int> = \Schema.Version.minor
    let _: KeyPath<Schema.Version, Int> = \Schema.Version.patch
    #expect(Schema.Version(1, 2, 3) < Schema.Version(1, 10, 0))
  }

  @Test("An entity has its properties, its relatives and its constraints")
  func entity() throws {
    isHashable(Schema.Entity.self)
    isCodable(Schema.Entity.self)
    let _: (String, [Schema.Entity], [any SchemaProperty]) -> Schema.Entity =
      Schema.Entity.init(_:subentities:properties:)
    let _: KeyPath<Schema.Entity, String> = \Schema.Entity.name
    let _: KeyPath<Schema.Entity, Set<Schema.Entity>> = \Schema.Entity.subentities
    let _: KeyPath<Schema.Entity, Schema.Entity?> = \Schema.Entity.superentity
    let _: KeyPath<Schema.Entity, String?> = \Schema.Entity.superentityName
    let _: KeyPath<Schema.Entity, [any SchemaProperty]> = \Schema.Entity.storedProperties
    let _: KeyPath<Schema.Entity, [String: any SchemaProperty]> = \Schema.Entity.storedPropertiesByName
    let _: KeyPath<Schema.Entity, [any SchemaProperty]> = \Schema.Entity.inheritedProperties
    let _: KeyPath<Schema.Entity, [String: any SchemaProperty]> = \Schema.Entity.inheritedPropertiesByName
    let _: KeyPath<Schema.Entity, [any SchemaProperty]> = \Schema.Entity.properties
    let _: KeyPath<Schema.Entity, [String: any SchemaProperty]> = \Schema.Entity.propertiesByName
    let _: KeyPath<Schema.Entity, Set<Schema.Attribute>> = \Schema.Entity.attributes
    let _: KeyPath<Schema.Entity, [String: Schema.Attribute]> = \Schema.Entity.attributesByName
    let _: KeyPath<Schema.Entity, Set<Schema.Relationship>> = \Schema.Entity.relationships
    let _: KeyPath<Schema.Entity, [String: Schema.Relationship]> = \Schema.Entity.relationshipsByName
    let _: KeyPath<Schema.Entity, [[String]]> = \Schema.Entity.uniquenessConstraints
    let _: KeyPath<Schema.Entity, [[String]]> = \Schema.Entity.indices

    let trip = try #require(Schema([Journey.self]).entity(for: Journey.self))
    #expect(trip.uniquenessConstraints == [["name"], ["name", "start"]])
    #expect(trip.indices == [["start"], ["name", "start"]])
    #expect(trip.relationshipsByName.keys.sorted() == ["companions", "lead", "stops"])
    #expect(trip.attributesByName.count + 3 == trip.storedPropertiesByName.count)
    #expect(trip.inheritedProperties.isEmpty && trip.superentity == nil && trip.subentities.isEmpty)
    let below = Schema.Entity("B", properties: Schema.Attribute(name: "b", valueType: Int.self))
    let above = Schema.Entity(
      "A", subentities: [below], properties: [Schema.Attribute(name: "a", valueType: Int.self)])
    #expect(below.superentityName == "A" && below.inheritedPropertiesByName.keys.sorted() == ["a"])
    #expect(above.subentities == [below] && below.propertiesByName.count == 2)
  }

  @Test("Migrations have versions, stages and plans of SwiftData's shape")
  func migrations() {
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [Version.self] }
      static var stages: [MigrationStage] { [] }
    }
    func check<V: VersionedSchema, P: SchemaMigrationPlan>(_ type: V.Type, _ plan: P.Type) {
      let _: [any PersistentModel.Type] = V.models
      let _: Schema.Version = V.versionIdentifier
      let _: [any VersionedSchema.Type] = P.schemas
      let _: [MigrationStage] = P.stages
    }
    check(Version.self, Plan.self)
    let _: (any VersionedSchema.Type, any VersionedSchema.Type) -> MigrationStage =
      MigrationStage.lightweight(fromVersion:toVersion:)
    let _:
      (
        any VersionedSchema.Type, any VersionedSchema.Type, ((ModelContext) throws -> Void)?,
        ((ModelContext) throws -> Void)?
      ) -> MigrationStage = MigrationStage.custom(fromVersion:toVersion:willMigrate:didMigrate:)
    let stage = MigrationStage.custom(
      fromVersion: Version.self, toVersion: Version.self, willMigrate: nil,
      didMigrate: { context in try context.save() })
    guard case .custom(_, _, let before, let after) = stage else {
      Issue.record("another stage")
      return
    }
    #expect(before == nil && after != nil)
  }
}
