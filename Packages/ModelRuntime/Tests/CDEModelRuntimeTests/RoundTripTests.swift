import CDEModelRuntime
import Foundation
import Testing

@Suite("Round trips through the store")
struct RoundTripTests {
  @Test("Every attribute type comes back as it was saved")
  func attributes() async throws {
    let stack = try Stack()
    let uuid = UUID()
    let writer = stack.context()
    let id = try await writer.perform {
      let item = Item(context: writer)
      item.title = "Zürich 🚀"
      item.count = -42
      item.score = 1.5
      item.createdAt = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
      item.note = "note"
      item.uuid = uuid
      item.flag = true
      item.price = Decimal(string: "10.11")
      item.link = URL(string: "https://example.org/a?b=c")
      item.payload = Data([0, 1, 2, 255])
      #expect(item.objectID.isTemporaryID)
      try writer.save()
      #expect(!item.objectID.isTemporaryID)
      #expect(!writer.hasChanges)
      return item.objectID
    }
    let reader = stack.context()
    try await reader.perform {
      let item = try #require(try reader.existingObject(with: id) as? Item)
      #expect(item.title == "Zürich 🚀")
      #expect(item.count == -42)
      #expect(item.score == 1.5)
      #expect(item.createdAt == Date(timeIntervalSinceReferenceDate: 700_000_000.25))
      #expect(item.note == "note")
      #expect(item.uuid == uuid)
      #expect(item.flag)
      #expect(item.price == Decimal(string: "10.11"))
      #expect(item.link == URL(string: "https://example.org/a?b=c"))
      #expect(item.payload == Data([0, 1, 2, 255]))
      item.note = nil
      item.count = 7
      try reader.save()
    }
    let again = stack.context()
    try await again.perform {
      let request = Item.fetchRequest()
      request.predicate = NSPredicate(format: "count == %@ AND note == nil", 7)
      let items = try again.fetch(request)
      #expect(items.count == 1)
      #expect(items.first?.title == "Zürich 🚀")
    }
  }

  @Test("Relationships change on both sides at once and come back")
  func relationships() async throws {
    let stack = try Stack()
    let context = stack.context()
    try await context.perform {
      let category = Category(context: context)
      category.name = "A"
      let item = Item(context: context)
      item.title = "one"
      item.category = category
      #expect(category.items == [item])
      #expect(category.changedValues()["items"] != nil)
      let tag = Tag(context: context)
      tag.name = "t"
      item.addToTags(tag)
      #expect(tag.items == [item])
      try context.save()
      context.reset()
    }
    try await context.perform {
      let category = try #require(try context.fetch(Category.fetchRequest()).first)
      #expect(category.itemsCount == 1)
      let item = try #require(category.items.first)
      #expect(item.category === category)
      #expect(item.tags.map(\.name) == ["t"])
      context.delete(category)
      #expect(item.category == nil)
      try context.save()
      #expect(try context.count(for: Category.fetchRequest()) == 0)
      #expect(try context.count(for: Item.fetchRequest()) == 1)
    }
  }
}
