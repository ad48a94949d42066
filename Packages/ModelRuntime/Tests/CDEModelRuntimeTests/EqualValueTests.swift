import CDEManagedModel
@_spi(CDE) @testable import CDEModelRuntime
import CDEStore
import Foundation
import Testing

/// Setting the value that is stored is no change: importers do it all the time.
@Suite("Values set to what they are", .ownThreads)
struct EqualValueTests {
  private func item(_ rivals: Rivals) throws -> (mine: Item, theirs: Item) {
    let theirs = Item(context: rivals.theirs)
    theirs.title = "A"
    theirs.note = "e\u{301}"
    theirs.payload = Data([1, 2, 3])
    theirs.price = 12.50
    theirs.link = URL(string: "https://example.org/a")
    theirs.uuid = UUID()
    try rivals.theirs.save()
    return (try rivals.twin(of: theirs, in: rivals.mine), theirs)
  }

  private func version(_ object: NSManagedObject) -> Int64 { object._batch.version(Int(object._row)) }

  @Test("An equal value does not overwrite what another context saved", arguments: Rivals.Place.allCases)
  func lostUpdate(_ place: Rivals.Place) throws {
    let rivals = try Rivals(place, policy: .mergeByPropertyObjectTrump)
    let (mine, theirs) = try item(rivals)
    theirs.title = "X"
    try rivals.theirs.save()
    mine.title = "A"
    mine.count = 5
    try rivals.mine.save()
    let stored = try #require(try rivals.stored(mine))
    #expect(stored.title == "X")
    #expect(stored.count == 5)
    #expect(mine.title == "X")
  }

  @Test(
    "An equal value is no conflict under the error policy, and writes nothing",
    arguments: Rivals.Place.allCases)
  func noConflict(_ place: Rivals.Place) throws {
    let rivals = try Rivals(place, policy: .error)
    let (mine, theirs) = try item(rivals)
    theirs.title = "X"
    try rivals.theirs.save()
    mine.title = "A"
    #expect(mine.hasChanges)
    #expect(rivals.mine.hasChanges)
    #expect(!mine.hasPersistentChangedValues)
    try rivals.mine.save()
    #expect(!rivals.mine.hasChanges)
    let stored = try #require(try rivals.stored(mine))
    #expect(stored.title == "X")
    #expect(version(stored) == version(theirs))
  }

  @Test("Every kind of attribute compares by what is stored; there and back again is no change")
  func kinds() throws {
    let rivals = try Rivals()
    let (mine, _) = try item(rivals)
    let before = version(mine)
    mine.title = "B"
    mine.title = "A"
    mine.count = mine.count
    mine.score = 0
    mine.createdAt = mine.createdAt
    mine.note = "e\u{301}"
    mine.uuid = mine.uuid
    mine.flag = false
    mine.price = Decimal(string: "12.5")
    mine.link = URL(string: "https://example.org/a")
    mine.payload = Data([1, 2, 3])
    #expect(mine.changedValues().isEmpty)
    #expect(!mine.hasPersistentChangedValues)
    try rivals.mine.save()
    #expect(version(mine) == before)
    mine.score = -0.0
    #expect(mine.hasPersistentChangedValues)
    try rivals.mine.save()
    #expect(version(mine) == before + 1)
  }

  @Test("A value in a file of its own is compared if it was read, and counts as changed otherwise", .onSQLite)
  func externalFile() throws {
    let stack = try Stack(model: try ValueModel.make())
    try ValueModel.fill(stack.context())
    let context = stack.context()
    let large = try #require(
      try context.fetch(Specimen.fetchRequest()).first { ($0.picture?.count ?? 0) > 1000 })
    let picture = try #require(large.picture)
    let before = version(large)
    large.picture = picture
    #expect(large.hasChanges && !large.hasPersistentChangedValues)
    try context.save()
    #expect(version(large) == before && large.picture == picture)
    // Beside another change the row keeps its file.
    let names = try stack.externalFiles()
    large.picture = picture
    large.text = "changed"
    try context.save()
    #expect(try stack.externalFiles() == names)
    #expect(version(large) == before + 1 && large.picture == picture)
    large.picture = picture + [1]
    #expect(large.hasPersistentChangedValues)
    try context.save()
    #expect(version(large) == before + 2 && large.picture == picture + [1])
    // Never read here.
    let other = stack.context()
    let unread = try #require(try other.existingObject(with: large.objectID) as? Specimen)
    unread.picture = picture + [1]
    #expect(unread.hasPersistentChangedValues)
    try other.save()
    #expect(version(unread) == before + 3)
  }

  @Test("Composed text in place of decomposed text is saved")
  func normalisation() throws {
    let rivals = try Rivals()
    let (mine, _) = try item(rivals)
    mine.note = "\u{E9}"
    #expect(mine.hasPersistentChangedValues)
    try rivals.mine.save()
    let stored = try #require(try rivals.stored(mine))
    #expect(Array(stored.note!.utf8) == Array("\u{E9}".utf8))
  }

  @Test("A relationship set to what it was changes neither side")
  func relationships() throws {
    let stack = try Stack()
    let context = stack.context()
    let category = Category(context: context)
    let other = Category(context: context)
    let item = Item(context: context)
    item.category = category
    try context.save()
    let before = (version(item), version(category))
    item.category = other
    item.category = category
    #expect(context.hasChanges)
    #expect(!item.hasPersistentChangedValues)
    #expect(!category.hasPersistentChangedValues)
    let listener = Listener(context)
    try context.save()
    #expect((version(item), version(category)) == before)
    let commit = try #require(
      listener.events.last?.info[CommittedTransaction.userInfoKey] as? CommittedTransaction)
    #expect(commit.changes.isEmpty)
    #expect(commit.touched.isEmpty)
    #expect(category.items == [item])
    #expect(other.items.isEmpty)
  }

  @Test("A save without differences tells no other context")
  func silence() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = Item(context: context)
    item.title = "A"
    try context.save()
    let sibling = stack.context()
    sibling.automaticallyMergesChangesFromParent = true
    let listener = Listener(sibling)
    item.title = "A"
    try context.save()
    // Merges wait in the sibling's queue, before this block.
    #expect(sibling.performAndWait { listener.events.isEmpty })
    item.title = "B"
    try context.save()
    #expect(sibling.performAndWait { !listener.events.isEmpty })
  }

  @Test("What a failed save leaves is still unsaved, and a rollback inside willSave saves nothing")
  func failures() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = Item(context: context)
    item.title = "A"
    try context.save()
    item.title = "B"
    let listener = Listener(context) { note in
      if note.name == .NSManagedObjectContextWillSave { context.rollback() }
    }
    try context.save()
    withExtendedLifetime(listener) {}
    #expect(item.title == "A")
    #expect(!context.hasChanges)
  }
}
