import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Merge policies: deletions on either side")
struct MergePolicyDeletionTests {
  @Test(
    "Deleted there, changed here: gone for the store's sake, or written again whole",
    arguments: NSMergePolicy.settling)
  func deletedThere(_ type: NSMergePolicyType) throws {
    let rivals = try Rivals(.twoContainers, policy: NSMergePolicy(merge: type))
    let item = Item(context: rivals.theirs)
    let category = Category(context: rivals.theirs)
    (item.title, item.count, item.price, item.payload) = ("base", 4, Decimal(string: "1.25"), Data([1, 2]))
    item.category = category
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    let seen = try rivals.twin(of: category, in: rivals.mine)
    #expect(seen.itemsCount == 1)
    rivals.theirs.delete(item)
    try rivals.theirs.save()
    mine.title = "mine"
    let listener = Listener(rivals.mine)
    try rivals.mine.save()
    #expect(!rivals.mine.hasChanges)
    let stored = try rivals.stored(item)
    if type.storeWins {
      #expect(stored == nil)
      #expect(mine.isDeleted && mine.managedObjectContext == nil)
      #expect(seen.items.isEmpty)
      #expect(!listener.names.contains("did"))
      #expect(listener.events.contains { ($0.info[NSDeletedObjectsKey] as? Set<NSManagedObject>) == [mine] })
    } else {
      #expect((stored?.title, stored?.count) == ("mine", 4))
      #expect(stored?.price == Decimal(string: "1.25") && stored?.payload == Data([1, 2]))
      #expect(stored?.category?.objectID.uriRepresentation() == category.objectID.uriRepresentation())
      #expect(seen.items == [mine])
      #expect(listener.objects(listener.events.count - 1, NSInsertedObjectsKey) == [mine])
      // A context that has the row as it was before the deletion must find the conflict.
      mine.count = 5
      try rivals.mine.save()
    }
  }

  @Test(
    "A row written again refers to nothing that was deleted with it, and is no row that others still know")
  func writtenAgain() throws {
    let rivals = try Rivals(policy: .mergeByPropertyObjectTrump)
    let item = Item(context: rivals.theirs)
    item.category = Category(context: rivals.theirs)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    #expect(mine.category != nil)
    let third = rivals.stack.context()
    let known = try rivals.twin(of: item, in: third)
    rivals.theirs.delete(try #require(item.category))
    rivals.theirs.delete(item)
    try rivals.theirs.save()
    mine.title = "mine"
    try rivals.mine.save()
    #expect(mine.category == nil)
    #expect(try rivals.stored(mine)?.category == nil)
    known.count = 9
    let error = #expect(throws: ManagedObjectError.self) { try third.save() }
    #expect(error?.code == .saveConflict)
    third.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try third.save()
    let stored = try #require(try rivals.stored(mine))
    #expect((stored.title, stored.count) == ("mine", 9))
  }

  @Test("Two contexts that both write a deleted row again end with one row and both changes")
  func bothWriteAgain() throws {
    let rivals = try Rivals(policy: .mergeByPropertyObjectTrump)
    let item = Item(context: rivals.theirs)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    let other = rivals.stack.context()
    let twin = try rivals.twin(of: item, in: other)
    rivals.theirs.delete(item)
    try rivals.theirs.save()
    mine.title = "mine"
    twin.count = 3
    // While mine resolves its conflict, the other one is faster.
    rivals.mine.mergePolicy = Interrupting {
      other.mergePolicy = NSMergePolicy.overwrite
      try other.save()
    }
    try rivals.mine.save()
    #expect(try rivals.stack.context().count(for: Item.fetchRequest()) == 1)
    #expect(try rivals.stored(mine)?.title == "mine")
  }

  @Test("Deleted here, changed there: gone, or back as the store has it", arguments: NSMergePolicy.settling)
  func deletedHere(_ type: NSMergePolicyType) throws {
    let rivals = try Rivals(policy: NSMergePolicy(merge: type))
    let category = Category(context: rivals.theirs)
    let item = Item(context: rivals.theirs)
    let tag = Tag(context: rivals.theirs)
    item.category = category
    item.addToTags(tag)
    try rivals.theirs.save()
    let (mine, seen) = (
      try rivals.twin(of: category, in: rivals.mine), try rivals.twin(of: item, in: rivals.mine)
    )
    let (late, seenTag) = (Item(context: rivals.theirs), try rivals.twin(of: tag, in: rivals.mine))
    #expect((mine.itemsCount, seenTag.itemsCount) == (1, 1))
    category.name = "theirs"
    late.category = category
    item.title = "theirs"
    try rivals.theirs.save()
    rivals.mine.delete(mine)
    rivals.mine.delete(seen)
    try rivals.mine.save()
    #expect(!rivals.mine.hasChanges)
    let stored = try rivals.stored(category)
    if type.storeWins {
      #expect(stored?.name == "theirs" && mine.name == "theirs")
      #expect(!mine.isDeleted && !seen.isDeleted)
      #expect(stored?.itemsCount == 2)
      #expect(mine.itemsCount == 2 && seen.category === mine)
      #expect(seenTag.items == [seen])
      #expect(try rivals.stored(item)?.tagsCount == 1)
    } else {
      #expect(stored == nil)
      #expect(try rivals.stored(item) == nil)
      // The rule holds for the member that came meanwhile as well.
      #expect(try rivals.stored(late)?.category == nil)
    }
  }

  @Test("A deletion that is taken back takes back what it cascaded to")
  func cascade() throws {
    let shelf = entity("Shelf", nil, [attribute("name", .stringAttributeType)])
    let book = entity("Book", nil, [attribute("name", .stringAttributeType)])
    connect(.many(shelf, "books", rule: .cascadeDeleteRule), .one(book, "shelf"))
    let stack = try Stack(model: model(shelf, book))
    let (theirs, mine) = (stack.context(), stack.context())
    mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    let owner = theirs.make("Shelf")
    let books = (0..<3).map { _ in theirs.make("Book") }
    owner.mutableSetValue(forKey: "books").addObjects(from: books)
    try theirs.save()
    let seen = try mine.existingObject(with: owner.objectID)
    #expect(seen.set("books").count == 3)
    owner.setValue("theirs", forKey: "name")
    try theirs.save()
    mine.delete(seen)
    #expect(mine.deletedObjects.count == 4)
    try mine.save()
    #expect(seen.set("books").count == 3)
    #expect(try stack.context().all("Book", NSPredicate(format: "shelf.name == %@", "theirs")).count == 3)
    #expect(!mine.hasChanges)
  }

  @Test("Deleted on both sides: an error, or nothing left to do", arguments: [0, 1, 2, 3, 4])
  func deletedTwice(_ raw: UInt) throws {
    let type = try #require(NSMergePolicyType(rawValue: raw))
    let rivals = try Rivals(policy: NSMergePolicy(merge: type))
    let item = Item(context: rivals.theirs)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    rivals.theirs.delete(item)
    try rivals.theirs.save()
    rivals.mine.delete(mine)
    if type == .errorMergePolicyType {
      let error = #expect(throws: ManagedObjectError.self) { try rivals.mine.save() }
      #expect(error?.mergeConflicts.map(\.newVersionNumber) == [0])
      #expect(error?.mergeConflicts.first?.persistedSnapshot == nil)
      #expect(rivals.mine.deletedObjects == [mine])
      rivals.mine.refresh(mine, mergeChanges: true)
    }
    try rivals.mine.save()
    #expect(!rivals.mine.hasChanges)
    #expect(mine.isDeleted)
  }
}
