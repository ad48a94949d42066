import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Computes a transient value whenever its values are replaced.
private final class Track: NSManagedObject {
  var events: [NSSnapshotEventType] = []
  var seen: [String] = []
  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
    events.append(flags)
    seen.append(value(forKey: "name") as? String ?? "-")
    setValue("computed", forKey: "cache")
    setValue("noted", forKey: "note")
  }
}

// Source: "awake(fromSnapshotEvents:)" and "NSSnapshotEventType" of Core Data's documentation. That values set in the hook
// are no changes is assumed, by analogy with awakeFromFetch.
@Suite("Hooks of replaced values", .ownThreads)
struct SnapshotEventTests {
  private func stack() throws -> Stack {
    let track = entity(
      "Track", Track.self,
      [
        attribute("name", .stringAttributeType), attribute("note", .stringAttributeType),
        attribute("cache", .stringAttributeType, transient: true),
      ])
    let other = entity("Other", nil, [attribute("name", .stringAttributeType)])
    return try Stack(model: model(track, other))
  }

  private func stored(_ stack: Stack) throws -> NSManagedObjectID {
    let writer = stack.context()
    let track = writer.make("Track", ["name": "stored"])
    try writer.save()
    return track.objectID
  }

  private func track(_ id: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> Track {
    try #require(try context.existingObject(with: id) as? Track)
  }

  @Test("The numbers of the events are Core Data's")
  func numbers() {
    #expect(NSSnapshotEventType.undoInsertion.rawValue == 2 && NSSnapshotEventType.undoUpdate.rawValue == 8)
    #expect(NSSnapshotEventType.rollback.rawValue == 16 && NSSnapshotEventType.mergePolicy.rawValue == 64)
    #expect(NSSnapshotEventType([.refresh, .rollback]).rawValue == 48)
  }

  @Test("A fetch, a setter and a save replace no values")
  func none() throws {
    let stack = try stack()
    let id = try stored(stack)
    let context = stack.context()
    let track = try track(id, context)
    track.setValue("b", forKey: "name")
    try context.save()
    #expect(track.events.isEmpty)
  }

  @Test("A refresh that keeps changes is an event, and one that makes a fault is none")
  func refresh() throws {
    let stack = try stack()
    let id = try stored(stack)
    let context = stack.context()
    let track = try track(id, context)
    context.refresh(track, mergeChanges: true)
    #expect(track.events == [.refresh])
    #expect(track.value(forKey: "note") as? String == "noted")
    #expect(!context.hasChanges && !track.hasChanges && track.changedValues().isEmpty)
    context.refresh(track, mergeChanges: false)
    context.refresh(track, mergeChanges: true)
    #expect(track.events == [.refresh])
  }

  @Test("A rollback of a change and of a deletion is an event, and leaves the context without changes")
  func rollback() throws {
    let stack = try stack()
    let id = try stored(stack)
    let context = stack.context()
    let track = try track(id, context)
    track.setValue("b", forKey: "name")
    context.rollback()
    #expect(track.events == [.rollback] && track.seen == ["stored"])
    context.delete(track)
    context.rollback()
    #expect(track.events == [.rollback, .rollback])
    #expect(track.value(forKey: "cache") as? String == "computed")
    #expect(!context.hasChanges)
  }

  @Test(
    "A merge of another context's save is a refresh, when all its objects have their new values",
    arguments: [false, true])
  func merge(byIDs: Bool) throws {
    let stack = try stack()
    let id = try stored(stack)
    let context = stack.context()
    let writer = stack.context()
    let theirs = try self.track(id, writer)
    theirs.setValue("theirs", forKey: "name")
    let listener = Listener(writer)
    try context.performAndWait {
      let track = try track(id, context)
      try writer.save()
      if byIDs {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [context])
      } else {
        let info = try #require(listener.events.last { $0.name == .NSManagedObjectContextDidSave }).info
        context.mergeChanges(
          fromContextDidSave: Notification(
            name: .NSManagedObjectContextDidSave, object: writer, userInfo: info))
      }
      #expect(track.events == [.refresh] && track.seen == ["theirs"])
      #expect(!context.hasChanges)
    }
    #expect(theirs.events.isEmpty)
  }

  @Test("A merge into a child context is a refresh")
  func child() throws {
    let stack = try stack()
    let id = try stored(stack)
    let parent = stack.context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueue)
    child.parent = parent
    let writer = stack.context()
    let theirs = try track(id, writer)
    theirs.setValue("theirs", forKey: "name")
    try child.performAndWait {
      let track = try self.track(id, child)
      try writer.save()
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [parent, child])
      #expect(track.events == [.refresh] && track.seen == ["theirs"])
    }
  }

  @Test("A merge policy that takes another writer's values is an event")
  func policy() throws {
    let stack = try stack()
    let id = try stored(stack)
    let context = stack.context()
    context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    let track = try track(id, context)
    let writer = stack.context()
    try self.track(id, writer).setValue("theirs", forKey: "name")
    try writer.save()
    track.setValue("mine", forKey: "name")
    try context.save()
    #expect(track.events == [.mergePolicy] && track.seen == ["theirs"])
    #expect(track.value(forKey: "name") as? String == "theirs")
    #expect(track.value(forKey: "cache") as? String == "computed" && !context.hasChanges)
  }
}
