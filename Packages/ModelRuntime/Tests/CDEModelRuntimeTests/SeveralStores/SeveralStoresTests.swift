import CDEManagedModel
import CDEModelRuntime
import CDEStore
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@Suite("Several stores of the same entities", .ownThreads)
struct SeveralStoresTests {
  private static var byN: [NSSortDescriptor] { [NSSortDescriptor(key: "n", ascending: true)] }

  /// One save for each store, so that rows of both have the same keys.
  private func filled(_ two: TwoStores, count: Int = 3) throws {
    let context = two.context()
    for (place, store) in two.stores.enumerated() {
      let owner = context.make("Owner", in: store, ["name": "owner \(place)"])
      for number in 0..<count {
        let part = context.make("Part", in: store, ["n": number * 10 + place, "text": "\(place)"])
        part.setValue(owner, forKey: "owner")
      }
      try context.save()
    }
  }

  @Test("A new object goes to the first store, and to another one if it is assigned", .onSQLite)
  func assignment() throws {
    let two = try TwoStores()
    let context = two.context()
    let first = context.make("Part", ["n": 1])
    try context.save()
    let second = context.make("Part", ["n": 2])
    context.assign(second, to: two.stores[0])
    context.assign(second, to: two.stores[1])
    try context.save()
    #expect(first.objectID.persistentStore === two.stores[0])
    #expect(second.objectID.persistentStore === two.stores[1])
    // Both have the first key of their store.
    #expect(first.objectID.uriRepresentation().lastPathComponent == "p1")
    #expect(second.objectID.uriRepresentation().lastPathComponent == "p1")
    #expect([first, second].map(\.objectID.primaryKey) == [1, 1])
    #expect(first.objectID != second.objectID)
    // Assigning an object to its own store changes nothing.
    context.assign(second, to: two.stores[1])
    let reader = two.context()
    #expect(try reader.existingObject(with: first.objectID).value(forKey: "n") as? Int == 1)
    #expect(try reader.existingObject(with: second.objectID).value(forKey: "n") as? Int == 2)
    let raw = try RawSQLite(two.file("B").path)
    #expect(try raw.run("SELECT ZN FROM ZPART WHERE Z_PK = 1") == [["2"]])
  }

  @Test("A permanent ID decides the store of a new object")
  func permanentIDs() throws {
    let two = try TwoStores()
    let context = two.context()
    let (first, second) = (context.make("Part", ["n": 1]), context.make("Part", in: two.stores[1], ["n": 2]))
    try context.obtainPermanentIDs(for: [first, second])
    #expect(first.objectID.persistentStore === two.stores[0])
    #expect(second.objectID.persistentStore === two.stores[1])
    let ids = [first.objectID, second.objectID]
    // One store at a time.
    context.delete(second)
    try context.save()
    let again = context.make("Part", in: two.stores[1], ["n": 2])
    try context.obtainPermanentIDs(for: [again])
    let id = again.objectID
    try context.save()
    #expect(again.objectID == id && first.objectID == ids[0])
    let reader = two.context()
    #expect(try reader.list("n", of: "Part", sort: Self.byN) == [1, 2])
  }

  @Test("A saved object can't be assigned to another store")
  func assigningSaved() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent],
      performing: {
        let two = try TwoStores()
        let context = two.context()
        let part = context.make("Part")
        try context.save()
        context.assign(part, to: two.stores[1])
      })
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("can't be assigned to the store B.sqlite, because it is in another one"))
  }

  @Test("The first store that can be written gets new objects")
  func readOnlyFirst() throws {
    let folder = try TwoStores().folder
    let two = try TwoStores(in: folder, readOnly: ["A"])
    let context = two.context()
    let part = context.make("Part", ["n": 5])
    try context.save()
    #expect(part.objectID.persistentStore === two.stores[1])
    context.assign(context.make("Part"), to: two.stores[0])
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect((error?.cause as? StoreError)?.code == .readOnly)
    context.rollback()
  }

  @Test("A fetch finds the rows of all stores, or of those that it names")
  func fetching() throws {
    let two = try TwoStores()
    try filled(two)
    let context = two.context()
    #expect(try context.list("n", of: "Part", sort: Self.byN) == [0, 1, 10, 11, 20, 21])
    #expect(try Set(context.list("n", of: "Part")) == [0, 1, 10, 11, 20, 21])
    #expect(try context.list("n", of: "Part", sort: Self.byN, in: [two.stores[1]]) == [1, 11, 21])
    #expect(
      try context.list("n", of: "Part", sort: Self.byN, in: two.stores.reversed()) == [0, 1, 10, 11, 20, 21])
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    #expect(try context.count(for: request) == 6)
    request.fetchOffset = 1
    request.fetchLimit = 4
    #expect(try context.count(for: request) == 4)
    #expect(try context.fetch(request).count == 4)
    request.affectedStores = [two.stores[0]]
    #expect(try context.count(for: request) == 2)
    request.affectedStores = []
    #expect(try context.fetch(request).isEmpty)
    #expect(try context.count(for: request) == 0)
  }

  @Test("Unsaved objects are found among those of their stores")
  func pendingObjects() throws {
    let two = try TwoStores()
    try filled(two)
    let context = two.context()
    _ = context.make("Part", ["n": 5])
    _ = context.make("Part", in: two.stores[1], ["n": 6])
    #expect(try context.list("n", of: "Part", sort: Self.byN) == [0, 1, 5, 6, 10, 11, 20, 21])
    #expect(try context.list("n", of: "Part", sort: Self.byN, in: [two.stores[0]]) == [0, 5, 10, 20])
    #expect(try context.list("n", of: "Part", sort: Self.byN, in: [two.stores[1]]) == [1, 6, 11, 21])
  }

  @Test("Rows with the same key in two stores are two objects, with their own relationships")
  func sameKeys() throws {
    let two = try TwoStores()
    try filled(two)
    let context = two.context()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let owners = try context.fetch(request)
    #expect(owners.map { $0.objectID.uriRepresentation().lastPathComponent } == ["p1", "p1"])
    for (place, owner) in owners.enumerated() {
      let parts = try #require(owner.value(forKey: "parts") as? Set<NSManagedObject>)
      #expect(Set(parts.map { $0.value(forKey: "n") as? Int }) == [place, 10 + place, 20 + place])
      #expect(parts.allSatisfy { $0.value(forKey: "owner") as? NSManagedObject === owner })
    }
    context.refreshAllObjects()
    #expect(owners.map { $0.value(forKey: "name") as? String } == ["owner 0", "owner 1"])
    context.reset()
    request.relationshipKeyPathsForPrefetching = ["parts"]
    let again = try context.fetch(request)
    #expect(again.map { ($0.value(forKey: "parts") as? Set<NSManagedObject>)?.count } == [3, 3])
    let owned = try context.list("n", of: "Part", sort: Self.byN, "owner.name == 'owner 1'") as [Int]
    #expect(owned == [1, 11, 21])
    let parts = NSFetchRequest<NSManagedObject>(entityName: "Part")
    parts.predicate = NSPredicate(format: "owner == %@", again[1])
    #expect(Set(try context.fetch(parts).map { $0.value(forKey: "n") as? Int }) == [1, 11, 21])
    parts.predicate = NSPredicate(format: "owner != %@", again[1])
    #expect(Set(try context.fetch(parts).map { $0.value(forKey: "n") as? Int }) == [0, 10, 20])
    parts.predicate = NSPredicate(format: "SELF IN %@", try context.fetch(parts) + [context.fetch(parts)[0]])
    #expect(try context.count(for: parts) == 3)
  }

  @Test("A change is saved to the store of its object, and merged into other contexts", .onSQLite)
  func changes() throws {
    let two = try TwoStores()
    try filled(two)
    let (context, other) = (two.context(), two.context())
    other.automaticallyMergesChangesFromParent = true
    let sort = [NSSortDescriptor(key: "n", ascending: true)]
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = sort
    let parts = try context.fetch(request)
    let theirs = try other.performAndWait {
      let theirs = try other.fetch(request)
      #expect(theirs.map { $0.value(forKey: "text") as? String } == ["0", "1", "0", "1", "0", "1"])
      return theirs
    }
    parts[1].setValue("changed", forKey: "text")
    try context.save()
    context.delete(parts[3])
    try context.save()
    other.performAndWait {
      #expect(theirs[1].value(forKey: "text") as? String == "changed")
      #expect(theirs[0].value(forKey: "text") as? String == "0")
      #expect(theirs[3].isDeleted || theirs[3].managedObjectContext == nil)
      #expect(!theirs[2].isDeleted && theirs[2].managedObjectContext === other)
    }
    try two.close()
    let b = try RawSQLite(two.file("B").path)
    #expect(try b.run("SELECT COUNT(*) FROM ZPART") == [["2"]])
    #expect(try b.run("SELECT COUNT(*) FROM ZPART WHERE ZTEXT = 'changed' AND ZOWNER = 1") == [["1"]])
  }

  @Test("A relationship between objects of two stores fails the save and names both")
  func crossing() throws {
    let two = try TwoStores()
    let context = two.context()
    let owner = context.make("Owner", ["name": "in A"])
    try context.save()
    let part = context.make("Part", in: two.stores[1], ["n": 1])
    part.setValue(owner, forKey: "owner")
    let single = try #require(throws: ManagedObjectError.self) { try context.save() }
    #expect(single.code == .relationshipBetweenStores)
    #expect(single.message.contains("A.sqlite") && single.message.contains("B.sqlite"))
    #expect(single.message.contains(owner.objectID.uriRepresentation().absoluteString))
    #expect(single.property != nil && single.object != nil)
    let second = context.make("Part", in: two.stores[1], ["n": 2])
    second.setValue(owner, forKey: "owner")
    let both = try #require(throws: ManagedObjectError.self) { try context.save() }
    #expect(both.code == .multipleValidationErrors && both.failures.count == 2)
    context.delete(second)
    // Nothing was written, and the object may be assigned to the other store.
    #expect(try two.context().count(for: NSFetchRequest<NSManagedObject>(entityName: "Part")) == 0)
    context.assign(part, to: two.stores[0])
    try context.save()
    #expect(part.objectID.persistentStore === two.stores[0])
  }

  @Test("IDs are valid in a coordinator that has the stores in another order")
  func otherOrder() throws {
    let two = try TwoStores()
    try filled(two)
    let turned = try TwoStores(["B", "A"], in: two.folder)
    let (here, there) = (two.context(), turned.context())
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = Self.byN
    for part in try here.fetch(request) {
      let copy = try there.existingObject(with: part.objectID)
      #expect(copy.value(forKey: "n") as? Int == part.value(forKey: "n") as? Int)
      #expect(copy.objectID == part.objectID && copy.objectID.hash == part.objectID.hash)
      #expect(there.registeredObject(for: part.objectID) === copy)
      #expect(there.object(with: part.objectID) === copy)
      #expect(copy.objectID.uriRepresentation() == part.objectID.uriRepresentation())
      let found = turned.coordinator.managedObjectID(forURIRepresentation: part.objectID.uriRepresentation())
      #expect(found == part.objectID)
      let same = NSFetchRequest<NSManagedObject>(entityName: "Part")
      same.predicate = NSPredicate(format: "SELF == %@", part.objectID)
      #expect(try there.fetch(same) == [copy])
    }
    // Their saves are merged by hand.
    let part = try here.fetch(request)[1]
    let copy = try there.existingObject(with: part.objectID)
    let info = Carried()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: here, queue: nil
    ) { info.value = $0.userInfo ?? [:] }
    part.setValue("new", forKey: "text")
    try here.save()
    NotificationCenter.default.removeObserver(token)
    there.merge(info.value)
    #expect(copy.value(forKey: "text") as? String == "new")
  }

  @Test("A removed store takes its objects with it, and brings them back")
  func removing() throws {
    let two = try TwoStores()
    try filled(two)
    let context = two.context()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = Self.byN
    let ids = try context.fetch(request).map(\.objectID)
    for removed in [0, 1] {
      let coordinator = two.coordinator
      let store = try #require(coordinator.persistentStore(for: two.file(["A", "B"][removed])))
      try coordinator.remove(store)
      let reader = two.context()
      #expect(try reader.list("n", of: "Part", sort: Self.byN) == [0, 10, 20].map { $0 + 1 - removed })
      for (place, id) in ids.enumerated() {
        if place % 2 == removed {
          #expect(throws: ManagedObjectError.self) { try reader.existingObject(with: id) }
          #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == nil)
        } else {
          #expect(try reader.existingObject(with: id).objectID == id)
        }
      }
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: two.file(["A", "B"][removed]))
      for (place, id) in ids.enumerated() {
        let part = try two.context().existingObject(with: id)
        #expect(part.value(forKey: "n") as? Int == place / 2 * 10 + place % 2)
        #expect(part.objectID == id)
      }
    }
  }

  @Test("A store is added to a coordinator once")
  func twice() throws {
    let two = try TwoStores(["A"])
    let error = #expect(throws: NSError.self) {
      try two.coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: two.file("A"))
    }
    #expect(error?.localizedDescription.contains("is loaded in this coordinator already") == true)
    #expect(two.coordinator.persistentStores.count == 1)
    #expect(try two.context().count(for: NSFetchRequest<NSManagedObject>(entityName: "Part")) == 0)
  }

  @Test("Keys beyond the range of one store are errors, and no wrong objects", .onSQLite)
  func greatKeys() throws {
    let two = try TwoStores()
    try filled(two)
    try two.close()
    let raw = try RawSQLite(two.file("B").path)
    try raw.run("UPDATE Z_PRIMARYKEY SET Z_MAX = 281474976710655 WHERE Z_NAME = 'Part'")
    let again = try TwoStores(in: two.folder)
    let context = again.context()
    _ = context.make("Part", in: again.stores[1])
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.message.contains("primary keys") == true)
    #expect(throws: (any Error).self) {
      try context.obtainPermanentIDs(for: [context.make("Part", in: again.stores[1])])
    }
    try again.close()
    try raw.run("UPDATE ZPART SET Z_PK = 281474976710657 WHERE Z_PK = 1")
    let opening = #expect(throws: NSError.self) { try TwoStores(in: two.folder) }
    #expect(opening?.localizedDescription.contains("below 2^48") == true)
    // Alone, or without the entity in common, such a store is as good as any.
    let alone = try TwoStores(["B"], in: two.folder)
    #expect(try alone.context().list("n", of: "Part", sort: Self.byN) == [1, 11, 21])
    #expect(throws: (any Error).self) {
      try alone.coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: two.file("A"))
    }
    #expect(try alone.context().list("n", of: "Part", sort: Self.byN) == [1, 11, 21])
  }

  @Test("A child context passes the choice of a store on", .onSQLite)
  func children() throws {
    let two = try TwoStores()
    try filled(two)
    let parent = two.context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueue)
    child.parent = parent
    let part = try child.performAndWait {
      let part = child.make("Part", in: two.stores[1], ["n": 7])
      _ = child.make("Part", ["n": 6])
      #expect(try child.list("n", of: "Part", sort: Self.byN, in: [two.stores[1]]) == [1, 7, 11, 21])
      try child.save()
      return part
    }
    let theirs: [Int] = try parent.performAndWait {
      try parent.list("n", of: "Part", sort: Self.byN, in: [two.stores[1]])
    }
    #expect(theirs == [1, 7, 11, 21])
    try child.performAndWait {
      #expect(try child.list("n", of: "Part", sort: Self.byN) == [0, 1, 6, 7, 10, 11, 20, 21])
      #expect(try child.list("n", of: "Part", sort: Self.byN, in: [two.stores[0]]) == [0, 6, 10, 20])
      try child.obtainPermanentIDs(for: [part])
      #expect(part.objectID.persistentStore === two.stores[1])
      #expect(try child.existingObject(with: part.objectID) === part)
    }
    // The save writes to both stores.
    try parent.performAndWait { try parent.save() }
    #expect(try two.context().list("n", of: "Part", sort: Self.byN, in: [two.stores[1]]) == [1, 7, 11, 21])
  }
}

/// Carries the contents of a notification out of its observer.
private final class Carried: @unchecked Sendable {
  // Guard: the notification is posted on the test's thread.
  var value: [AnyHashable: Any] = [:]
}
