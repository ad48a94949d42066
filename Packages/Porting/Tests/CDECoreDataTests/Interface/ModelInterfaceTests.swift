import CDECoreData
import Testing

@Suite("The interface of models")
struct ModelInterfaceTests {
  private typealias Model = NSManagedObjectModel
  private typealias Entity = NSEntityDescription
  private typealias Property = NSPropertyDescription
  private typealias Request = NSFetchRequest<any NSFetchRequestResult>

  @Test("A model is made empty, of a file, and of other models")
  func making() throws {
    let _: () -> NSManagedObjectModel = NSManagedObjectModel.init
    let _: (URL) -> NSManagedObjectModel? = NSManagedObjectModel.init(contentsOf:)
    let _: ([NSManagedObjectModel]?) -> NSManagedObjectModel? = NSManagedObjectModel.init(byMerging:)
    let _: ([NSManagedObjectModel], [String: Any]) -> NSManagedObjectModel? =
      NSManagedObjectModel.init(byMerging:forStoreMetadata:)
    let merged: ([Bundle]?) -> NSManagedObjectModel? = { NSManagedObjectModel.mergedModel(from: $0) }
    let compatible: ([Bundle]?, [String: Any]) -> NSManagedObjectModel? = {
      NSManagedObjectModel.mergedModel(from: $0, forStoreMetadata: $1)
    }
    let _: (URL) throws -> [String: String] = NSManagedObjectModel.checksumsForVersionedModel(at:)
    let _: (Model) -> (NSZone?) -> Any = NSManagedObjectModel.copy(with:)
    #expect(NSManagedObjectModel().entities.isEmpty && merged([])?.entities.isEmpty ?? true)
    #expect(compatible([], [:])?.entities.isEmpty ?? true)
    #expect(NSManagedObjectModel(contentsOf: URL(fileURLWithPath: "/nowhere.momd")) == nil)
    let copy = try #require(makeModel().copy(with: nil) as? NSManagedObjectModel)
    #expect(copy.entitiesByName.keys.sorted() == ["Note", "Tag"])
    #expect(NSManagedObjectModel(byMerging: [makeModel()])?.entities.count == 2)
  }

  @Test("A model has entities, configurations, hashes and requests")
  func model() throws {
    let _: ReferenceWritableKeyPath<Model, [NSEntityDescription]> = \NSManagedObjectModel.entities
    let _: KeyPath<Model, [String: NSEntityDescription]> = \NSManagedObjectModel.entitiesByName
    let _: KeyPath<Model, [String]> = \NSManagedObjectModel.configurations
    let _: (Model) -> (String?) -> [NSEntityDescription]? =
      NSManagedObjectModel.entities(forConfigurationName:)
    let _: (Model) -> ([NSEntityDescription], String) -> Void =
      NSManagedObjectModel.setEntities(_:forConfigurationName:)
    let _: (Model) -> (String?, [String: Any]) -> Bool =
      NSManagedObjectModel.isConfiguration(withName:compatibleWithStoreMetadata:)
    let _: KeyPath<Model, [String: Data]> = \NSManagedObjectModel.entityVersionHashesByName
    let _: ReferenceWritableKeyPath<Model, Set<AnyHashable>> = \NSManagedObjectModel.versionIdentifiers
    let _: KeyPath<Model, String> = \NSManagedObjectModel.versionChecksum
    let _: KeyPath<Model, [String: Request]> = \NSManagedObjectModel.fetchRequestTemplatesByName
    let _: (Model) -> (String) -> Request? = NSManagedObjectModel.fetchRequestTemplate(forName:)
    let _: (Model) -> (Request?, String) -> Void = NSManagedObjectModel.setFetchRequestTemplate(_:forName:)
    let _: (Model) -> (String, [String: Any]) -> Request? =
      NSManagedObjectModel.fetchRequestFromTemplate(withName:substitutionVariables:)
    let model = makeModel()
    let note = try #require(model.entitiesByName["Note"])
    model.setEntities([note], forConfigurationName: "Notes")
    #expect(model.configurations == ["Notes"])
    #expect(model.entities(forConfigurationName: "Notes") == [note])
    #expect(model.entityVersionHashesByName["Note"] == note.versionHash)
    model.versionIdentifiers = ["1"]
    #expect(model.versionIdentifiers == ["1"])
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
    request.predicate = NSPredicate(format: "title == $TITLE")
    model.setFetchRequestTemplate(request, forName: "byTitle")
    #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["byTitle"])
    let filled = model.fetchRequestFromTemplate(
      withName: "byTitle", substitutionVariables: ["TITLE": "A"])
    #expect(filled?.predicate == NSPredicate(format: "title == %@", "A"))
  }

  @Test("An entity has Core Data's members")
  func entity() throws {
    let _: (String, NSManagedObjectContext) -> NSEntityDescription? =
      NSEntityDescription.entity(forEntityName:in:)
    let _: (String, NSManagedObjectContext) -> NSManagedObject =
      NSEntityDescription.insertNewObject(forEntityName:into:)
    let _: ReferenceWritableKeyPath<Entity, String?> = \NSEntityDescription.name
    let _: ReferenceWritableKeyPath<Entity, String?> = \NSEntityDescription.managedObjectClassName
    let _: KeyPath<Entity, NSManagedObjectModel?> = \NSEntityDescription.managedObjectModel
    let _: ReferenceWritableKeyPath<Entity, Bool> = \NSEntityDescription.isAbstract
    let _: KeyPath<Entity, NSEntityDescription?> = \NSEntityDescription.superentity
    let _: ReferenceWritableKeyPath<Entity, [NSEntityDescription]> = \NSEntityDescription.subentities
    let _: KeyPath<Entity, [String: NSEntityDescription]> = \NSEntityDescription.subentitiesByName
    let _: ReferenceWritableKeyPath<Entity, [NSPropertyDescription]> = \NSEntityDescription.properties
    let _: KeyPath<Entity, [String: NSPropertyDescription]> = \NSEntityDescription.propertiesByName
    let _: KeyPath<Entity, [String: NSAttributeDescription]> = \NSEntityDescription.attributesByName
    let _: KeyPath<Entity, [String: NSRelationshipDescription]> = \NSEntityDescription.relationshipsByName
    let _: (Entity) -> (NSEntityDescription) -> [NSRelationshipDescription] =
      NSEntityDescription.relationships(forDestination:)
    let _: (Entity) -> (NSEntityDescription) -> Bool = NSEntityDescription.isKindOf(entity:)
    let _: ReferenceWritableKeyPath<Entity, [[Any]]> = \NSEntityDescription.uniquenessConstraints
    let _: ReferenceWritableKeyPath<Entity, [NSFetchIndexDescription]> = \NSEntityDescription.indexes
    let _: ReferenceWritableKeyPath<Entity, [[Any]]> = \NSEntityDescription.compoundIndexes
    let _: ReferenceWritableKeyPath<Entity, [AnyHashable: Any]?> = \NSEntityDescription.userInfo
    let _: KeyPath<Entity, Data> = \NSEntityDescription.versionHash
    let _: ReferenceWritableKeyPath<Entity, String?> = \NSEntityDescription.versionHashModifier
    let _: ReferenceWritableKeyPath<Entity, String?> = \NSEntityDescription.renamingIdentifier
    let (base, entity) = (NSEntityDescription(), NSEntityDescription())
    // Implicitly unwrapped, as in Core Data.
    let className: String = entity.managedObjectClassName
    #expect(className == "NSManagedObject" && entity.name == nil && !entity.isAbstract)
    (base.name, entity.name) = ("Base", "Derived")
    base.subentities = [entity]
    #expect(entity.superentity === base && base.subentitiesByName["Derived"] === entity)
    #expect(entity.isKindOf(entity: base) && !base.isKindOf(entity: entity))
    entity.uniquenessConstraints = [["title"]]
    #expect(entity.uniquenessConstraints as? [[String]] == [["title"]] && entity.indexes.isEmpty)
    let model = makeModel()
    let note = try #require(model.entitiesByName["Note"])
    #expect(note.managedObjectModel === model)
    let tag = try #require(note.relationshipsByName["tags"]?.destinationEntity)
    #expect(note.relationships(forDestination: tag).map(\.name) == ["tags"])
  }

  @Test("A property has Core Data's members")
  func property() {
    let _: ReferenceWritableKeyPath<Property, String> = \NSPropertyDescription.name
    let _: KeyPath<Property, NSEntityDescription?> = \NSPropertyDescription.entity
    let _: ReferenceWritableKeyPath<Property, Bool> = \NSPropertyDescription.isOptional
    let _: ReferenceWritableKeyPath<Property, Bool> = \NSPropertyDescription.isTransient
    let _: ReferenceWritableKeyPath<Property, Bool> = \NSPropertyDescription.isIndexed
    let _: ReferenceWritableKeyPath<Property, Bool> = \NSPropertyDescription.isIndexedBySpotlight
    let _: KeyPath<Property, [NSPredicate]> = \NSPropertyDescription.validationPredicates
    let _: KeyPath<Property, [Any]> = \NSPropertyDescription.validationWarnings
    let _: (Property) -> ([NSPredicate]?, [String]?) -> Void =
      NSPropertyDescription.setValidationPredicates(_:withValidationWarnings:)
    let _: ReferenceWritableKeyPath<Property, [AnyHashable: Any]?> = \NSPropertyDescription.userInfo
    let _: KeyPath<Property, Data> = \NSPropertyDescription.versionHash
    let _: ReferenceWritableKeyPath<Property, String?> = \NSPropertyDescription.versionHashModifier
    let _: ReferenceWritableKeyPath<Property, String?> = \NSPropertyDescription.renamingIdentifier
    let property: NSPropertyDescription = NSAttributeDescription()
    #expect(property.isOptional && !property.isTransient && !property.isIndexed && property.name == "")
    property.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["A warning"])
    #expect(property.validationPredicates.count == 1)
    #expect(property.validationWarnings as? [String] == ["A warning"])
    property.userInfo = ["key": 1]
    #expect(property.userInfo?["key"] as? Int == 1)
  }

  @Test("A relationship has Core Data's members")
  func relationship() {
    typealias Relationship = NSRelationshipDescription
    let _: ReferenceWritableKeyPath<Relationship, NSEntityDescription?> =
      \NSRelationshipDescription.destinationEntity
    let _: ReferenceWritableKeyPath<Relationship, NSRelationshipDescription?> =
      \NSRelationshipDescription.inverseRelationship
    let _: ReferenceWritableKeyPath<Relationship, Int> = \NSRelationshipDescription.minCount
    let _: ReferenceWritableKeyPath<Relationship, Int> = \NSRelationshipDescription.maxCount
    let _: KeyPath<Relationship, Bool> = \NSRelationshipDescription.isToMany
    let _: ReferenceWritableKeyPath<Relationship, Bool> = \NSRelationshipDescription.isOrdered
    let _: ReferenceWritableKeyPath<Relationship, NSDeleteRule> = \NSRelationshipDescription.deleteRule
    let rules: [NSDeleteRule] = [
      NSDeleteRule.noActionDeleteRule, NSDeleteRule.nullifyDeleteRule, NSDeleteRule.cascadeDeleteRule,
      NSDeleteRule.denyDeleteRule,
    ]
    #expect(rules.map(\.rawValue) == [0, 1, 2, 3])
    let relationship = NSRelationshipDescription()
    #expect(relationship.deleteRule == .nullifyDeleteRule && relationship.isToMany)
    relationship.maxCount = 1
    #expect(!relationship.isToMany && relationship.minCount == 0 && !relationship.isOrdered)
  }
}
