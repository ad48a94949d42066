import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Faulting, refreshing and giving up")
struct FaultingTests {
  private func filled(_ count: Int = 5) throws -> Stack {
    let stack = try Stack()
    let context = stack.context()
    let category = Category(context: context)
    category.name = "c"
    for index in 0..<count {
      let item = Item(context: context)
      item.title = "\(index)"
      item.count = index
      item.category = category
    }
    try context.save()
    return stack
  }

  @Test("A fault is read when asked, without marking or announcing anything")
  func oneByOne() throws {
    let stack = try filled()
    let context = stack.context()
    let listener = Listener(context)
    let request = Item.fetchRequest()
    request.includesPropertyValues = false
    let items = try context.fetch(request)
    #expect(items.allSatisfy { $0.isFault })
    #expect(items[2].value(forKey: "title") as? String == items[2].title)
    #expect(!items[2].isFault)
    #expect(items[3].isFault)
    #expect(items[0].category?.isFault == true)
    #expect(items[0].category?.name == "c")
    #expect(!context.hasChanges)
    context.processPendingChanges()
    #expect(listener.events.isEmpty)
  }

  @Test("Faults are read in batches where the request says so")
  func batches() throws {
    let stack = try filled()
    let context = stack.context()
    let request = Item.fetchRequest()
    request.includesPropertyValues = false
    let faults = try context.fetch(request)
    let again = Item.fetchRequest()
    again.returnsObjectsAsFaults = false
    again.predicate = NSPredicate(format: "SELF IN %@", Array(faults.prefix(3)))
    #expect(Set(try context.fetch(again)) == Set(faults.prefix(3)))
    #expect(faults.map(\.isFault) == [false, false, false, true, true])
    let prefetch = Category.fetchRequest()
    prefetch.relationshipKeyPathsForPrefetching = ["items"]
    let category = try #require(try context.fetch(prefetch).first)
    #expect(!category.hasFault(forRelationshipNamed: "items"))
    #expect(faults.allSatisfy { !$0.isFault })
  }

  @Test(
    "A longer path goes on from what a shorter one has read",
    arguments: [["items", "items.tags"], ["items.tags", "items"]])
  func longerPath(paths: [String]) throws {
    let stack = try filled()
    let writer = stack.context()
    let tag = Tag(context: writer)
    tag.name = "t"
    for item in try writer.fetch(Item.fetchRequest()) { tag.addToItems(item) }
    try writer.save()
    let context = stack.context()
    let request = Category.fetchRequest()
    request.relationshipKeyPathsForPrefetching = paths
    let category = try #require(try context.fetch(request).first)
    #expect(category.items.count == 5)
    #expect(category.items.allSatisfy { !$0.hasFault(forRelationshipNamed: "tags") })
  }

  @Test("A row that has vanished reads as defaults and counts as deleted")
  func vanished() throws {
    let stack = try filled(1)
    let context = stack.context()
    let request = Item.fetchRequest()
    request.includesPropertyValues = false
    let fault = try #require(try context.fetch(request).first)
    let other = stack.context()
    other.delete(try #require(try other.fetch(Item.fetchRequest()).first))
    try other.save()
    #expect(!fault.isDeleted)
    #expect(fault.title == "")
    #expect(fault.count == 0)
    #expect(fault.category == nil)
    #expect(fault.isDeleted)
    #expect(throws: ManagedObjectError.self) { try context.existingObject(with: fault.objectID) }
    context.delete(fault)
    #expect(!context.hasChanges)
  }

  @Test("A row that appears under an ID given out before is found, also where it was missed")
  func appearing() throws {
    let stack = try filled(0)
    let (writer, reader) = (stack.context(), stack.context())
    let item = Item(context: writer)
    item.title = "late"
    try writer.obtainPermanentIDs(for: [item])
    let early = try #require(reader.object(with: item.objectID) as? Item)
    #expect(early.title == "")
    #expect(early.isDeleted)
    try writer.save()
    #expect(try reader.fetch(Item.fetchRequest()).first === early)
    #expect(early.title == "late")
    #expect(!early.isDeleted)
    #expect(try reader.existingObject(with: item.objectID) === early)
  }

  @Test("Refreshing without merging makes a fault and drops edits; it is announced exactly once")
  func refreshDropping() throws {
    let stack = try filled(1)
    let context = stack.context()
    let item = try #require(try context.fetch(Item.fetchRequest()).first)
    item.title = "edited"
    let listener = Listener(context)
    context.refresh(item, mergeChanges: false)
    #expect(item.isFault)
    #expect(!item.hasChanges)
    #expect(!context.hasChanges)
    context.processPendingChanges()
    context.processPendingChanges()
    #expect(listener.names == ["change"])
    #expect(listener.objects(0, NSRefreshedObjectsKey) == [item])
    #expect(listener.objects(0, NSUpdatedObjectsKey).isEmpty)
    #expect(item.title == "0")
    try context.save()
    #expect(listener.names == ["change"])
  }

  @Test("Refreshing with merging keeps edits and takes the other values")
  func refreshMerging() throws {
    let stack = try filled(1)
    let (context, other) = (stack.context(), stack.context())
    let item = try #require(try context.fetch(Item.fetchRequest()).first)
    _ = item.title
    item.title = "mine"
    let theirs = try #require(try other.fetch(Item.fetchRequest()).first)
    theirs.title = "theirs"
    theirs.count = 77
    try other.save()
    #expect(item.count == 0)
    context.refresh(item, mergeChanges: true)
    #expect(item.title == "mine")
    #expect(item.count == 77)
    #expect(context.updatedObjects == [item])
    try context.save()
    other.refresh(theirs, mergeChanges: true)
    #expect(theirs.title == "mine")
  }

  @Test("Refreshing takes unsaved relationships back on both sides")
  func refreshRelationships() throws {
    let stack = try filled(2)
    let context = stack.context()
    let items = try context.all("Item", sort: "title")
    let (item, category) = (
      try #require(items[0] as? Item), try #require(try context.fetch(Category.fetchRequest()).first)
    )
    let second = Category(context: context)
    let tag = Tag(context: context)
    #expect(category.items.count == 2)
    item.category = second
    item.addToTags(tag)
    context.refresh(item, mergeChanges: false)
    #expect(item.category === category)
    #expect(category.items.count == 2)
    #expect(second.items.isEmpty)
    #expect(tag.items.isEmpty)
    #expect(item.tags.isEmpty)
    // From the owner's side the members' own changes stay.
    item.category = nil
    context.refresh(category, mergeChanges: false)
    #expect(item.category == nil)
    #expect(category.items.count == 1)
  }

  @Test("Rollback brings values back, removes new objects and leaves nothing to save")
  func rollback() throws {
    let stack = try filled(2)
    let context = stack.context()
    let items = try #require(try context.all("Item", sort: "title") as? [Item])
    let category = try #require(items[0].category)
    items[0].title = "edited"
    items[0].category = nil
    context.delete(items[1])
    let new = Item(context: context)
    new.category = category
    let listener = Listener(context)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(
      context.insertedObjects.isEmpty && context.updatedObjects.isEmpty && context.deletedObjects.isEmpty)
    #expect(items[0].title == "0")
    #expect(items[0].category === category)
    #expect(category.items == Set(items))
    #expect(!items[1].isDeleted)
    #expect(new.managedObjectContext == nil)
    #expect(listener.names == ["change"])
    try context.save()
    #expect(listener.names == ["change"])
    #expect(try context.count(for: Item.fetchRequest()) == 2)
  }

  @Test("Reset forgets everything at once and says so")
  func reset() throws {
    let stack = try filled(2)
    let context = stack.context()
    let items = try context.fetch(Item.fetchRequest())
    let title = items[0].title
    items[1].title = "edited"
    _ = Item(context: context)
    let listener = Listener(context)
    context.reset()
    #expect(listener.names == ["change"])
    #expect(listener.events[0].info[NSInvalidatedAllObjectsKey] != nil)
    #expect(!context.hasChanges)
    #expect(context.registeredObjects.isEmpty)
    #expect(items[0].title == title)
    #expect(items[0].managedObjectContext == nil)
    items[0].title = "into the void"
    #expect(!context.hasChanges)
    #expect(try context.fetch(Item.fetchRequest()).allSatisfy { found in !items.contains { $0 === found } })
  }

  @Test("Objects outlive their context and container with what they have read")
  func outliving() throws {
    var items: [Item] = []
    weak var container: NSPersistentContainer?
    do {
      let stack = try filled(3)
      container = stack.container
      let context = stack.context()
      items = try context.fetch(Item.fetchRequest())
      _ = items[0].title
      items[1].title = "unsaved"
    }
    #expect(container == nil)
    #expect(items[1].title == "unsaved")
    #expect(Set(items.map(\.count)) == [0, 1, 2])
    #expect(items[0].managedObjectContext == nil)
    #expect(items[0].category == nil)
    #expect(!items[0].objectID.isTemporaryID)
    items[2].title = "still works"
    #expect(items[2].title == "still works")
  }

  @Test(
    "Refreshing an object whose row was not read reads its relationships again", arguments: [true, false])
  func refreshedMembers(_ isOrdered: Bool) throws {
    let owner = entity("Owner", nil, [attribute("name", .stringAttributeType)])
    let part = entity("Part", nil, [attribute("name", .stringAttributeType)])
    connect(.many(owner, "parts", ordered: isOrdered), .one(part, "owner"))
    let stack = try Stack(model: model(owner, part))
    let (mine, theirs) = (stack.context(), stack.context())
    let made = theirs.make("Owner", ["name": "o"])
    theirs.make("Part", ["name": "a", "owner": made])
    try theirs.save()
    func names() -> [String] {
      let parts = seen.value(forKey: "parts")
      let members = (parts as? NSOrderedSet)?.array ?? (parts as? NSSet)?.allObjects ?? []
      return members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.sorted()
    }
    let seen = mine.object(with: made.objectID)
    #expect(names() == ["a"] && seen.isFault)
    theirs.make("Part", ["name": "b", "owner": made])
    try theirs.save()
    #expect(names() == ["a"])
    mine.refresh(seen, mergeChanges: true)
    #expect(names() == ["a", "b"])
  }

  @Test("The committed members of an ordered relationship have their stored order")
  func committedOrder() throws {
    let owner = entity("Owner", nil, [])
    let part = entity("Part", nil, [attribute("name", .stringAttributeType)])
    connect(.many(owner, "parts", ordered: true), .one(part, "owner"))
    let context = try Stack(model: model(owner, part)).context()
    let made = context.make("Owner")
    let parts = made.mutableOrderedSetValue(forKey: "parts")
    for name in ["a", "b", "c"] { parts.add(context.make("Part", ["name": name])) }
    try context.save()
    func committed() -> [String] {
      let members = made.committedValues(forKeys: ["parts"])["parts"] as? NSOrderedSet
      return members?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } ?? []
    }
    #expect(committed() == ["a", "b", "c"])
    parts.exchangeObject(at: 0, withObjectAt: 2)
    #expect(committed() == ["a", "b", "c"])
    context.rollback()
    made.mutableOrderedSetValue(forKey: "parts").removeObject(at: 0)
    #expect(committed() == ["a", "b", "c"])
  }
}
