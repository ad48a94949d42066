import Foundation

@_spi(CDE) @testable import CDEManagedModel

func attribute(_ name: String, _ type: NSAttributeType, default value: Any? = nil) -> NSAttributeDescription {
  let result = NSAttributeDescription()
  result.name = name
  result.attributeType = type
  result.defaultValue = value
  return result
}

func relationship(
  _ name: String, to destination: NSEntityDescription?, max: Int, ordered: Bool = false
) -> NSRelationshipDescription {
  let result = NSRelationshipDescription()
  result.name = name
  result.destinationEntity = destination
  result.maxCount = max
  result.isOrdered = ordered
  return result
}

func entity(_ name: String, _ properties: [NSPropertyDescription] = []) -> NSEntityDescription {
  let result = NSEntityDescription()
  result.name = name
  result.properties = properties
  return result
}

/// Authors with ordered books, some of which are novels.
struct SampleModel {
  let model = NSManagedObjectModel()
  let person = entity("Person", [attribute("name", .stringAttributeType)])
  let title = attribute("title", .stringAttributeType, default: "Untitled")
  let author: NSRelationshipDescription
  let books: NSRelationshipDescription
  let book: NSEntityDescription
  let novel = entity("Novel", [attribute("genre", .stringAttributeType)])

  init() {
    author = relationship("author", to: person, max: 1)
    book = entity("Book", [title, author, attribute("pages", .integer32AttributeType, default: Int32(1))])
    books = relationship("books", to: book, max: 0, ordered: true)
    books.deleteRule = .cascadeDeleteRule
    person.properties.append(books)
    author.inverseRelationship = books
    books.inverseRelationship = author
    book.subentities = [novel]
    model.entities = [person, book, novel]
  }
}
