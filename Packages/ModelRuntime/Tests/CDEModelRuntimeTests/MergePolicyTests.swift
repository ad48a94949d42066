import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

/// Two contexts over one file, which know the same item and nothing of each other.
final class Rivals {
  let stack: Stack
  let mine: NSManagedObjectContext
  let theirs: NSManagedObjectContext
  /// Objects lose their relationships with their context.
  private var readers: [NSManagedObjectContext] = []

  /// Whether the two contexts share their coordinator, or each has a container of its own.
  enum Place: CaseIterable, Sendable { case oneContainer, twoContainers }

  init(
    _ place: Place = .oneContainer, policy: NSMergePolicy = .error,
    _ types: [any CDRuntimeSchemaProviding.Type] = [Item.self, Category.self, Tag.self]
  ) throws {
    stack = try Stack(types)
    theirs = stack.context()
    mine = place == .oneContainer ? stack.context() : try Self.container(stack, types).newBackgroundContext()
    mine.mergePolicy = policy
  }

  static func container(
    _ stack: Stack, _ types: [any CDRuntimeSchemaProviding.Type]
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Other", managedObjectModel: try .makeRuntimeModel(types))
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: stack.folder.appendingPathComponent("Test.sqlite"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  /// The same object in another context, its row read.
  func twin<Object: NSManagedObject>(of object: Object, in context: NSManagedObjectContext) throws -> Object {
    let url = object.objectID.uriRepresentation()
    let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
    return try #require(try context.existingObject(with: id) as? Object)
  }

  /// The object as a context sees it that has read nothing before; nil when its row is gone.
  func stored<Object: NSManagedObject>(_ object: Object) throws -> Object? {
    let context = stack.context()
    let url = object.objectID.uriRepresentation()
    let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
    readers.append(context)
    return (try? context.existingObject(with: id)) as? Object
  }
}

extension NSMergePolicy {
  /// All that settle conflicts.
  static var settling: [NSMergePolicyType] {
    [
      .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
      .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]
  }
}

extension NSMergePolicyType {
  var storeWins: Bool {
    self == .mergeByPropertyStoreTrumpMergePolicyType || self == .rollbackMergePolicyType
  }
}

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
    #expect(conflict.cachedSnapshot?["title"] as? String == "base")
    #expect(conflict.persistedSnapshot?["title"] as? String == "theirs")
    #expect(conflict.persistedSnapshot?["count"] as? Int == 2)
    #expect(conflict.objectSnapshot?["title"] as? String == "mine")
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
    seen.mutableOrderedSetValue(forKey: "rows").insert(seen.list("rows")[2], at: 0)
    try mine.save()
    let fresh = stack.context()
    for list in [seen, try fresh.existingObject(with: owner.objectID)] {
      #expect(list.list("rows").map { $0.value(forKey: "name") as? String } == ["c", "A", "b"])
    }
  }

  // MARK: Deletions

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
      // Whoever still holds the row as it was before it was deleted must notice.
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
    #expect(made.objectSnapshot?["title"] as? String == "mine")
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

/// Does something before it settles conflicts by the object's values.
private final class Interrupting: NSMergePolicy, @unchecked Sendable {
  // Guard: immutable.
  private let body: Unchecked<() throws -> Void>

  init(_ body: @escaping () throws -> Void) {
    self.body = Unchecked(body)
    super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  }

  override func resolve(mergeConflicts list: [Any]) throws {
    try super.resolve(mergeConflicts: list)
    try body.value()
  }
}

/// Keeps the higher count, with all that belongs to it.
private final class HighestCount: NSMergePolicy, @unchecked Sendable {
  // Guard: has no state.
  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    try super.resolve(
      optimisticLockingConflicts: list.filter { conflict in
        let theirs = conflict.persistedSnapshot?["count"] as? Int ?? 0
        return (conflict.objectSnapshot?["count"] as? Int ?? 0) <= theirs
      })
  }
}
