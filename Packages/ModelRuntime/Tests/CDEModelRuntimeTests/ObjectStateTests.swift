import CDEManagedModel
import Foundation
import Testing

@testable import CDEModelRuntime

@Suite("States of an object")
struct ObjectStateTests {
  private func note(_ context: NSManagedObjectContext) throws -> NSManagedObject {
    let note = context.make("Note", ["title": "a"])
    try context.save()
    return note
  }

  private func stack() throws -> Stack {
    try Stack(model: model(entity("Note", nil, [attribute("title", .stringAttributeType)])))
  }

  @Test("An object is free, inserted, saved, deleted and gone in turn")
  func wholeLife() throws {
    let context = try stack().context()
    let description = try #require(NSEntityDescription.entity(forEntityName: "Note", in: context))
    let note = NSManagedObject(entity: description, insertInto: nil)
    #expect(note.state == .free)
    context.insert(note)
    #expect(note.state == .inserted && !note.isStored && note.unsavedChange == .insertion)
    try context.obtainPermanentIDs(for: [note])
    #expect(note.state == .inserted && !note.isStored && note.hasPermanentKey)
    try context.save()
    #expect(note.state == .saved && note.isStored && note.unsavedChange == .none)
    note.setValue("b", forKey: "title")
    #expect(note.state == .saved && note.unsavedChange == .update)
    context.delete(note)
    #expect(note.state == .deleted && note.isStored && note.unsavedChange == .deletion)
    try context.save()
    #expect(note.state == .gone && note.unsavedChange == .none)
  }

  @Test("An object equals itself alone, before and after its save, and no value of another type")
  func equality() throws {
    let context = try stack().context()
    let (one, other) = (context.make("Note", ["title": "a"]), context.make("Note", ["title": "a"]))
    let both: Set = [one, other]
    let hash = one.hash
    try context.save()
    #expect(both.count == 2 && both.contains(one) && both.contains(other) && one.hash == hash)
    #expect(one == one && one != other && one.isEqual(one as Any))
    #expect(!one.isEqual(other) && !one.isEqual(nil) && !one.isEqual("a") && !one.isEqual(NSObject()))
  }

  @Test("A rollback makes a deleted object a saved one, and an inserted one gone")
  func rollback() throws {
    let context = try stack().context()
    let note = try note(context)
    let other = context.make("Note", ["title": "b"])
    context.delete(note)
    context.rollback()
    #expect(note.state == .saved && note.unsavedChange == .none)
    #expect(other.state == .gone)
  }

  @Test("An object that was inserted and deleted is gone at once")
  func neverSaved() throws {
    let context = try stack().context()
    let note = context.make("Note", ["title": "a"])
    context.delete(note)
    #expect(note.state == .gone && !note.isStored)
  }

  @Test("A fault is a saved object until its row is not found")
  func fault() throws {
    let stack = try stack()
    let (writer, reader) = (stack.context(), stack.context())
    let id = try note(writer).objectID
    let fault = reader.object(with: id)
    #expect(fault.state == .saved && fault.isFault && !fault.isRealized)
    writer.delete(try writer.existingObject(with: id))
    try writer.save()
    _ = fault.value(forKey: "title")
    #expect(fault.state == .gone && !fault.isFault)
  }

  @Test("Another writer's deletion and a reset end the tie to the context")
  func forgotten() throws {
    let stack = try stack()
    let (writer, reader) = (stack.context(), stack.context())
    let mine = try note(writer)
    let theirs = try #require(try reader.all("Note").first)
    writer.delete(mine)
    try writer.save()
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectIDsKey: [theirs.objectID]], into: [reader])
    #expect(theirs.state == .gone)
    let kept = try note(writer)
    writer.reset()
    #expect(kept.state == .free && kept.managedObjectContext == nil)
  }
}
