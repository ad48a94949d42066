import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// A context of a container with a child.
struct Family {
  let stack: Stack
  let parent: NSManagedObjectContext
  let child: NSManagedObjectContext

  init() throws {
    stack = try Stack()
    parent = stack.context()
    child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
  }

  /// A new item of the parent, saved.
  func savedItem(_ title: String = "") throws -> NSManagedObjectID {
    try parent.performAndWait {
      let item = Item(context: parent)
      item.title = title
      try parent.save()
      return item.objectID
    }
  }

  /// The titles of the stored items, in order.
  func stored() throws -> [String] {
    try stack.context().fetch(Item.fetchRequest()).map(\.title).sorted()
  }
}

/// Expected behaviour is Core Data's as documented for `NSManagedObjectContext.parent` and `NSManagedObjectID`, unless a test
/// says otherwise.
@Suite("Child contexts", .ownThreads)
struct ChildContextTests {
  @Test("A child shares its parent's coordinator, retains it, and reads its unsaved objects")
  func reading() throws {
    let family = try Family()
    let (parent, child) = (family.parent, family.child)
    #expect(child.parent === parent)
    #expect(child.persistentStoreCoordinator === parent.persistentStoreCoordinator)
    let id = parent.performAndWait {
      let item = Item(context: parent)
      item.title = "unsaved"
      item.category = Category(context: parent)
      item.category?.name = "new"
      return item.objectID
    }
    #expect(id.isTemporaryID)
    try child.performAndWait {
      let found = try child.fetch(Item.fetchRequest())
      #expect(found.map(\.title) == ["unsaved"])
      let item = try #require(found.first)
      #expect(!item.isInserted && !item.hasChanges && item.objectID == id)
      #expect(item.category?.name == "new")
      #expect(item.category?.items == [item])
      #expect(child.object(with: id) === item)
      #expect(try child.existingObject(with: id) === item)
      let request = Item.fetchRequest()
      request.predicate = NSPredicate(format: "category.name == %@ AND title BEGINSWITH %@", "new", "un")
      #expect(try child.count(for: request) == 1)
      request.predicate = NSPredicate(format: "category == %@", item.category!)
      #expect(try child.fetch(request) == [item])
      request.predicate = NSPredicate(format: "title == %@", "other")
      #expect(try child.fetch(request).isEmpty)
    }
    #expect(try family.stored().isEmpty)
  }

  @Test("A fault made in the child from a temporary ID reads the parent's object")
  func faults() throws {
    let family = try Family()
    let id = family.parent.performAndWait {
      let item = Item(context: family.parent)
      item.title = "unsaved"
      return item.objectID
    }
    try family.child.performAndWait {
      let item = try #require(family.child.object(with: id) as? Item)
      #expect(item.isFault)
      #expect(item.title == "unsaved")
    }
  }

  @Test("A save applies inserts, changes, relationships and deletions to the parent, unsaved")
  func saving() throws {
    let family = try Family()
    let (parent, child) = (family.parent, family.child)
    let (kept, doomed) = try parent.performAndWait {
      let kept = Item(context: parent)
      kept.title = "kept"
      let doomed = Item(context: parent)
      doomed.title = "doomed"
      try parent.save()
      return (kept.objectID, doomed.objectID)
    }
    let made: NSManagedObjectID = try child.performAndWait {
      let item = Item(context: child)
      item.title = "made"
      item.price = 12.5
      item.payload = Data([1, 2, 3])
      let tag = Tag(context: child)
      tag.name = "tag"
      item.addToTags(tag)
      let old = try #require(child.object(with: kept) as? Item)
      old.title = "changed"
      old.category = Category(context: child)
      old.addToTags(tag)
      child.delete(child.object(with: doomed))
      try child.save()
      #expect(!child.hasChanges && !item.hasChanges && !item.isInserted)
      #expect(item.title == "made" && item.tags == [tag])
      return item.objectID
    }
    #expect(made.isTemporaryID)
    #expect(try family.stored() == ["doomed", "kept"])
    try parent.performAndWait {
      let item = try #require(parent.object(with: made) as? Item)
      #expect(parent.insertedObjects.count == 3 && item.isInserted)
      #expect(item.title == "made" && item.price == 12.5 && item.payload == Data([1, 2, 3]))
      #expect(item.tags.map(\.name) == ["tag"])
      let old = try #require(parent.object(with: kept) as? Item)
      #expect(old.isUpdated && old.title == "changed")
      #expect(old.category?.items == [old])
      #expect(item.tags.first?.items == [item, old])
      #expect(parent.deletedObjects.map(\.objectID) == [doomed])
      try parent.save()
      #expect(!item.objectID.isTemporaryID)
    }
    #expect(try family.stored() == ["changed", "made"])
  }

  @Test("IDs become permanent in child and grandchild when the save reaches the store")
  func permanentIDs() throws {
    let family = try Family()
    let grandchild = NSManagedObjectContext(.privateQueue)
    grandchild.parent = family.child
    let (item, category) = try grandchild.performAndWait {
      let item = Item(context: grandchild)
      item.title = "deep"
      item.category = Category(context: grandchild)
      try grandchild.save()
      return (Unchecked(item), Unchecked(item.category!))
    }
    try family.child.performAndWait { try family.child.save() }
    let stored = try family.parent.performAndWait {
      try family.parent.save()
      return try #require(try family.parent.fetch(Item.fetchRequest()).first).objectID
    }
    try family.child.performAndWait { () throws in
      #expect(try family.child.fetch(Item.fetchRequest()).map(\.objectID) == [stored])
    }
    try grandchild.performAndWait {
      #expect(item.value.objectID == stored && !item.value.objectID.isTemporaryID)
      #expect(!category.value.objectID.isTemporaryID)
      #expect(try grandchild.existingObject(with: stored) === item.value)
      grandchild.refresh(item.value, mergeChanges: false)
      #expect(item.value.title == "deep")
      #expect(item.value.category === category.value)
      item.value.title = "again"
      try grandchild.save()
    }
    try family.child.performAndWait { try family.child.save() }
    try family.parent.performAndWait { try family.parent.save() }
    #expect(try family.stored() == ["again"])
  }

  @MainActor
  @Test("The ID in a child on the main actor is permanent when its parent there has saved")
  func mainIDs() throws {
    let stack = try Stack()
    let parent = stack.container.viewContext
    let child = NSManagedObjectContext(.mainQueue)
    child.parent = parent
    let grandchild = NSManagedObjectContext(.mainQueue)
    grandchild.parent = child
    let items = [child, grandchild].map { Item(context: $0) }
    for context in [grandchild, child, parent] { try context.save() }
    for item in items {
      #expect(!item.objectID.isTemporaryID)
      #expect(try parent.existingObject(with: item.objectID).objectID == item.objectID)
    }
  }

  @Test("obtainPermanentIDs works in a child, before and after its save")
  func obtaining() throws {
    let family = try Family()
    let child = family.child
    try child.performAndWait {
      let (early, late) = (Item(context: child), Item(context: child))
      (early.title, late.title) = ("early", "late")
      try child.obtainPermanentIDs(for: [early])
      let id = early.objectID
      #expect(!id.isTemporaryID)
      try child.save()
      #expect(early.objectID == id && late.objectID.isTemporaryID)
      try child.obtainPermanentIDs(for: [late])
      #expect(!late.objectID.isTemporaryID)
      let ids = Set([id, late.objectID])
      let inserted = family.parent.performAndWait { Set(family.parent.insertedObjects.map(\.objectID)) }
      #expect(inserted == ids)
    }
    try family.parent.performAndWait { try family.parent.save() }
    #expect(try family.stored() == ["early", "late"])
  }

  @Test("awakeFromInsert is called in the child and in the parent, and the child's values win (assumed)")
  func awaking() throws {
    final class Counted: NSManagedObject {
      nonisolated(unsafe) static var calls = 0
      // Guard: one thread at a time.
      override func awakeFromInsert() {
        Self.calls += 1
        setValue("hook \(Self.calls)", forKey: "name")
      }
    }
    let counted = entity("Counted", Counted.self, [attribute("name", .stringAttributeType)])
    let stack = try Stack(model: model(counted))
    let (parent, child) = (stack.context(), NSManagedObjectContext(.privateQueue))
    child.parent = parent
    try child.performAndWait {
      let (first, second) = (child.make("Counted"), child.make("Counted"))
      second.setValue(nil, forKey: "name")
      #expect(first.value(forKey: "name") as? String == "hook 1")
      try child.save()
    }
    #expect(Counted.calls == 4)
    try parent.performAndWait {
      let names = try parent.all("Counted").map { $0.value(forKey: "name") as? String }
      #expect(Set(names) == ["hook 1", nil])
    }
  }

  @Test(
    "The order of ordered relationships reaches the parent; members that the child does not know come last")
  func orders() throws {
    let list = entity("List", nil, [attribute("name", .stringAttributeType)])
    let entry = entity("Entry", nil, [attribute("name", .stringAttributeType)])
    connect(.many(list, "entries", ordered: true), .one(entry, "list"))
    connect(.many(list, "favourites", ordered: true), .many(entry, "fans"))
    let stack = try Stack(model: model(list, entry))
    let (parent, child) = (stack.context(), NSManagedObjectContext(.privateQueue))
    child.parent = parent
    let id = try parent.performAndWait {
      let list = parent.make("List")
      for name in ["a", "b", "c"] {
        let entry = parent.make("Entry", ["name": name])
        list.mutableOrderedSetValue(forKey: "entries").add(entry)
        list.mutableOrderedSetValue(forKey: "favourites").add(entry)
      }
      try parent.save()
      return list.objectID
    }
    func names(_ context: NSManagedObjectContext, _ key: String) -> [String] {
      context.object(with: id).list(key).map { $0.value(forKey: "name") as? String ?? "" }
    }
    try child.performAndWait {
      for key in ["entries", "favourites"] {
        let proxy = child.object(with: id).mutableOrderedSetValue(forKey: key)
        proxy.moveObjects(at: IndexSet(integer: 2), to: 0)
        proxy.insert(child.make("Entry", ["name": "new \(key)"]), at: 1)
        proxy.removeObject(at: 2)
        #expect(names(child, key) == ["c", "new \(key)", "b"])
      }
      parent.performAndWait {
        for key in ["entries", "favourites"] {
          parent.object(with: id).mutableOrderedSetValue(forKey: key)
            .add(parent.make("Entry", ["name": "late"]))
        }
      }
      try child.save()
    }
    for key in ["entries", "favourites"] {
      #expect(parent.performAndWait { names(parent, key) } == ["c", "new \(key)", "b", "late"])
    }
    try parent.performAndWait { try parent.save() }
    let fresh = stack.context()
    #expect(names(fresh, "entries") == ["c", "new entries", "b", "late"])
    #expect(names(fresh, "favourites") == ["c", "new favourites", "b", "late"])
  }

  @Test("The child's value replaces the parent's; properties that the child did not change stay")
  func overlapping() throws {
    let family = try Family()
    let (parent, child) = (family.parent, family.child)
    let id = try family.savedItem()
    try child.performAndWait {
      let item = try #require(child.existingObject(with: id) as? Item)
      item.title = "child"
      parent.performAndWait {
        let item = parent.object(with: id) as? Item
        item?.title = "parent"
        item?.note = "parent"
      }
      try child.save()
      #expect(item.title == "child" && item.note == nil)
      child.refresh(item, mergeChanges: true)
      #expect(item.note == "parent")
    }
    parent.performAndWait {
      let item = parent.object(with: id) as? Item
      #expect(item?.title == "child" && item?.note == "parent")
    }
  }

  @Test(
    "Changes of an object that the parent has deleted are a conflict, or dropped by a merge policy (assumed)")
  func deletedInParent() throws {
    let family = try Family()
    let (parent, child) = (family.parent, family.child)
    let id = try family.savedItem()
    try child.performAndWait {
      let item = try #require(child.existingObject(with: id) as? Item)
      parent.performAndWait { parent.delete(parent.object(with: id)) }
      item.title = "late"
      let other = Item(context: child)
      other.title = "other"
      let error = #expect(throws: (any Error).self) { try child.save() }
      #expect((error as? ManagedObjectError)?.code == .saveConflict)
      #expect(
        (error as? ManagedObjectError)?.message.contains("The parent context has deleted an object (Item)")
          == true)
      #expect(child.hasChanges && parent.performAndWait { parent.insertedObjects.isEmpty })
      child.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try child.save()
      #expect(!child.hasChanges && item.isDeleted)
    }
    parent.performAndWait {
      #expect(parent.deletedObjects.count == 1 && parent.insertedObjects.count == 1)
    }
  }

  @Test("A child that fails to validate leaves the parent as it was")
  func validation() throws {
    let strict = entity("Strict", nil, [attribute("name", .stringAttributeType, optional: false)])
    let stack = try Stack(model: model(strict))
    let (parent, child) = (stack.context(), NSManagedObjectContext(.privateQueue))
    child.parent = parent
    try child.performAndWait {
      child.make("Strict", ["name": "good"])
      let bad = child.make("Strict")
      #expect(throws: (any Error).self) { try child.save() }
      #expect(parent.performAndWait { !parent.hasChanges })
      bad.setValue("mended", forKey: "name")
      try child.save()
    }
    #expect(parent.performAndWait { parent.insertedObjects.count } == 2)
  }

  @Test(
    "Rollback and reset of a child leave the parent alone; a rollback of the parent takes the child's objects away"
  )
  func droppingChanges() throws {
    let family = try Family()
    let (parent, child) = (family.parent, family.child)
    let saved = try child.performAndWait {
      let item = Item(context: child)
      item.title = "saved to the parent"
      try child.save()
      _ = Item(context: child)
      child.rollback()
      #expect(!child.hasChanges)
      return Unchecked(item)
    }
    #expect(parent.performAndWait { parent.insertedObjects.count } == 1)
    try child.performAndWait { () throws in
      child.reset()
      #expect(try child.fetch(Item.fetchRequest()).map(\.title) == ["saved to the parent"])
      #expect(saved.value.managedObjectContext == nil)
    }
    parent.performAndWait { parent.rollback() }
    try child.performAndWait { () throws in #expect(try child.count(for: Item.fetchRequest()) == 0) }
  }

  @Test("Limits, offsets, sorting, IDs and prefetching go through a parent with unsaved changes")
  func requests() throws {
    let family = try Family()
    let (parent, child) = (family.parent, family.child)
    try parent.performAndWait {
      let category = Category(context: parent)
      for number in 0..<6 {
        let item = Item(context: parent)
        item.count = number
        item.title = "\(number)"
        item.category = category
      }
      try parent.save()
      for item in try parent.fetch(Item.fetchRequest()) where item.count == 2 { item.count = 20 }
      Item(context: parent).count = 3
    }
    try child.performAndWait {
      let request = Item.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
      request.fetchLimit = 3
      request.fetchOffset = 1
      #expect(try child.fetch(request).map(\.count) == [5, 4, 3])
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
      ids.resultType = .managedObjectIDResultType
      #expect(try Set(child.fetch(ids)).count == 7)
      child.reset()
      let categories = Category.fetchRequest()
      categories.relationshipKeyPathsForPrefetching = ["items"]
      let category = try #require(try child.fetch(categories).first)
      #expect(category.items.map(\.count).sorted() == [0, 1, 3, 4, 5, 20])
      #expect(category.items.allSatisfy { !$0.isFault })
    }
  }
}
