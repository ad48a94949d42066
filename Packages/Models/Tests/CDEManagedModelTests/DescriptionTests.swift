import Foundation
import Testing

@_spi(CDE) @testable import CDEManagedModel

@Suite("Descriptions")
struct DescriptionTests {
  // Compiles only if a model may be kept in a static constant and read from any isolation.
  static let shared = SampleModel().model

  @Test("Properties are optional and relationships to-many without limit unless said otherwise")
  func defaults() {
    let property = NSAttributeDescription()
    #expect(property.isOptional && !property.isTransient && property.attributeType == .undefinedAttributeType)
    let relationship = NSRelationshipDescription()
    #expect(relationship.isToMany && relationship.maxCount == 0)
    #expect(relationship.deleteRule == .nullifyDeleteRule)
    #expect(NSEntityDescription().managedObjectClassName == "NSManagedObject")
    #expect(NSCompositeAttributeDescription().attributeType == .compositeAttributeType)
  }

  @Test("Attribute types carry Core Data's codes, and both spellings agree")
  func types() {
    let codes: [UInt] = [
      0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1800, 2000, 2100,
    ]
    #expect(NSAttributeType.allCases.map(\.rawValue) == codes)
    let attribute = NSAttributeDescription()
    attribute.type = .uuid
    #expect(attribute.attributeType == .UUIDAttributeType && attribute.attributeValueClassName == "NSUUID")
    attribute.attributeType = .transformableAttributeType
    #expect(attribute.type == .transformable && attribute.attributeValueClassName == nil)
    attribute.attributeValueClassName = "Palette"
    #expect(attribute.attributeValueClassName == "Palette")
  }

  @Test("A default value reads back as the Swift type that was stored")
  func defaultValues() {
    func roundTrip<Value: Equatable>(_ value: Value) -> Bool {
      let attribute = NSAttributeDescription()
      attribute.defaultValue = value
      return attribute.defaultValue as? Value == value
    }
    #expect(roundTrip(Int16(7)))
    #expect(roundTrip(Int32(7)))
    #expect(roundTrip(Int64(7)))
    #expect(roundTrip(Float(0.5)))
    #expect(roundTrip(0.25))
    #expect(roundTrip(Decimal(string: "10.11")!))
    #expect(roundTrip(Date.distantPast))
    #expect(roundTrip(Data([1, 2])))
    #expect(roundTrip(URL(string: "https://example.org")!))
    #expect(roundTrip("text"))
    #expect(roundTrip(UUID()))
    #expect(roundTrip(true))
  }

  @Test("Sub-entities are wired on both sides and inherit properties")
  func inheritance() {
    let sample = SampleModel()
    #expect(sample.novel.superentity === sample.book)
    #expect(sample.novel.isKindOf(entity: sample.book) && !sample.book.isKindOf(entity: sample.novel))
    #expect(Set(sample.novel.propertiesByName.keys) == ["author", "genre", "pages", "title"])
    #expect(Set(sample.novel.attributesByName.keys) == ["genre", "pages", "title"])
    #expect(sample.novel.relationshipsByName["author"] === sample.author)
    #expect(sample.title.entity === sample.book)
    #expect(sample.novel.relationships(forDestination: sample.person) == [sample.author])
    // Reading all properties and setting them again leaves inherited ones where they are.
    sample.novel.properties.append(attribute("series", .stringAttributeType))
    #expect(sample.novel.ownProperties.map(\.name) == ["genre", "series"])
    sample.book.subentities = []
    #expect(sample.novel.superentity == nil && sample.novel.propertiesByName["title"] == nil)
  }

  @Test("Uniqueness constraints take names and descriptions, and read back as names")
  func constraints() {
    let sample = SampleModel()
    sample.book.uniquenessConstraints = [["title", sample.author], [sample.title]]
    #expect(sample.book.uniquenessConstraints as? [[String]] == [["title", "author"], ["title"]])
  }

  @Test("Entities can be inserted in place and know their model")
  func entities() {
    let sample = SampleModel()
    let added = entity("Added")
    sample.model.entities.insert(added, at: 0)
    #expect(sample.model.entities.first === added && added.managedObjectModel === sample.model)
    sample.model.entities.removeFirst()
    #expect(added.managedObjectModel == nil)
    #expect(sample.model.entitiesByName["Book"] === sample.book)
  }

  @Test("A copy has the same hashes, is wired among itself, and may be changed while the original is in use")
  func copying() throws {
    let sample = SampleModel()
    sample.model.setEntities([sample.person], forConfigurationName: "People")
    _ = try sample.model.freeze()
    let copy = sample.model.copy() as! NSManagedObjectModel
    #expect(copy.entityVersionHashesByName == sample.model.entityVersionHashesByName)
    let book = try #require(copy.entitiesByName["Book"])
    let novel = try #require(copy.entitiesByName["Novel"])
    #expect(book !== sample.book && novel.superentity === book)
    let author = try #require(book.relationshipsByName["author"])
    #expect(author.destinationEntity === copy.entitiesByName["Person"])
    #expect(author.inverseRelationship?.inverseRelationship === author)
    #expect(author.inverseRelationship !== sample.books)
    #expect(copy.entities(forConfigurationName: "People")?.first === copy.entitiesByName["Person"])
    #expect(book.attributesByName["title"]?.defaultValue as? String == "Untitled")
    novel.properties.append(attribute("added", .stringAttributeType))
    _ = try copy.freeze()
  }

  @Test("Merging takes equal entities once and refuses different ones")
  func merging() throws {
    let first = SampleModel()
    let second = SampleModel()
    second.model.entities.append(entity("Extra", [relationship("book", to: second.book, max: 1)]))
    let merged = try #require(NSManagedObjectModel(byMerging: [first.model, second.model]))
    #expect(merged.entities.map { $0.name } == ["Person", "Book", "Novel", "Extra"])
    let extra = try #require(merged.entitiesByName["Extra"]?.relationshipsByName["book"])
    #expect(extra.destinationEntity === merged.entitiesByName["Book"])
    _ = try merged.freeze()
    second.title.isOptional = false
    #expect(NSManagedObjectModel(byMerging: [first.model, second.model]) == nil)
    #expect(NSManagedObjectModel(byMerging: nil)?.entities == [])
  }

  @Test("A model releases its descriptions, although they point at each other")
  func lifetime() {
    weak var entity: NSEntityDescription?
    weak var property: NSPropertyDescription?
    weak var frozen: FrozenModel?
    do {
      let sample = SampleModel()
      frozen = try? sample.model.freeze()
      (entity, property) = (sample.book, sample.author)
      #expect(entity != nil && property != nil && frozen != nil)
    }
    #expect(entity == nil && property == nil && frozen == nil)
  }

  @Test("Models, entities and properties are equal if they say the same")
  func equality() throws {
    let (one, other) = (SampleModel(), SampleModel())
    #expect(one.model == other.model && one.model.hash == other.model.hash)
    #expect(one.model.entitiesByName == other.model.entitiesByName)
    #expect(one.model.copy() as? NSManagedObjectModel == one.model)
    #expect(one.book != one.person && one.title != one.author)
    _ = try one.model.freeze()
    #expect(one.model == other.model)
    #expect(Set([one.book, other.book]).count == 1)
  }

  @Test(
    "Each field makes descriptions differ, those outside the version hash too",
    arguments: [
      { $0.title.isOptional = false }, { $0.title.attributeType = .integer16AttributeType },
      { $0.title.defaultValue = "None" }, { $0.title.userInfo = ["key": [1, 2]] },
      { $0.title.versionHashModifier = "2" }, { $0.title.renamingIdentifier = "name" },
      { $0.title.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: nil) },
      { $0.title.valueTransformerName = "Other" }, { $0.books.deleteRule = .denyDeleteRule },
      { $0.books.maxCount = 3 }, { $0.books.destinationEntity = $0.novel },
      { $0.book.managedObjectClassName = "Other" }, { $0.book.userInfo = ["key": true] },
      { $0.book.uniquenessConstraints = [["title"]] }, { $0.book.properties.removeLast() },
      {
        $0.book.indexes = [
          NSFetchIndexDescription(
            name: "i", elements: [.init(property: $0.title, collationType: .binary)])
        ]
      },
      { $0.model.versionIdentifiers = ["2"] }, { $0.model.setEntities([$0.book], forConfigurationName: "C") },
    ] as [@Sendable (SampleModel) -> Void])
  func difference(_ change: @Sendable (SampleModel) -> Void) {
    let (one, other) = (SampleModel(), SampleModel())
    change(other)
    #expect(one.model != other.model)
    change(one)
    #expect(one.model == other.model, "The same change makes them equal again.")
  }
}
