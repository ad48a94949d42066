import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

@Suite("Merge policies: other writers of the same object")
struct MergePolicyTests {
  // MARK: Attributes

  private func conflict(_ rivals: Rivals) throws -> Item {
    let item = Item(context: rivals.theirs)
    (item.title, item.count, item.note, item.score) = ("base", 1, "n", 1)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    (item.title, item.count) = ("theirs", 2)
    try rivals.theirs.save()
    (mine.title, mine.note) = ("mine", "my note")
    return mine
  }

  @Test(
    "The error policy names object, versions and the three snapshots, in Apple's terms too; a refresh mends it"
  )
  func error() throws {
    let rivals = try Rivals()
    let item = try conflict(rivals)
    #expect(rivals.mine.mergePolicy as? NSMergePolicy === NSMergePolicy.error)
    #expect(NSErrorMergePolicy.mergeType == .errorMergePolicyType)
    let error = try #require(#expect(throws: ManagedObjectError.self) { try rivals.mine.save() })
    #expect(error.code == .saveConflict)
    #expect((error.cause as? StoreError)?.code == .conflict)
    #expect(error.conflicts == [item.objectID])
    let bridged = error as NSError
    #expect((bridged.domain, bridged.code) == (NSCocoaErrorDomain, NSManagedObjectMergeError))
    let list = try #require(bridged.userInfo["conflictList"] as? [NSMergeConflict])
    let conflict = try #require(list.first)
    #expect(list.count == 1)
    #expect(conflict.sourceObject === item)
    #expect((conflict.oldVersionNumber, conflict.newVersionNumber) == (1, 2))
    #expect(conflict.cachedSnapshot?["title"] as? String == "theirs")
    #expect(conflict.cachedSnapshot?["count"] as? Int == 2)
    #expect(conflict.persistedSnapshot == nil)
    #expect(conflict.objectSnapshot?["title"] as? String == "base")
    #expect(conflict.objectSnapshot?["count"] as? Int == 1)
    #expect(conflict.objectSnapshot?["category"] is NSNull)
    #expect(conflict.objectSnapshot?.keys.contains("tags") == false)

    #expect(rivals.mine.updatedObjects == [item])
    #expect((item.title, item.count, item.note) == ("mine", 1, "my note"))
    #expect(throws: ManagedObjectError.self) { try rivals.mine.save() }
    rivals.mine.refresh(item, mergeChanges: true)
    try rivals.mine.save()
    let stored = try #require(try rivals.stored(item))
    #expect((stored.title, stored.count, stored.note) == ("mine", 2, "my note"))
  }

  @Test(
    "Attributes: whose value stays where one side or both changed it",
    arguments: NSMergePolicy.settling, Rivals.Place.allCases)
  func attributes(_ type: NSMergePolicyType, _ place: Rivals.Place) throws {
    let rivals = try Rivals(place, policy: NSMergePolicy(merge: type))
    let item = try conflict(rivals)
    try rivals.mine.save()
    let expected: (String, Int, String) =
      switch type {
      case .mergeByPropertyStoreTrumpMergePolicyType: ("theirs", 2, "my note")
      case .mergeByPropertyObjectTrumpMergePolicyType: ("mine", 2, "my note")
      case .overwriteMergePolicyType: ("mine", 1, "my note")
      default: ("theirs", 2, "n")
      }
    let stored = try #require(try rivals.stored(item))
    #expect(
      (stored.title, stored.count, stored.note ?? "", stored.score) == (expected.0, expected.1, expected.2, 1)
    )
    #expect((item.title, item.count, item.note ?? "") == expected)
    #expect(!rivals.mine.hasChanges && !item.hasChanges)
    // The object stands on the row that was written: nothing is in the way of the next save.
    rivals.mine.mergePolicy = NSMergePolicy.error
    item.score = 7
    try rivals.mine.save()
    #expect(try rivals.stored(item)?.score == 7)
  }

  // MARK: Relationships

  @Test(
    "A to-one reference is a value like others, and all owners in memory agree",
    arguments: NSMergePolicy.settling)
  func toOne(_ type: NSMergePolicyType) throws {
    for isChangedHere in [true, false] {
      let rivals = try Rivals(policy: NSMergePolicy(merge: type))
      let item = Item(context: rivals.theirs)
      let categories = ["0", "1", "2"].map { name in
        let category = Category(context: rivals.theirs)
        category.name = name
        return category
      }
      item.category = categories[0]
      try rivals.theirs.save()
      let mine = try rivals.twin(of: item, in: rivals.mine)
      let seen = try categories.map { try rivals.twin(of: $0, in: rivals.mine) }
      #expect(seen.map(\.itemsCount) == [1, 0, 0])
      item.category = categories[1]
      try rivals.theirs.save()
      if isChangedHere { mine.category = seen[2] } else { mine.title = "mine" }
      try rivals.mine.save()
      let winner =
        switch type {
        case .mergeByPropertyObjectTrumpMergePolicyType: isChangedHere ? 2 : 1
        case .overwriteMergePolicyType: isChangedHere ? 2 : 0
        default: 1
        }
      #expect(mine.category === seen[winner])
      for (index, category) in seen.enumerated() {
        #expect(category.items == (index == winner ? [mine] : []), "\(index), changed here: \(isChangedHere)")
      }
      #expect(try rivals.stored(item)?.category?.name == "\(winner)")
      #expect(!rivals.mine.hasChanges)
    }
  }

  @Test(
    "To-many members: what either side added and removed holds, but for a rolled back object",
    arguments: NSMergePolicy.settling)
  func toMany(_ type: NSMergePolicyType) throws {
    let rivals = try Rivals(policy: NSMergePolicy(merge: type))
    let item = Item(context: rivals.theirs)
    let tags = ["0", "1", "2"].map { name in
      let tag = Tag(context: rivals.theirs)
      tag.name = name
      return tag
    }
    item.addToTags(tags[0])
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    let seen = try tags.map { try rivals.twin(of: $0, in: rivals.mine) }
    item.title = "theirs"
    item.addToTags(tags[1])
    try rivals.theirs.save()
    mine.title = "mine"
    mine.addToTags(seen[2])
    mine.removeFromTags(seen[0])
    try rivals.mine.save()
    let expected: Set = type == .rollbackMergePolicyType ? ["0", "1"] : ["1", "2"]
    #expect(try Set(rivals.stored(item)?.tags.map(\.name) ?? []) == expected)
    #expect(Set(mine.tags.map(\.name)) == expected)
    #expect(seen[0].items.isEmpty != expected.contains("0"))
    #expect(seen[2].items.isEmpty != expected.contains("2"))
    #expect(!rivals.mine.hasChanges)
  }

  @Test(
    "Who is a member by its own reference stays one, whatever becomes of its owner",
    arguments: NSMergePolicy.settling)
  func members(_ type: NSMergePolicyType) throws {
    let rivals = try Rivals(policy: NSMergePolicy(merge: type))
    let category = Category(context: rivals.theirs)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: category, in: rivals.mine)
    category.name = "theirs"
    try rivals.theirs.save()
    mine.name = "mine"
    let item = Item(context: rivals.mine)
    mine.addToItems(item)
    try rivals.mine.save()
    #expect(item.category === mine)
    #expect(mine.items == [item])
    let stored = try #require(try rivals.stored(category))
    #expect(stored.itemsCount == 1)
    #expect(stored.name == (type.storeWins ? "theirs" : "mine"))
  }

  @Test("A one-to-one relationship that both sides made anew ends mutual", arguments: NSMergePolicy.settling)
  func oneToOne(_ type: NSMergePolicyType) throws {
    let person = entity("Person", nil, [attribute("name", .stringAttributeType)])
    let desk = entity("Desk", nil, [attribute("name", .stringAttributeType)])
    connect(.one(person, "desk"), .one(desk, "person"))
    let stack = try Stack(model: model(person, desk))
    let (theirs, mine) = (stack.context(), stack.context())
    mine.mergePolicy = NSMergePolicy(merge: type)
    let owner = theirs.make("Person", ["name": "p"])
    let desks = ["a", "b"].map { theirs.make("Desk", ["name": $0]) }
    try theirs.save()
    let seen = try mine.existingObject(with: owner.objectID)
    let seenDesks = try desks.map { try mine.existingObject(with: $0.objectID) }
    owner.setValue(desks[0], forKey: "desk")
    try theirs.save()
    seen.setValue(seenDesks[1], forKey: "desk")
    try mine.save()
    let winner = type.storeWins ? 0 : 1
    #expect(seen.one("desk") === seenDesks[winner])
    let fresh = stack.context()
    #expect(try fresh.existingObject(with: owner.objectID).one("desk")?.objectID == desks[winner].objectID)
    #expect(try fresh.existingObject(with: desks[winner].objectID).one("person")?.objectID == owner.objectID)
    #expect(!mine.hasChanges)
  }

  @Test("An order changed here is kept over a member's values changed there")
  func order() throws {
    let list = entity("List", nil, [])
    let row = entity("Row", nil, [attribute("name", .stringAttributeType)])
    connect(.many(list, "rows", ordered: true), .one(row, "list"))
    let stack = try Stack(model: model(list, row))
    let (theirs, mine) = (stack.context(), stack.context())
    mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let owner = theirs.make("List")
    let rows = ["a", "b", "c"].map { theirs.make("Row", ["name": $0]) }
    for row in rows { owner.mutableOrderedSetValue(forKey: "rows").add(row) }
    try theirs.save()
    let seen = try mine.existingObject(with: owner.objectID)
    #expect(seen.list("rows").map { $0.value(forKey: "name") as? String } == ["a", "b", "c"])
    rows[0].setValue("A", forKey: "name")
    try theirs.save()
    // The row that moves is the one that they wrote.
    seen.mutableOrderedSetValue(forKey: "rows").insert(seen.list("rows")[0], at: 2)
    try mine.save()
    let fresh = stack.context()
    for list in [seen, try fresh.existingObject(with: owner.objectID)] {
      #expect(list.list("rows").map { $0.value(forKey: "name") as? String } == ["b", "c", "A"])
    }
  }

  // MARK: Policies of one's own

  @Test("A policy of one's own decides by object and value; what it passes on is settled by its type")
  func custom() throws {
    let rivals = try Rivals(policy: HighestCount(merge: .mergeByPropertyStoreTrumpMergePolicyType))
    let items = (0..<2).map { _ in Item(context: rivals.theirs) }
    try rivals.theirs.save()
    let mine = try items.map { try rivals.twin(of: $0, in: rivals.mine) }
    for (index, item) in items.enumerated() { (item.count, item.title) = (5, "theirs \(index)") }
    try rivals.theirs.save()
    for (item, count) in zip(mine, [9, 3]) { (item.count, item.title) = (count, "mine") }
    try rivals.mine.save()
    #expect(try items.map { try rivals.stored($0)?.count } == [9, 5])
    // It set the higher one's values itself and passed the other on.
    #expect(try items.map { try rivals.stored($0)?.title } == ["mine", "theirs 1"])
    #expect(mine.map(\.count) == [9, 5])
  }

  @Test("What a policy throws comes out of the save, and nothing is lost")
  func throwing() throws {
    struct Refusal: Error {}
    let rivals = try Rivals(policy: Interrupting { throw Refusal() })
    let item = try conflict(rivals)
    #expect(throws: Refusal.self) { try rivals.mine.save() }
    #expect(rivals.mine.updatedObjects == [item])
    #expect((item.title, item.note) == ("mine", "my note"))
    rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try rivals.mine.save()
    #expect(try rivals.stored(item)?.title == "mine")
  }

  @Test("A policy that always finds the store changed again is stopped, with an error of conflict")
  func endless() throws {
    let rivals = try Rivals()
    let item = try conflict(rivals)
    let other = rivals.stack.context()
    let twin = try rivals.twin(of: item, in: other)
    nonisolated(unsafe) var rounds = 0
    // Guard: one thread.
    rivals.mine.mergePolicy = Interrupting {
      rounds += 1
      twin.count += 1
      try other.save()
    }
    let error = #expect(throws: ManagedObjectError.self) { try rivals.mine.save() }
    #expect(error?.code == .saveConflict)
    #expect(rounds == 10)
    #expect(rivals.mine.updatedObjects == [item])
    rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try rivals.mine.save()
    #expect(try rivals.stored(item)?.title == "mine")
  }

  @Test("Settled values are validated: a required reference whose object was deleted fails the save")
  func validation() throws {
    let owner = entity("Owner", nil, [attribute("name", .stringAttributeType)])
    let pet = entity("Pet", nil, [attribute("name", .stringAttributeType)])
    connect(.many(owner, "pets", rule: .cascadeDeleteRule), .one(pet, "owner", optional: false))
    let stack = try Stack(model: model(owner, pet))
    let (theirs, mine) = (stack.context(), stack.context())
    mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let animal = theirs.make("Pet")
    let human = theirs.make("Owner")
    animal.setValue(human, forKey: "owner")
    try theirs.save()
    let seen = try mine.existingObject(with: animal.objectID)
    #expect(seen.one("owner") != nil)
    theirs.delete(human)
    try theirs.save()
    seen.setValue("Rex", forKey: "name")
    let error = #expect(throws: ManagedObjectError.self) { try mine.save() }
    #expect((error?.code, error?.property) == (.missingMandatoryProperty, "owner"))
    #expect(seen.value(forKey: "name") as? String == "Rex")
    let other = mine.make("Owner")
    seen.setValue(other, forKey: "owner")
    try mine.save()
    let fresh = stack.context()
    #expect(try fresh.existingObject(with: animal.objectID).one("owner")?.objectID == other.objectID)
  }

  @Test("A conflict made by hand is settled with the row that the store has")
  func byHand() throws {
    let rivals = try Rivals()
    let item = try conflict(rivals)
    let made = NSMergeConflict(
      source: item, newVersion: 2, oldVersion: 1, cachedSnapshot: ["title": "base"],
      persistedSnapshot: ["title": "theirs"])
    #expect(made.objectSnapshot?["title"] as? String == "base")
    #expect(made.persistedSnapshot?["title"] as? String == "theirs")
    try NSMergePolicy.mergeByPropertyStoreTrump.resolve(mergeConflicts: [made])
    #expect((item.title, item.count, item.note) == ("theirs", 2, "my note"))
    try rivals.mine.save()
    #expect(try rivals.stored(item)?.note == "my note")
  }

  @Test("Anything but a policy is refused with a sentence")
  func misuse() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = NSManagedObjectContext(.privateQueue)
      context.mergePolicy = "overwrite"
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("must be an NSMergePolicy"))
  }
}

/// Keeps the higher count, with all that belongs to it.
private final class HighestCount: NSMergePolicy, @unchecked Sendable {
  // Guard: has no state.
  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    try super.resolve(
      optimisticLockingConflicts: list.filter { conflict in
        let theirs = (conflict.persistedSnapshot ?? conflict.cachedSnapshot)?["count"] as? Int ?? 0
        return (conflict.sourceObject.value(forKey: "count") as? Int ?? 0) <= theirs
      })
  }
}
