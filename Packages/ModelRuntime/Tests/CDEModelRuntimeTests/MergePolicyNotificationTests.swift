import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import CDEStore
import Foundation
import Testing

/// Hears what a domain hears.
private final class Witness: ContextObserver {
  private(set) var saves: [[ObjectChange]] = []
  private(set) var merges: [[ObjectChange]] = []

  func contextWillTrack(_ object: NSManagedObject) {}
  func contextDidSave(_ changes: [ObjectChange], commit: CommittedTransaction) { saves.append(changes) }
  func contextDidMerge(_ changes: [ObjectChange], _ source: MergeSource) { merges.append(changes) }
  func contextDidRefresh(_ objects: [NSManagedObject]) {}
  func contextDidReset() {}
}

extension [ObjectChange] {
  /// The names of the properties told for an object.
  fileprivate func names(of object: NSManagedObject) -> Set<String> {
    let slots = filter { $0.object === object }.compactMap(\.properties).flatMap { $0.map { slot in slot } }
    let properties = IndexedArray<SlotIndex, String>(object.entity.properties.map(\.name).sorted())
    return Set(slots.map { properties[$0] })
  }
}

@Suite("Merge policies: who is told")
struct MergePolicyNotificationTests {
  private func conflict(_ rivals: Rivals) throws -> Item {
    let item = Item(context: rivals.theirs)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    (item.title, item.count) = ("theirs", 2)
    item.category = Category(context: rivals.theirs)
    try rivals.theirs.save()
    (mine.title, mine.note) = ("mine", "mine")
    return mine
  }

  private func commit(_ listener: Listener) throws -> CommittedTransaction {
    let did = try #require(listener.events.last { $0.name == .NSManagedObjectContextDidSave })
    return try #require(did.info[CommittedTransaction.userInfoKey] as? CommittedTransaction)
  }

  @Test(
    "What the store's side gave counts as refreshed, what was written as saved, each property once and exactly"
  )
  func exactly() throws {
    for (type, saved) in [
      (NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, ["title", "note"] as Set),
      (.mergeByPropertyStoreTrumpMergePolicyType, ["note"]),
      (.overwriteMergePolicyType, ["title", "note", "count", "category"]),
    ] {
      let rivals = try Rivals(policy: NSMergePolicy(merge: type))
      let item = try conflict(rivals)
      let witness = Witness()
      rivals.mine.observer = witness
      let listener = Listener(rivals.mine)
      try rivals.mine.save()
      let change = try #require(try commit(listener).changes.first { $0.row != nil })
      let properties = IndexedArray<SlotIndex, String>(item.entity.properties.map(\.name).sorted())
      #expect(Set(change.properties.map { properties[$0] }) == saved)
      #expect(change.row?.version == 3)
      let changed: Set = ["title", "note", "count", "category"]
      let heard = try #require(witness.saves.first).names(of: item)
      #expect(heard == changed)
      let refreshed = listener.events.compactMap { $0.info[NSRefreshedObjectsKey] as? Set<NSManagedObject> }
      #expect(refreshed == (type == .overwriteMergePolicyType ? [] : [[item]]))
      #expect(listener.objects(listener.events.count - 1, NSUpdatedObjectsKey).contains(item))
      rivals.mine.processPendingChanges()
      #expect(listener.names.last == "did")
    }
  }

  @Test("A save of which nothing is left commits nothing and tells of refreshed objects only")
  func nothingLeft() throws {
    let rivals = try Rivals(policy: .rollback)
    let item = try conflict(rivals)
    let witness = Witness()
    rivals.mine.observer = witness
    let listener = Listener(rivals.mine)
    try rivals.mine.save()
    #expect(!listener.names.contains("did"))
    #expect(listener.objects(listener.events.count - 1, NSRefreshedObjectsKey) == [item])
    #expect(witness.saves.isEmpty)
    #expect(witness.merges.first?.names(of: item) == ["title", "note", "count", "category"])
    try rivals.mine.save()
    #expect(listener.events.count == 3)
  }

  @Test("Objects whose rows are gone are told as a merge tells them; their owners too")
  func gone() throws {
    let rivals = try Rivals(policy: .mergeByPropertyStoreTrump)
    let (item, category) = (Item(context: rivals.theirs), Category(context: rivals.theirs))
    item.category = category
    try rivals.theirs.save()
    let (mine, owner) = (
      try rivals.twin(of: item, in: rivals.mine), try rivals.twin(of: category, in: rivals.mine)
    )
    #expect(owner.items == [mine])
    rivals.theirs.delete(item)
    try rivals.theirs.save()
    mine.title = "mine"
    owner.name = "mine"
    let witness = Witness()
    rivals.mine.observer = witness
    try rivals.mine.save()
    let gone = try #require(witness.merges.first?.first)
    #expect(gone.object === mine)
    #expect(gone.kind == .deleted)
    #expect(witness.saves.first?.names(of: owner) == ["name", "items"])
    #expect(owner.items.isEmpty)
  }

  @Test("A sibling that never heard of the other writer is told of its changes with the merged save")
  func sibling() throws {
    let rivals = try Rivals(.twoContainers, policy: .mergeByPropertyObjectTrump)
    let item = try conflict(rivals)
    let sibling = try #require(item.managedObjectContext?.persistentStoreCoordinator)
    let reader = NSManagedObjectContext(.privateQueue)
    reader.persistentStoreCoordinator = sibling
    let seen = try rivals.twin(of: item, in: reader)
    #expect(seen.title == "theirs")
    // This one read the object before the first change.
    let late = NSManagedObjectContext(.privateQueue)
    late.persistentStoreCoordinator = sibling
    let third = try #require(try rivals.stored(item))
    third.score = 5
    try #require(third.managedObjectContext).save()
    let stale = try rivals.twin(of: item, in: late)
    third.uuid = UUID()
    try #require(third.managedObjectContext).save()
    let listener = Listener(rivals.mine)
    try rivals.mine.save()
    let witness = Witness()
    late.observer = witness
    let event = try #require(listener.events.last)
    // On its executor, which an observed context enters by itself when the merge's turn ends.
    late.performAndWait {
      late.mergeChanges(
        fromContextDidSave: Notification(name: event.name, object: rivals.mine, userInfo: event.info))
      #expect((stale.title, stale.note, stale.uuid) == ("mine", "mine", third.uuid))
      #expect(witness.merges.first?.names(of: stale) == ["title", "note", "uuid"])
    }
  }
}
