import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// A context refreshes objects that another process has saved, which no merge tells it without a history.
@Suite("Refreshed objects with unsaved changes, written by another process")
struct RefreshOfOthersTests {
  private let (theirs, mine): (NSManagedObjectContext, NSManagedObjectContext)
  private let reader: NSManagedObjectContext

  init() throws {
    let first = try Stack(model: MergeProgram.model())
    let second = try Stack(model: MergeProgram.model(), in: first.folder)
    (theirs, mine, reader) = (first.context(), second.context(), second.context())
    mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    theirs.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
  }

  private func find(_ entity: String, _ number: Int, in context: NSManagedObjectContext) throws
    -> NSManagedObject
  {
    try #require(try context.all(entity, NSPredicate(format: "number = %@", number)).first)
  }

  @Test(
    "A value that was set to what it was is not written over the other process's value",
    arguments: [true, false])
  func equalValue(all: Bool) throws {
    theirs.make("Author", ["number": 1, "value": 1])
    try theirs.save()
    let author = try find("Author", 1, in: mine)
    author.setValue(author.value(forKey: "value"), forKey: "value")
    author.setValue(10, forKey: "number")
    let other = try find("Author", 1, in: theirs)
    other.setValue(2, forKey: "value")
    try theirs.save()
    if all { mine.refreshAllObjects() } else { mine.refresh(author, mergeChanges: true) }
    try mine.save()
    let stored = try find("Author", 10, in: reader)
    #expect(stored.value(forKey: "value") as? Int == 2)
  }

  private typealias Held = (authors: [NSManagedObject], card: NSManagedObject)

  /// Two authors and a card that the first of them holds, as each process knows them.
  private func heldCard() throws -> (theirs: Held, mine: Held) {
    let made = (0..<2).map { theirs.make("Author", ["number": $0]) }
    let card = theirs.make("Card", ["number": 0])
    card.setValue(made[0], forKey: "holder")
    try theirs.save()
    let authors = try (0..<2).map { try find("Author", $0, in: mine) }
    let mineCard = try find("Card", 0, in: mine)
    #expect(mineCard.value(forKey: "holder") as? NSManagedObject === authors[0])
    return ((made, card), (authors, mineCard))
  }

  @Test("A one-to-one partner that only the other process knew is released with the reference to it")
  func partner() throws {
    let ((made, card), (authors, mineCard)) = try heldCard()
    #expect(authors[1].value(forKey: "card") == nil)
    mineCard.setValue(nil, forKey: "holder")
    card.setValue(made[1], forKey: "holder")
    try theirs.save()
    // The row of the new partner is not read again.
    for object in [authors[0], mineCard] { mine.refresh(object, mergeChanges: true) }
    try mine.save()
    let stored = try find("Card", 0, in: reader)
    let holder = try find("Author", 1, in: reader)
    #expect(stored.value(forKey: "holder") == nil)
    #expect(holder.value(forKey: "card") == nil)
    #expect(authors[1].value(forKey: "card") == nil)
  }

  @Test(
    "A one-to-one partner that the other process gave away is taken back on both sides, and from the object that had it",
    arguments: [false, true])
  func partnerTakenBack(isFirst: Bool) throws {
    let ((made, card), (authors, mineCard)) = try heldCard()
    card.setValue(made[1], forKey: "holder")
    try theirs.save()
    // The card's row still says what is set, and would not be written.
    mine.refresh(authors[0], mergeChanges: true)
    #expect(authors[0].value(forKey: "card") == nil)
    // The save settles its objects in the order in which they changed.
    if isFirst { mineCard.setValue(nil, forKey: "holder") }
    authors[0].setValue(mineCard, forKey: "card")
    try mine.save()
    let stored = try find("Card", 0, in: reader)
    #expect((stored.value(forKey: "holder") as? NSManagedObject)?.value(forKey: "number") as? Int == 0)
    #expect(try find("Author", 0, in: reader).value(forKey: "card") as? NSManagedObject === stored)
    #expect(try find("Author", 1, in: reader).value(forKey: "card") == nil)
  }

  @Test(
    "A partner that is read again for a save is in conflict all the same, if both processes changed its values"
  )
  func partnerInConflict() throws {
    let ((made, card), (authors, mineCard)) = try heldCard()
    card.setValue(made[1], forKey: "holder")
    card.setValue(10, forKey: "number")
    try theirs.save()
    mine.refresh(authors[0], mergeChanges: true)
    mineCard.setValue(20, forKey: "number")
    authors[0].setValue(mineCard, forKey: "card")
    mine.mergePolicy = NSMergePolicy.error
    let error = #expect(throws: ManagedObjectError.self) { try mine.save() }
    #expect(error?.code == .saveConflict)
    mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    try mine.save()
    #expect(try find("Card", 10, in: reader).value(forKey: "number") as? Int == 10)
  }
}
