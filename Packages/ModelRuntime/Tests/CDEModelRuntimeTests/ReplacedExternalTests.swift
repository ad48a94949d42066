import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// A value in a file of its own, which another context replaces. The former file is removed by that save.
@Suite("External values that another context has replaced", .onSQLite)
struct ReplacedExternalTests {
  private static func bytes(_ byte: UInt8) -> Data { Data(repeating: byte, count: 300_000) }

  private func stack() throws -> Stack {
    let blob = attribute("blob", .binaryDataAttributeType)
    blob.allowsExternalBinaryDataStorage = true
    let stack = try Stack(model: model(entity("Note", nil, [attribute("text", .stringAttributeType), blob])))
    let context = stack.context()
    context.make("Note", ["text": "first", "blob": Self.bytes(1)])
    try context.save()
    return stack
  }

  private func replace(_ value: Data?, in stack: Stack) throws {
    let context = stack.context()
    try context.all("Note")[0].setValue(value, forKey: "blob")
    try context.save()
  }

  @Test("The value that the store has now is read, not nil", arguments: [false, true])
  func reading(isReadBefore: Bool) throws {
    let stack = try stack()
    let context = stack.context()
    let note = try #require(try context.all("Note").first)
    #expect(note.value(forKey: "text") as? String == "first")
    if isReadBefore { #expect(note.value(forKey: "blob") as? Data == Self.bytes(1)) }
    try replace(Self.bytes(2), in: stack)
    #expect(note.value(forKey: "blob") as? Data == Self.bytes(2))
    #expect(note.value(forKey: "text") as? String == "first" && !context.hasChanges)
    context.refreshAllObjects()
    #expect(note.value(forKey: "blob") as? Data == Self.bytes(2))
    try replace(nil, in: stack)
    #expect(note.value(forKey: "blob") == nil)
  }

  @Test(
    "A save of another property keeps the replaced value, by every merge policy",
    arguments: [
      NSMergePolicyType.overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
      .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
    ])
  func saving(policy: NSMergePolicyType) throws {
    let stack = try stack()
    let context = stack.context()
    context.mergePolicy = NSMergePolicy(merge: policy)
    let note = try #require(try context.all("Note").first)
    #expect(note.value(forKey: "text") as? String == "first")
    try replace(Self.bytes(2), in: stack)
    note.setValue("mine", forKey: "text")
    try context.save()
    let other = stack.context()
    let stored = try other.all("Note")[0]
    #expect(stored.value(forKey: "blob") as? Data == Self.bytes(2))
    #expect(
      stored.value(forKey: "text") as? String == (policy == .rollbackMergePolicyType ? "first" : "mine"))
    #expect(try stack.externalFiles().count == 1)
  }

  @Test("A context that is pinned to a state reads the values of that state, and their files go when it ends")
  func pinned() throws {
    let stack = try stack()
    do {
      let (first, second) = (stack.context(), stack.context())
      for context in [first, second] {
        try context.setQueryGenerationFrom(.current)
        // The first read takes the state.
        #expect(try context.all("Note").count == 1)
      }
      let note = try #require(try first.all("Note").first)
      try replace(Self.bytes(2), in: stack)
      #expect(note.value(forKey: "blob") as? Data == Self.bytes(1))
      let third = stack.context()
      try third.setQueryGenerationFrom(.current)
      #expect(try third.all("Note").count == 1)
      try replace(nil, in: stack)
      let writer = stack.context()
      writer.delete(try writer.all("Note")[0])
      try writer.save()
      #expect(try second.all("Note")[0].value(forKey: "blob") as? Data == Self.bytes(1))
      #expect(try third.all("Note")[0].value(forKey: "blob") as? Data == Self.bytes(2))
      #expect(try stack.externalFiles().count == 2)
      try first.setQueryGenerationFrom(nil)
      second.reset()
      #expect(try stack.context().all("Note").isEmpty)
    }
    #expect(try stack.externalFiles().isEmpty)
    #expect(try stack.context().all("Note").isEmpty)
  }

  @Test(
    "A row is not written again without a value whose file the deletion removed", arguments: [false, true])
  func writtenAgain(isReadBefore: Bool) throws {
    let stack = try stack()
    let context = stack.context()
    context.mergePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
    let note = try #require(try context.all("Note").first)
    #expect(note.value(forKey: "text") as? String == "first")
    if isReadBefore { #expect(note.value(forKey: "blob") as? Data == Self.bytes(1)) }
    let other = stack.context()
    other.delete(try other.all("Note")[0])
    try other.save()
    note.setValue("mine", forKey: "text")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .unreadValue && error?.property == "blob" && error?.objectID == note.objectID)
    #expect(try stack.context().all("Note").isEmpty)
    // The object stays as it was, so the remedies work.
    #expect(context.hasChanges && note.value(forKey: "text") as? String == "mine")
    note.setValue(Self.bytes(3), forKey: "blob")
    try context.save()
    let reader = stack.context()
    let stored = try #require(try reader.all("Note").first)
    #expect(stored.value(forKey: "text") as? String == "mine")
    #expect(stored.value(forKey: "blob") as? Data == Self.bytes(3))
    #expect(try stack.externalFiles().count == 1)
  }
}
