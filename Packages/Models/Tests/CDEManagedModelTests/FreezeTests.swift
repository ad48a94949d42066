import CDEStore
import Foundation
import Testing

@_spi(CDE) @testable import CDEManagedModel
@_spi(CDE) import CDEPredicates

@Suite("Freezing a model")
struct FreezeTests {
  @Test("Entities and properties stand in the order of the resolved schema")
  func numbering() throws {
    let sample = SampleModel()
    sample.title.isOptional = false
    let frozen = try sample.model.freeze()
    #expect(frozen.entities.map(\.name) == ["Book", "Novel", "Person"])
    #expect(frozen.entities.map(\.index) == [0, 1, 2])
    #expect(frozen.entities.map(\.name) == frozen.resolved.entities.map(\.source.name))
    let novel = frozen.entities[1]
    #expect(novel.properties.map(\.name) == ["author", "genre", "pages", "title"])
    #expect(novel.properties.map(\.name) == novel.layout.properties.map(\.name))
    #expect(novel.parent == 0 && novel.root == 0 && novel.isKind(of: frozen.entities[0]))
    #expect(frozen.entities[0].subtree == 0..<2)
    #expect(novel.required == [3] && novel.toOnes == [0] && novel.defaulted == [2, 3])
    #expect(novel.attributes == [1, 2, 3] && novel.relationships == [0])

    let author = novel.properties[0]
    #expect(author.destination == 2 && author.declaringEntity == 0 && author.description === sample.author)
    let books = frozen.entities[2].properties[author.inverseSlot]
    #expect(books.name == "books" && books.isToMany && books.isOrdered && books.destination == 0)
    #expect(books.deleteRule == .cascadeDeleteRule && frozen.entities[2].cascading == [books.slot])
    // In Novel the inverse may stand elsewhere than in Book.
    let slot = try #require(frozen.inverseSlot(of: books.slot, in: 2, destination: 1))
    #expect(novel.properties[slot].name == "author")
    #expect(frozen.entity(for: sample.novel) === novel && frozen.entity(named: "Novel") === novel)
    #expect(sample.novel.frozenIndex == 1 && frozen.entity(for: NSEntityDescription()) == nil)
    #expect(frozen.versionHashes["Book"] == sample.book.versionHash)
    #expect(frozen.versionChecksum == sample.model.versionChecksum)
  }

  @Test("Default values are typed constants by slot")
  func constants() throws {
    func check<Expected: Equatable>(
      _ type: NSAttributeType, _ value: Any, reads expected: Expected,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let model = NSManagedObjectModel()
      model.entities = [entity("E", [attribute("p", type, default: value)])]
      let constant = try model.freeze().entities[0].properties[0].defaultValue
      let value: Any? = if case .object(let object) = constant { object.value } else { constant.keyedScalar }
      #expect(value as? Expected == expected, sourceLocation: sourceLocation)
    }
    try check(.integer16AttributeType, 5, reads: NSNumber(value: 5))
    try check(.integer64AttributeType, Int64.max, reads: NSNumber(value: Int64.max))
    try check(.integer64AttributeType, NSNumber(value: Int64.max), reads: NSNumber(value: Int64.max))
    try check(.booleanAttributeType, true, reads: NSNumber(value: true))
    try check(.booleanAttributeType, NSNumber(value: 0), reads: NSNumber(value: false))
    try check(.doubleAttributeType, 1.5, reads: NSNumber(value: 1.5))
    try check(.doubleAttributeType, 2, reads: NSNumber(value: 2.0))
    try check(.floatAttributeType, Float(0.1), reads: NSNumber(value: Float(0.1)))
    try check(.decimalAttributeType, Decimal(string: "1.10")!, reads: NSDecimalNumber(string: "1.1"))
    try check(.stringAttributeType, "x" as NSString, reads: "x")
    try check(.dateAttributeType, Date.distantPast, reads: Date.distantPast)
    try check(.binaryDataAttributeType, Data([1]), reads: Data([1]))
    try check(.URIAttributeType, URL(string: "a:b")!, reads: URL(string: "a:b")!)
    try check(.transformableAttributeType, ["a"], reads: ["a"])
  }

  @Test(
    "A default that does not fit its attribute is refused",
    arguments: [
      (NSAttributeType.integer16AttributeType, 40000), (.stringAttributeType, 1), (.UUIDAttributeType, 1),
      (.dateAttributeType, 0), (.binaryDataAttributeType, 0),
    ])
  func badDefaults(type: NSAttributeType, value: Int) {
    let model = NSManagedObjectModel()
    model.entities = [entity("E", [attribute("p", type, default: value)])]
    expectError(.invalidDefault, in: model, entity: "E", property: "p")
  }

  @Test("Fractions are no integers")
  func fractions() {
    #expect(AttributeConstant(1.5, as: .integer32AttributeType) == nil)
    #expect(AttributeConstant(Optional<Int>.none as Any, as: .integer32AttributeType)?.isNull == true)
  }

  private func expectError(
    _ code: ModelError.Code, in model: NSManagedObjectModel, entity: String?, property: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: ModelError.self, sourceLocation: sourceLocation) { try model.freeze() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.entity == entity, sourceLocation: sourceLocation)
    #expect(error?.property == property, sourceLocation: sourceLocation)
    #expect(error.map { $0.message.contains(entity ?? "An entity") } == true, sourceLocation: sourceLocation)
    #expect(!model.isFrozen, sourceLocation: sourceLocation)
  }

  @Test("A half-wired inverse is harmless until the model is used, then named")
  func halfWired() throws {
    let sample = SampleModel()
    sample.books.inverseRelationship = nil
    #expect(sample.model.entityVersionHashesByName.count == 3)
    expectError(.missingInverse, in: sample.model, entity: "Book", property: "author")
    sample.books.inverseRelationship = sample.author
    _ = try sample.model.freeze()
  }

  @Test("A to-one relationship whose inverse has another inverse has none, as a remark says")
  func inverseOfAnother() throws {
    let sample = SampleModel()
    let editor = relationship("editor", to: sample.person, max: 1)
    editor.inverseRelationship = sample.books
    sample.book.properties.append(editor)
    let frozen = try sample.model.freeze()
    let book = try #require(frozen.schema.entities.first { $0.name == "Book" })
    #expect(book.relationships.map(\.inverse) == ["books", nil])
    #expect(frozen.remarks.count == 1)
    #expect(
      frozen.remarks.first?.contains("Book.editor has the inverse Person.books, which has the inverse author")
        == true)
    #expect(editor.inverseRelationship === sample.books)
  }

  @Test(
    "A to-many relationship may name a to-one inverse that has another inverse; its order can't be stored then"
  )
  func inverseOfAnotherToMany() throws {
    func sample(isOrdered: Bool) -> NSManagedObjectModel {
      let sample = SampleModel()
      let written = relationship("written", to: sample.book, max: 0)
      written.inverseRelationship = sample.author
      written.isOrdered = isOrdered
      sample.person.properties.append(written)
      return sample.model
    }
    let frozen = try sample(isOrdered: false).freeze()
    let person = try #require(frozen.schema.entities.first { $0.name == "Person" })
    #expect(person.relationships.first { $0.name == "written" }?.inverse == "author")
    #expect(frozen.remarks.count == 1)
    #expect(frozen.remarks.first?.contains("A change of Book.author reaches Person.written") == true)
    expectError(.missingInverse, in: sample(isOrdered: true), entity: "Person", property: "written")
  }

  @Test("Broken models are refused with entity and property")
  func broken() {
    func check(
      _ code: ModelError.Code, _ entity: String?, _ property: String? = nil,
      sourceLocation: SourceLocation = #_sourceLocation, _ change: (SampleModel) -> Void
    ) {
      let sample = SampleModel()
      change(sample)
      expectError(code, in: sample.model, entity: entity, property: property, sourceLocation: sourceLocation)
    }
    check(.invalidName, nil) { $0.book.name = nil }
    check(.invalidName, "a b") { $0.book.name = "a b" }
    check(.invalidName, "a/b") { $0.book.name = "a/b" }
    check(.invalidName, "Book", "2nd") { $0.title.name = "2nd" }
    check(.duplicateName, "Person") { $0.book.name = "Person" }
    check(.duplicateName, "Novel", "title") {
      $0.novel.properties = [attribute("title", .stringAttributeType)]
    }
    check(.unknownEntity, "Book") { $0.model.entities.removeLast() }
    check(.unknownDestination, "Book", "author") { $0.author.destinationEntity = nil }
    check(.invalidCount, "Person", "books") { ($0.books.minCount, $0.books.maxCount) = (5, 2) }
    check(.invalidInverse, "Person", "books") { $0.books.destinationEntity = $0.person }
    check(.invalidType, "Book", "title") { $0.title.attributeType = .undefinedAttributeType }
    check(.invalidType, "Book", "title") { $0.title.attributeType = .compositeAttributeType }
    check(.invalidConstraint, "Book", "nothing") { $0.book.uniquenessConstraints = [["nothing"]] }
    check(.invalidConstraint, "Person", "books") { $0.person.uniquenessConstraints = [["books"]] }
    check(.invalidConstraint, "Person") { $0.person.uniquenessConstraints = [[1]] }
    check(.invalidIndex, "Book", "nothing") { $0.book.compoundIndexes = [["nothing"]] }
  }

  @Test("The schema carries composites, indexes, constraints and flags")
  func schema() throws {
    let sample = SampleModel()
    let composite = NSCompositeAttributeDescription()
    composite.name = "place"
    composite.elements = [
      attribute("lat", .doubleAttributeType), attribute("lon", .doubleAttributeType),
    ]
    let cover = attribute("cover", .binaryDataAttributeType)
    cover.allowsExternalBinaryDataStorage = true
    let scratch = attribute("scratch", .objectIDAttributeType)
    scratch.isTransient = true
    let fetched = NSFetchedPropertyDescription()
    fetched.name = "similar"
    sample.book.properties += [composite, cover, scratch, fetched]
    let element = NSFetchIndexElementDescription(property: sample.title, collationType: .binary)
    element.isAscending = false
    sample.book.indexes = [NSFetchIndexDescription(name: "byTitle", elements: [element])]
    sample.book.compoundIndexes = [["title", "pages"]]
    sample.book.uniquenessConstraints = [["title"]]
    sample.novel.uniquenessConstraints = [["genre", "title"]]
    sample.title.isIndexed = true
    sample.model.versionIdentifiers = ["v1"]

    let frozen = try sample.model.freeze()
    let book = try #require(frozen.resolved.entity(named: "Book")?.source)
    #expect(book.attributes.map(\.name) == ["title", "pages", "place", "cover", "scratch"])
    #expect(book.attributes[2].elements.map(\.name) == ["lat", "lon"])
    #expect(book.attributes[3].allowsExternalStorage && book.attributes[4].isTransient)
    #expect(
      book.indexes == [
        StoreIndex(name: "title", kind: .indexedAttribute, elements: [.init(property: "title")]),
        StoreIndex(name: "byTitle", elements: [.init(property: "title", isAscending: false)]),
        StoreIndex(
          name: "title_pages", kind: .compound,
          elements: [.init(property: "title"), .init(property: "pages")]),
      ])
    #expect(book.uniquenessConstraints == [["title"]] && book.versionHash.count == 32)
    #expect(frozen.schema.versionIdentifiers == ["v1"])
    let novel = try #require(frozen.entity(named: "Novel"))
    #expect(
      novel.uniqueness.map { $0.map { novel.properties[$0].name } } == [["title"], ["genre", "title"]])
    #expect(novel.property(named: "place")?.kind == .composite && novel.slot(named: "similar") == nil)
    #expect(novel.property(named: "place")?.cells.count == 2)
  }

  @Test("A configuration is a schema of its entities and their ancestors, and may not be left")
  func configurations() throws {
    let sample = SampleModel()
    let alone = entity("Alone", [attribute("a", .stringAttributeType)])
    sample.model.entities.append(alone)
    sample.model.setEntities([alone], forConfigurationName: "Alone")
    sample.model.setEntities([sample.novel, sample.person], forConfigurationName: "Library")
    sample.model.setEntities([sample.person], forConfigurationName: "People")
    let frozen = try sample.model.freeze()
    #expect(try frozen.storeSchema(configuration: nil) == frozen.schema)
    #expect(try frozen.storeSchema(configuration: "Alone").entities.map(\.name) == ["Alone"])
    #expect(
      try Set(frozen.storeSchema(configuration: "Library").entities.map(\.name)) == [
        "Book", "Novel", "Person",
      ])
    let crossing = #expect(throws: ModelError.self) { try frozen.storeSchema(configuration: "People") }
    #expect(crossing?.code == .crossesConfiguration && crossing?.property == "books")
    let unknown = #expect(throws: ModelError.self) { try frozen.storeSchema(configuration: "None") }
    #expect(unknown?.code == .unknownConfiguration)
  }

  @Test("Many threads that freeze one model get the same object")
  func concurrent() async throws {
    for _ in 0..<20 {
      let sample = SampleModel()
      let model = sample.model
      let identities = try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
        for _ in 0..<16 {
          group.addTask {
            let frozen = try model.freeze()
            // Reading alongside must be safe, whichever task is first.
            precondition(model.entitiesByName["Novel"]?.propertiesByName.count == 4)
            precondition(model.entityVersionHashesByName == frozen.versionHashes)
            return ObjectIdentifier(frozen)
          }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(identities.count == 1 && model.isFrozen)
    }
  }

  @Test("Any model that freezes agrees with its descriptions about slots, kinship and inverses")
  func randomised() throws {
    for _ in 0..<40 {
      let seed = UInt64.random(in: 0...UInt64.max)
      var random = SplitMix(state: seed)
      let model = randomModel(&random)
      let frozen = try model.freeze()
      for entity in frozen.entities {
        let comment: Comment = "seed \(seed), \(entity.name)"
        let names = entity.description.propertiesByName.keys.sorted()
        #expect(entity.properties.map(\.name) == names, comment)
        for other in frozen.entities {
          let expected = entity.description.isKindOf(entity: other.description)
          #expect(entity.isKind(of: other) == expected, comment)
        }
        for slot in entity.relationships {
          let property = entity.properties[slot]
          let source = property.description as! NSRelationshipDescription
          #expect(frozen.entities[property.destination].description === source.destinationEntity, comment)
          for destination in frozen.entities[property.destination].subtree {
            let found = frozen.inverseSlot(of: slot, in: entity.index, destination: destination)
            let inverse = found.map { frozen.entities[destination].properties[$0].description }
            #expect(inverse === source.inverseRelationship, comment)
          }
        }
      }
    }
  }

  private func randomModel(_ random: inout SplitMix) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    var entities: [NSEntityDescription] = []
    for index in 0..<Int.random(in: 1...8, using: &random) {
      let new = entity("E\(Int.random(in: 0...9, using: &random))x\(index)")
      if let parent = entities.randomElement(using: &random), Bool.random(using: &random) {
        parent.subentities.append(new)
      }
      entities.append(new)
    }
    for index in 0..<Int.random(in: 0...20, using: &random) {
      let (owner, other) = (
        entities.randomElement(using: &random)!, entities.randomElement(using: &random)!
      )
      let name = "p\(Int.random(in: 0...99, using: &random))x\(index)"
      switch Int.random(in: 0...3, using: &random) {
      case 0: owner.properties.append(attribute(name, .integer64AttributeType, default: index))
      case 1: owner.properties.append(relationship(name, to: other, max: 1))
      case 2:
        let own = relationship(name, to: owner, max: 0)
        own.inverseRelationship = own
        owner.properties.append(own)
      default:
        let first = relationship(name, to: other, max: Int.random(in: 0...1, using: &random))
        let second = relationship(
          "i\(name)", to: owner, max: Int.random(in: 0...1, using: &random), ordered: true)
        (first.inverseRelationship, second.inverseRelationship) = (second, first)
        owner.properties.append(first)
        other.properties.append(second)
      }
    }
    model.entities = entities.shuffled(using: &random)
    return model
  }
}

/// A small generator that a printed seed brings back.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
