import CDEManagedModel
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import Foundation
import Testing

@_spi(CDE) @testable import CDEModelRuntime

/// Schedules of two contexts over the same objects, of which one merges the other's saves.
@Suite("Both sides of a relationship after merges")
struct MergedRelationshipTests {
  /// A relationship, named from either of its sides.
  struct Relation: CustomTestStringConvertible, Sendable {
    let owner: String
    let name: String
    let member: String
    let inverse: String

    var testDescription: String { "\(owner).\(name)" }

    static let all = [
      Relation(owner: "Author", name: "books", member: "Book", inverse: "author"),
      Relation(owner: "Book", name: "author", member: "Author", inverse: "books"),
      Relation(owner: "Author", name: "ranked", member: "Book", inverse: "ranking"),
      Relation(owner: "Book", name: "tags", member: "Tag", inverse: "books"),
      Relation(owner: "Tag", name: "books", member: "Book", inverse: "tags"),
      Relation(owner: "Tag", name: "listed", member: "Book", inverse: "lists"),
      Relation(owner: "Book", name: "lists", member: "Tag", inverse: "listed"),
      Relation(owner: "Author", name: "card", member: "Card", inverse: "holder"),
      Relation(owner: "Author", name: "friends", member: "Author", inverse: "friends"),
      Relation(owner: "Tag", name: "twin", member: "Tag", inverse: "twin"),
    ]
    static let one = all[0]
    static let ordered = all[2]
    static let tags = all[3]
    static let card = all[7]
  }

  /// How the other context learns of a save.
  enum Transport: CaseIterable, Sendable { case commit, identities, history }

  /// Two contexts, and an owner and a member that both know.
  final class World {
    let relation: Relation
    let transport: Transport
    let stacks: [Stack]
    let (theirs, mine): (NSManagedObjectContext, NSManagedObjectContext)
    /// The owner, the member, and another owner, by context.
    var owner: [NSManagedObject] = []
    var member: [NSManagedObject] = []
    var other: [NSManagedObject] = []
    private var noticed: Int64 = 0

    /// - Parameter isRelated: whether the two objects are related in the store.
    init(_ relation: Relation, _ transport: Transport = .commit, isRelated: Bool = false) throws {
      (self.relation, self.transport) = (relation, transport)
      let history = NSPersistentHistoryTrackingKey
      let first = try Stack(model: MergeProgram.model(), options: history)
      stacks =
        transport == .history
        ? [first, try Stack(model: MergeProgram.model(), in: first.folder, options: history)] : [first]
      (theirs, mine) = (first.context(), stacks.last!.context())
      let made = [
        theirs.make(relation.owner, ["number": 1]), theirs.make(relation.member, ["number": 2]),
        theirs.make(relation.owner, ["number": 3]),
      ]
      if isRelated { Self.relate(made[0], relation.name, made[1], true) }
      try theirs.save()
      owner.append(made[0])
      member.append(made[1])
      other.append(made[2])
      let seen = try made.map { object in
        try #require(
          try mine.all(object.entity.name!, NSPredicate(format: "number = %@", number(object))).first)
      }
      owner.append(seen[0])
      member.append(seen[1])
      other.append(seen[2])
      try notice { _ in }
    }

    func number(_ object: NSManagedObject) -> Int { object.value(forKey: "number") as? Int ?? 0 }

    /// Relates two objects, or ends that.
    static func relate(_ object: NSManagedObject, _ name: String, _ other: NSManagedObject, _ isRelated: Bool)
    {
      let relationship = object.entity.relationshipsByName[name]!
      if !relationship.isToMany {
        object.setValue(isRelated ? other : nil, forKey: name)
      } else if relationship.isOrdered {
        let list = object.mutableOrderedSetValue(forKey: name)
        if isRelated { list.add(other) } else { list.remove(other) }
      } else {
        let set = object.mutableSetValue(forKey: name)
        if isRelated { set.add(other) } else { set.remove(other) }
      }
    }

    /// Relates the owner and the member in one of the contexts.
    func relate(_ isRelated: Bool, in index: Int) {
      Self.relate(owner[index], relation.name, member[index], isRelated)
    }

    /// Whether each side has the other one.
    func sides(in index: Int) -> [Bool] {
      [
        Self.related(owner[index], relation.name).contains(member[index]),
        Self.related(member[index], relation.inverse).contains(owner[index]),
      ]
    }

    static func related(_ object: NSManagedObject, _ name: String) -> Set<NSManagedObject> {
      switch object.value(forKey: name) {
      case let one as NSManagedObject: [one]
      case let list as NSOrderedSet: Set(list.array as? [NSManagedObject] ?? [])
      default: object.set(name)
      }
    }

    /// Saves the first context, and lets the second one merge that.
    func saveAndMerge() throws {
      let listener = Listener(theirs)
      try theirs.save()
      let event = try #require(listener.events.last { $0.name == .NSManagedObjectContextDidSave })
      switch transport {
      case .commit:
        mine.mergeChanges(
          fromContextDidSave: Notification(name: event.name, object: theirs, userInfo: event.info))
      case .identities:
        func ids(_ key: String) -> [NSManagedObjectID] {
          (event.info[key] as? Set<NSManagedObject> ?? []).map(\.objectID)
        }
        mine.merge(
          inserted: ids(NSInsertedObjectsKey), updated: ids(NSUpdatedObjectsKey),
          deleted: ids(NSDeletedObjectsKey))
      case .history: try notice(mine.merge)
      }
    }

    /// Reads the transactions that the second container has not noticed.
    private func notice(_ body: (CommittedTransaction) -> Void) throws {
      let coordinator = stacks.last!.container.persistentStoreCoordinator
      let handle = coordinator.persistentStores[0].handle
      for record in try handle.store.history(StoreHistoryQuery(after: noticed)) {
        noticed = record.number
        body(CommittedTransaction(record, model: coordinator.modelBinding, store: handle))
      }
    }

    /// Saves the second context. Both sides are then as expected there, and in the store.
    func expectSaved(_ expected: Bool) throws {
      try mine.save()
      #expect(sides(in: 1) == [expected, expected])
      let reader = stacks[0].context()
      let (owner, member) = try (
        reader.all(relation.owner, NSPredicate(format: "number = 1"))[0],
        reader.all(relation.member, NSPredicate(format: "number = 2"))[0]
      )
      #expect(Self.related(owner, relation.name).contains(member) == expected)
      #expect(Self.related(member, relation.inverse).contains(owner) == expected)
    }
  }

  // MARK: The same change on both sides

  @Test(
    "A change that a merge made equal to the store is no change any more, read or not",
    arguments: Relation.all, Transport.allCases)
  func equalChange(_ relation: Relation, _ transport: Transport) throws {
    for (isAdded, reads) in [(true, true), (true, false), (false, true), (false, false)] {
      let world = try World(relation, transport, isRelated: !isAdded)
      world.relate(isAdded, in: 1)
      world.relate(isAdded, in: 0)
      try world.saveAndMerge()
      if reads { #expect(world.sides(in: 1) == [isAdded, isAdded]) }
      #expect(!world.mine.hasChanges)
      world.relate(!isAdded, in: 0)
      try world.saveAndMerge()
      #expect(world.sides(in: 1) == [!isAdded, !isAdded], "added: \(isAdded), read: \(reads)")
      try world.expectSaved(!isAdded)
    }
  }

  @Test("A change of another pair stays when a merge ends one", arguments: [Relation.one, .ordered, .tags])
  func otherPair(_ relation: Relation) throws {
    let world = try World(relation)
    let more = world.mine.make(relation.member, ["number": 4])
    World.relate(world.owner[1], relation.name, more, true)
    world.relate(true, in: 1)
    world.relate(true, in: 0)
    try world.saveAndMerge()
    #expect(world.owner[1].hasChanges)
    #expect(World.related(world.owner[1], relation.name) == [world.member[1], more])
    world.relate(false, in: 0)
    try world.saveAndMerge()
    #expect(World.related(world.owner[1], relation.name) == [more])
    try world.expectSaved(false)
  }

  @Test("The merge of a commit ends changes without a query")
  func withoutQuery() throws {
    let listener = ActivityObserverTests.Listener()
    let container = NSPersistentContainer(name: "Observed", managedObjectModel: MergeProgram.model())
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: ProcessFolder.newURL().appendingPathComponent("Test.sqlite"))
    ]
    container.persistentStoreDescriptions[0].observer = listener
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let (theirs, mine) = (container.newBackgroundContext(), container.newBackgroundContext())
    for entity in MergeProgram.entities { theirs.make(entity, ["number": 1]) }
    try theirs.save()
    mine.inbox.open { _ in }
    var objects: [[NSManagedObject]] = []
    for context in [mine, theirs] {
      objects.append(try MergeProgram.entities.map { try context.all($0)[0] })
      let (book, author, tag, card) = (objects.last![0], objects.last![1], objects.last![2], objects.last![3])
      book.setValue(author, forKey: "author")
      book.setValue(author, forKey: "ranking")
      book.mutableSetValue(forKey: "tags").add(tag)
      tag.mutableOrderedSetValue(forKey: "listed").add(book)
      author.setValue(card, forKey: "card")
    }
    try theirs.save()
    #expect(mine.updatedObjects.count == 4)
    _ = listener.take()
    mine.mergeInbox(through: .max)
    #expect(!mine.hasChanges)
    #expect(listener.take() == [])
  }

  // MARK: Contradictions

  @Test("Where a merged row contradicts an unsaved one-to-one value, the value stays and both sides agree")
  func contradiction() throws {
    for reads in [false, true] {
      let world = try World(.card)
      let rival = world.theirs.make("Card", ["number": 5])
      world.relate(true, in: 1)
      world.owner[0].setValue(rival, forKey: "card")
      try world.saveAndMerge()
      if reads { #expect(world.sides(in: 1) == [true, true]) }
      let seen = try #require(try world.mine.all("Card", NSPredicate(format: "number = 5")).first)
      #expect(seen.one("holder") == nil)
      try world.expectSaved(true)
      world.theirs.reset()
      #expect(try world.theirs.all("Card", NSPredicate(format: "number = 5"))[0].one("holder") == nil)
    }
  }

  @Test(
    "A row that was read before the partner's row was merged does not keep a partner that has another one")
  func partnerReadEarly() throws {
    let world = try World(.card)
    world.mine.refresh(world.owner[1], mergeChanges: false)
    world.member[1].setValue(7, forKey: "value")
    world.relate(true, in: 0)
    // The fault reads the saved row; the card's row is older.
    world.mine.inbox.open { _ in }
    try world.theirs.save()
    world.owner[1].setValue(nil, forKey: "card")
    world.mine.mergeInbox(through: .max)
    #expect(world.sides(in: 1) == [false, false])
    try world.expectSaved(false)
  }

  // MARK: Pairs of which one side is loaded

  @Test(
    "Adding a stored pair, or removing one that is not stored, is no change, whichever side knows",
    arguments: [0, 1])
  func knownPair(_ side: Int) throws {
    for isRelated in [true, false] {
      let world = try World(.tags, isRelated: isRelated)
      let ends = [(world.owner[1], "tags", world.member[1]), (world.member[1], "books", world.owner[1])]
      _ = World.related(ends[side].0, ends[side].1)
      for (object, name, other) in ends { World.relate(object, name, other, isRelated) }
      world.relate(!isRelated, in: 0)
      try world.saveAndMerge()
      #expect(world.sides(in: 1) == [!isRelated, !isRelated])
      try world.expectSaved(!isRelated)
    }
  }

  @Test("Members that were loaded meanwhile end a change on both sides")
  func endedByReading() throws {
    let world = try World(.tags)
    world.mine.inbox.open { _ in }
    world.relate(true, in: 1)
    world.relate(true, in: 0)
    try world.theirs.save()
    world.mine.refresh(world.owner[1], mergeChanges: true)
    #expect(World.related(world.owner[1], "tags") == [world.member[1]])
    world.relate(false, in: 0)
    try world.theirs.save()
    world.mine.mergeInbox(through: .max)
    #expect(world.sides(in: 1) == [false, false])
    try world.expectSaved(false)
  }

  // MARK: Members that were loaded while a reference was unsaved

  /// Makes the second context load the owner's members while the member has an unsaved reference to another owner.
  ///
  /// The owner then lacks the member, and does not record its removal.
  private func loadedMeanwhile(_ relation: Relation) throws -> World {
    let world = try World(relation)
    world.member[1].setValue(world.other[1], forKey: relation.inverse)
    world.relate(true, in: 0)
    try world.saveAndMerge()
    #expect(World.related(world.owner[1], relation.name) == [])
    return world
  }

  @Test("After a rollback an owner has its stored members", arguments: [Relation.one, .ordered])
  func rolledBack(_ relation: Relation) throws {
    let world = try loadedMeanwhile(relation)
    world.mine.rollback()
    #expect(world.sides(in: 1) == [true, true])
  }

  @Test("After a refresh an owner has its stored members", arguments: [Relation.one, .ordered])
  func refreshed(_ relation: Relation) throws {
    let world = try loadedMeanwhile(relation)
    world.mine.refresh(world.member[1], mergeChanges: false)
    #expect(world.sides(in: 1) == [true, true])
  }

  @Test(
    "After a policy dropped a reference, the owner has its stored members",
    arguments: [Relation.one, .ordered])
  func givenUp(_ relation: Relation) throws {
    let world = try loadedMeanwhile(relation)
    world.mine.mergePolicy = NSMergePolicy.rollback
    world.member[0].setValue(1, forKey: "value")
    try world.theirs.save()
    try world.mine.save()
    #expect(world.sides(in: 1) == [true, true])
    #expect(World.related(world.other[1], relation.name) == [])
  }

  // MARK: Deletions that are taken back

  @Test(
    "A member whose deletion a policy takes back is again a member of an owner that was read meanwhile",
    arguments: [Relation.one, .ordered, .tags])
  func memberTakenBack(_ relation: Relation) throws {
    let world = try World(relation)
    world.mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    world.mine.delete(world.member[1])
    world.relate(true, in: 0)
    try world.saveAndMerge()
    #expect(World.related(world.owner[1], relation.name) == [])
    world.member[0].setValue(1, forKey: "value")
    try world.theirs.save()
    try world.mine.save()
    #expect(!world.member[1].isDeleted)
    #expect(world.sides(in: 1) == [true, true])
  }

  @Test(
    "An owner whose deletion a policy takes back has a member again that had left it before",
    arguments: [Relation.one, .ordered, .tags, .card])
  func ownerTakenBack(_ relation: Relation) throws {
    let world = try World(relation, isRelated: true)
    world.mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    world.relate(false, in: 1)
    world.mine.delete(world.owner[1])
    world.owner[0].setValue(1, forKey: "value")
    try world.theirs.save()
    try world.mine.save()
    #expect(!world.owner[1].isDeleted)
    let sides = world.sides(in: 1)
    #expect(sides[0] == sides[1])
    try world.expectSaved(sides[0])
  }

  @Test(
    "An object that another writer wrote again has no pairs of before",
    arguments: [Transport.commit, .history])
  func writtenAgain(_ transport: Transport) throws {
    let world = try World(.tags, transport, isRelated: true)
    #expect(world.sides(in: 1) == [true, true])
    let third = world.stacks[0].context()
    third.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let again = try third.all("Book", NSPredicate(format: "number = 1"))[0]
    again.setValue(8, forKey: "value")
    if transport == .commit { world.mine.inbox.open { _ in } }
    world.theirs.delete(world.owner[0])
    try world.theirs.save()
    try third.save()
    if transport == .commit { world.mine.mergeInbox(through: .max) } else { try world.saveAndMergeHistory() }
    let seen = try world.mine.all("Book", NSPredicate(format: "number = 1"))[0]
    #expect(seen.set("tags") == [])
    #expect(world.member[1].set("books") == [])
  }

  @Test("An object that was written again has no pairs of before, also if its deletion is merged last")
  func writtenAgainBeforeDeletion() throws {
    let world = try World(.tags, .history, isRelated: true)
    #expect(world.sides(in: 1) == [true, true])
    let neighbour = world.stacks.last!.context()
    neighbour.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let again = try neighbour.all("Book", NSPredicate(format: "number = 1"))[0]
    let tag = try neighbour.all("Tag", NSPredicate(format: "number = 2"))[0]
    #expect(tag.set("books") == [again])
    again.setValue(8, forKey: "value")
    world.mine.inbox.open { _ in }
    world.theirs.delete(world.owner[0])
    try world.theirs.save()
    try neighbour.save()
    #expect(tag.set("books") == [])
    world.mine.mergeInbox(through: .max)
    #expect(world.sides(in: 1) == [false, false])
    try world.saveAndMergeHistory()
    #expect(world.sides(in: 1) == [false, false])
    #expect(try world.mine.all("Book", NSPredicate(format: "number = 1"))[0] === world.owner[1])
    let tracked = try world.mine.all("Book", NSPredicate(format: "number = 1"))[0]
    #expect(tracked.value(forKey: "value") as? Int == 8)
  }

  // MARK: References without an inverse

  @Test("A save that deletes an object clears a new reference to it that has no inverse")
  func oneWayReference() throws {
    for policy in [NSMergePolicyType.errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType] {
      let world = try World(.tags)
      world.mine.mergePolicy = NSMergePolicy(merge: policy)
      world.owner[1].setValue(world.member[1], forKey: "favourite")
      world.mine.delete(world.member[1])
      try world.mine.save()
      #expect(world.owner[1].one("favourite") == nil)
      #expect(try world.stacks[0].context().all("Tag").isEmpty)
    }
  }
}

extension MergedRelationshipTests.World {
  /// Lets the second container merge what the store has.
  func saveAndMergeHistory() throws {
    theirs.make("Card", ["number": 9])
    try saveAndMerge()
  }
}
