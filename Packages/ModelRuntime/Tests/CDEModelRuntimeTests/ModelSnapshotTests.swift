import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Snapshots")
struct ModelSnapshotTests {
  private func saved(_ context: NSManagedObjectContext, _ title: String = "x") throws -> Item {
    let item = Item(context: context)
    item.title = title
    item.count = 7
    item.score = 1.5
    item.createdAt = Date(timeIntervalSinceReferenceDate: 100)
    item.uuid = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF")
    item.flag = true
    item.price = Decimal(string: "12.30")
    item.link = URL(string: "https://a.b/c")
    item.payload = Data([1, 2, 3])
    try context.save()
    return item
  }

  @Test("A snapshot reads what the object reads")
  func values() throws {
    let context = try Stack().context()
    let item = try saved(context)
    let snapshot: Item.Snapshot = try item.snapshot()
    #expect(snapshot.title == item.title)
    #expect(snapshot.count == item.count)
    #expect(snapshot.score == item.score)
    #expect(snapshot.createdAt == item.createdAt)
    #expect(snapshot.note == nil)
    #expect(snapshot.uuid == item.uuid)
    #expect(snapshot.flag == true)
    #expect(snapshot.price == item.price)
    #expect(snapshot.link == item.link)
    #expect(snapshot.payload == item.payload)
    #expect(snapshot.category == nil)
    #expect(snapshot.tags == nil)
    #expect(snapshot.version == 1)
    #expect(try snapshot.handle == item.handle)
  }

  @Test("It stays as it is when the object changes, is saved, or is deleted")
  func immutable() throws {
    let context = try Stack().context()
    let item = try saved(context)
    let before = try item.snapshot()
    item.title = "y"
    #expect(before.title == "x")
    try context.save()
    #expect(before.title == "x")
    let after = try item.snapshot()
    #expect(after.title == "y" && after.version == 2)
    context.delete(item)
    try context.save()
    #expect(before.title == "x" && after.title == "y")
  }

  @Test("Unsaved changes are part of it, and the object is left as it was")
  func unsavedChanges() throws {
    let context = try Stack().context()
    let item = try saved(context)
    let category = Category(context: context)
    try context.save()
    item.title = "new"
    item.note = "n"
    item.price = nil
    item.category = category
    let snapshot = try item.snapshot()
    #expect(snapshot.title == "new" && snapshot.note == "n" && snapshot.price == nil)
    #expect(try snapshot.category == category.handle)
    #expect(item.changedValues().keys.sorted() == ["category", "note", "price", "title"])
    context.rollback()
    #expect(snapshot.title == "new")
    #expect(try item.snapshot().title == "x")
  }

  @Test("An object never saved has none, nor has one that refers to such an object")
  func unsavedObjects() throws {
    let context = try Stack().context()
    let fresh = Item(context: context)
    #expect(throws: ManagedObjectError.self) { try fresh.snapshot() }
    let item = try saved(context)
    item.category = Category(context: context)
    let error = #expect(throws: ManagedObjectError.self) { try item.snapshot() }
    #expect(error?.code == .unsavedObject && error?.entity == "Category")
  }

  @Test("A row that is gone gives an error, not defaults")
  func goneRow() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = try saved(context)
    let other = stack.context()
    let fault = other.object(with: item.objectID) as! Item
    context.delete(item)
    try context.save()
    let error = #expect(throws: ManagedObjectError.self) { try fault.snapshot() }
    #expect(error?.code == .objectNotFound)
    #expect(try item.snapshot().title == "x")
  }

  @Test("Related objects read as handles; the many where they were asked for")
  func relationships() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = try saved(context)
    let category = Category(context: context)
    let tags = (0..<3).map { _ in Tag(context: context) }
    for (index, tag) in tags.enumerated() { tag.name = "t\(index)" }
    item.category = category
    for tag in tags { item.addToTags(tag) }
    try context.save()
    let snapshot = try item.snapshot(handlesOf: Item.path.tags)
    #expect(try snapshot.category == category.handle)
    #expect(try Set(snapshot.tags ?? []) == Set(tags.map { try $0.handle }))
    let elsewhere = stack.context()
    let handle = try #require(snapshot.category)
    #expect(try elsewhere.object(for: handle).items.count == 1)
    item.addToTags(Tag(context: context))
    #expect(throws: ManagedObjectError.self) { try item.snapshot(handlesOf: Item.path.tags) }
    #expect(try category.snapshot(handlesOf: Category.path.items).items == [item.handle])
  }

  @Test("Equality and hashes are of the stored values and the row")
  func equality() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = try saved(context)
    let twin = try saved(context)
    let first = try item.snapshot()
    let again = try (stack.context().existingObject(with: item.objectID) as! Item).snapshot()
    #expect(first == again && first.hashValue == again.hashValue)
    #expect(try first != twin.snapshot())
    item.title = "y"
    let changed = try item.snapshot()
    #expect(changed != first)
    item.title = "x"
    #expect(try item.snapshot() == first)
    #expect(try item.snapshot().hashValue == first.hashValue)
    #expect(Set([first, again, changed]).count == 2)
  }

  @Test("It crosses actors, and what it says there is what was read here")
  func crossing() async throws {
    let context = try Stack().context()
    let snapshot = try saved(context).snapshot()
    let title = await Task.detached { snapshot.title + " \(snapshot.count)" }.value
    #expect(title == "x 7")
  }

  @Test("JSON has the code's names, null for nil, and lists where they were asked for")
  func json() throws {
    let context = try Stack(memoTypes).context()
    let memo = Memo(context: context)
    memo.title = "a"
    memo.score = 3
    memo.draft = "never"
    let tag = Label(context: context)
    memo.addToTags(tag)
    let group = MemoGroup(context: context)
    memo.group = group
    try context.save()
    func object(_ snapshot: Memo.Snapshot) throws -> NSDictionary {
      let data = try JSONEncoder().encode(snapshot)
      return try JSONSerialization.jsonObject(with: data) as! NSDictionary
    }
    let plain = try object(memo.snapshot())
    #expect(Set(plain.allKeys as! [String]) == ["title", "score", "rating", "secret", "group"])
    #expect(plain["title"] as? String == "a" && plain["score"] as? Int == 3)
    #expect(plain["rating"] is NSNull)
    #expect(try plain["group"] as? String == group.handle.uriRepresentation.absoluteString)
    let full = try object(memo.snapshot(handlesOf: Memo.path.tags))
    #expect(try full["tags"] as? [String] == [tag.handle.uriRepresentation.absoluteString])
  }

  @Test("Every primitive encodes as its type does")
  func jsonPrimitives() throws {
    let context = try Stack().context()
    let snapshot = try saved(context).snapshot()
    struct Mirror: Decodable {
      let title: String, count: Int, score: Double, createdAt: Date, note: String?, uuid: UUID, flag: Bool
      let price: Decimal, link: URL, payload: Data
    }
    let mirror = try JSONDecoder().decode(Mirror.self, from: try JSONEncoder().encode(snapshot))
    #expect(mirror.title == "x" && mirror.count == 7 && mirror.score == 1.5 && mirror.flag)
    #expect(mirror.createdAt == snapshot.createdAt && mirror.note == nil && mirror.uuid == snapshot.uuid)
    #expect(mirror.price == Decimal(string: "12.3") && mirror.link == snapshot.link)
    #expect(mirror.payload == Data([1, 2, 3]))
  }
}
