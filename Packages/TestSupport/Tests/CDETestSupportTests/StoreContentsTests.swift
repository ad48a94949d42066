import CDEManagedModel
import CDEModelRuntime
import CDETestSupport
import CDETesting
import Foundation
import Testing

@Suite("Contents of stores")
struct StoreContentsTests {
  /// Contents before and after one book changed in ways that are easily overlooked.
  private static func contents() async throws -> (before: StoreContents, after: StoreContents) {
    let container = TestStore.current.container
    let before = try await StoreContents(container)
    let context = container.newBackgroundContext()
    try await context.perform {
      let book = try #require(try context.fetch(Book.fetchRequest()).first)
      book.cover = Data([2, 1])
      book.due = book.due?.addingTimeInterval(0.001)
      book.isLent = true
      book.price = 1.1
      try context.save()
    }
    return (before, try await StoreContents(container))
  }

  private static let tree = ObjectTree(
    "Book", nil,
    [
      "title": "b", "cover": .data(Data([1, 2])), "due": .date(Date(timeIntervalSinceReferenceDate: 0)),
      "price": 1, "code": "6F1B1A52-0D7A-4E0B-9D0F-3F5A1B2C3D4E",
    ])

  @Sendable private static func fill(_ context: NSManagedObjectContext) throws { try tree.make(in: context) }

  @Test(
    "A difference is exact for data, instants, flags and decimals", .store(model: Library.model),
    .template(fill))
  func exact() async throws {
    let (before, after) = try await Self.contents()
    #expect(
      after.difference(from: before).lines == [
        "Book/p1 cover: 2 bytes a12871fe -> 2 bytes 25dfd29c",
        "Book/p1 due: 2001-01-01T00:00:00Z -> 2001-01-01T00:00:00.001Z",
        "Book/p1 isLent: false -> true",
        "Book/p1 price: 1 -> 1.1",
      ])
    #expect(before.description.contains("Book/p1 code: 6F1B1A52-0D7A-4E0B-9D0F-3F5A1B2C3D4E\n"))
    #expect(before.first?.description == "Book/p1 code: 6F1B1A52-0D7A-4E0B-9D0F-3F5A1B2C3D4E")
  }

  @Test(
    "A failing expectation of no difference shows objects and properties",
    .failing("Book/p1 isLent: false -> true", "Book/p1 price: 1 -> 1.1"), .store(model: Library.model),
    .template(fill))
  func emptiness() async throws {
    let (before, after) = try await Self.contents()
    let difference = after.difference(from: before)
    #expect(difference.isEmpty)
  }

  @Test(
    "A failing expectation of equal trees shows both", .failing("title \"b\"", "title \"c\""),
    .store(model: Library.model), .template(fill))
  func trees() async throws {
    let context = TestStore.current.container.newBackgroundContext()
    try await context.perform {
      let book = try #require(try context.fetch(Book.fetchRequest()).first)
      let expected = ObjectTree("Book", nil, ["title": "c"])
      let tree = try ObjectTree(reading: book, like: expected)
      #expect(tree == expected)
    }
  }
}
