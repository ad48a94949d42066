import CDEStore
import Foundation
import Testing

@_spi(CDE) @testable import CDEManagedModel

/// Shapes of published models that Xcode warns of at most, and that Core Data uses.
@Suite("Models as published")
struct PublishedModelTests {
  private func index(_ name: String, on names: [String]) -> NSFetchIndexDescription {
    NSFetchIndexDescription(
      name: name,
      elements: names.map { NSFetchIndexElementDescription(propertyName: $0, collationType: .binary) })
  }

  private func indexes(of entity: String, in sample: SampleModel) throws -> [StoreIndex] {
    try #require(try sample.model.freeze().resolved.entity(named: entity)).source.indexes
  }

  @Test("An index may have the entity of a row as an element, in both forms of indexes")
  func entityIndex() throws {
    let sample = SampleModel()
    sample.book.indexes = [index("byEntity", on: ["entity"]), index("both", on: ["entity", "title"])]
    sample.novel.compoundIndexes = [["entity", "genre"]]
    #expect(
      try indexes(of: "Book", in: sample) == [
        StoreIndex(name: "byEntity", elements: [.init(property: "entity")]),
        StoreIndex(name: "both", elements: [.init(property: "entity"), .init(property: "title")]),
      ])
    #expect(
      try indexes(of: "Novel", in: sample) == [
        StoreIndex(
          name: "entity_genre", kind: .compound,
          elements: [.init(property: "entity"), .init(property: "genre")])
      ])
    #expect(try sample.model.freeze().remarks.isEmpty)
  }

  @Test("A transient attribute named entity is not the entity of a row")
  func propertyNamedEntity() {
    let sample = SampleModel()
    let scratch = attribute("entity", .stringAttributeType)
    scratch.isTransient = true
    sample.book.properties.append(scratch)
    sample.book.indexes = [index("byEntity", on: ["entity"])]
    #expect(throws: ModelError.self) { try sample.model.freeze() }
  }

  @Test("An index leaves out to-many relationships, and the model says so")
  func toManyIndex() throws {
    let sample = SampleModel()
    sample.person.indexes = [
      index("byName", on: ["name", "books"]), index("byBooks", on: ["books"]),
    ]
    sample.person.indexes[0].partialNotNil = ["name", "books"]
    sample.person.compoundIndexes = [["books", "name"], ["books"]]
    #expect(
      try indexes(of: "Person", in: sample) == [
        StoreIndex(name: "byName", elements: [.init(property: "name")], partialNotNil: ["name"]),
        StoreIndex(name: "books_name", kind: .compound, elements: [.init(property: "name")]),
      ])
    let remarks = try sample.model.freeze().remarks
    #expect(remarks.count == 2, "An index on one relationship is left out in any case, as in Core Data.")
    #expect(remarks.allSatisfy { $0.contains("Person") && $0.contains("books") })
    #expect(remarks.first?.contains("byName") == true)
  }

  @Test("An empty uniqueness constraint counts as none")
  func emptyConstraint() throws {
    let (sample, plain) = (SampleModel(), SampleModel())
    sample.book.uniquenessConstraints = [[], ["title"], []]
    plain.book.uniquenessConstraints = [["title"]]
    #expect(sample.book.versionHash == plain.book.versionHash)
    let frozen = try sample.model.freeze()
    #expect(frozen.resolved.entity(named: "Book")?.source.uniquenessConstraints == [["title"]])
    let book = try #require(frozen.entity(named: "Book"))
    #expect(book.uniqueness.map { $0.map { book.properties[$0].name } } == [["title"]])
  }

  @Test("A model without entities can be used")
  func noEntities() throws {
    let frozen = try NSManagedObjectModel().freeze()
    #expect(frozen.entities.elements.isEmpty && frozen.schema.entities.isEmpty)
  }
}
