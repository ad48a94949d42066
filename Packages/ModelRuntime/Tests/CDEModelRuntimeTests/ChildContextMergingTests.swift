import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Child contexts beside others: merges, notifications and isolation", .ownThreads)
struct ChildContextMergingTests {
  @Test("A child that merges automatically gets saves of siblings, of the parent, and what the parent merges")
  func automaticMerges() throws {
    let family = try Family()
    let (parent, child) = (family.parent, family.child)
    let sibling = NSManagedObjectContext(.privateQueue)
    sibling.parent = parent
    parent.automaticallyMergesChangesFromParent = true
    child.automaticallyMergesChangesFromParent = true
    let id = try family.savedItem("0")
    let item = try child.performAndWait { Unchecked(try #require(child.existingObject(with: id) as? Item)) }
    func title() -> String { child.performAndWait { item.value.title } }
    #expect(title() == "0")
    try sibling.performAndWait {
      (sibling.object(with: id) as? Item)?.title = "sibling"
      try sibling.save()
    }
    #expect(title() == "sibling")
    try parent.performAndWait {
      (parent.object(with: id) as? Item)?.title = "parent"
      try parent.save()
    }
    #expect(title() == "parent")
    let other = family.stack.context()
    try other.performAndWait {
      (other.object(with: id) as? Item)?.title = "other"
      try other.save()
    }
    parent.performAndWait {}
    #expect(title() == "other")
    try other.performAndWait {
      other.delete(other.object(with: id))
      try other.save()
    }
    parent.performAndWait {}
    child.performAndWait { #expect(item.value.isDeleted) }
  }

  @Test("A grandchild that merges automatically gets the saves of its parent, which stay out of the store")
  func grandchildren() throws {
    let family = try Family()
    let grandchild = NSManagedObjectContext(.privateQueue)
    grandchild.parent = family.child
    grandchild.automaticallyMergesChangesFromParent = true
    let id = try family.savedItem("0")
    let item = try grandchild.performAndWait {
      Unchecked(try #require(grandchild.existingObject(with: id) as? Item))
    }
    #expect(grandchild.performAndWait { item.value.title } == "0")
    try family.child.performAndWait {
      (family.child.object(with: id) as? Item)?.title = "child"
      try family.child.save()
    }
    #expect(grandchild.performAndWait { item.value.title } == "child")
    #expect(try family.stored() == ["0"])
  }

  @Test("The sequence of notifications: the child's change and will, the parent's change, the child's did")
  func notifications() throws {
    let family = try Family()
    let (parent, child) = (family.parent, family.child)
    let log = Unchecked(NSMutableArray())
    var tokens: [any NSObjectProtocol] = []
    for (context, title) in [(parent, "parent"), (child, "child")] {
      for (name, what) in [
        (Notification.Name.NSManagedObjectContextObjectsDidChange, "change"),
        (.NSManagedObjectContextWillSave, "will"), (.NSManagedObjectContextDidSave, "did"),
      ] {
        tokens.append(
          NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
            let inserted = (note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count
            log.value.add("\(title) \(what)" + (inserted.map { " \($0)" } ?? ""))
          })
      }
    }
    try child.performAndWait {
      _ = Item(context: child)
      try child.save()
    }
    try parent.performAndWait { try parent.save() }
    for token in tokens { NotificationCenter.default.removeObserver(token) }
    #expect(
      log.value as? [String] == [
        "child change 1", "child will", "parent change 1", "child did 1", "parent will", "parent did 1",
      ])
  }

  @Test("A main-queue parent and a private child read and save in both directions without a deadlock")
  @MainActor
  func mainParent() async throws {
    let stack = try Stack()
    let main = stack.container.viewContext
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = main
    _ = Item(context: main)
    for round in 0..<200 {
      let title = "\(round)"
      async let saved: Void = Task.detached {
        try await child.perform {
          let item = Item(context: child)
          item.title = title
          _ = try child.fetch(Item.fetchRequest())
          try child.save()
        }
      }.value
      // Blocks the main actor for the child, while the child may wait for the main actor.
      let count = try child.performAndWait { try child.count(for: Item.fetchRequest()) }
      #expect(count >= round + 1)
      try await saved
    }
    #expect(try main.count(for: Item.fetchRequest()) == 201)
    try main.save()
    #expect(try stack.context().count(for: Item.fetchRequest()) == 201)
  }

  @Test("A context with a coordinator, an ancestor's descendant, and a used context can't get a parent")
  func misuse() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack()
      stack.context().parent = stack.context()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("A context's parent must be set before the context is used"))
    let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      NSManagedObjectContext(.privateQueue).parent = NSManagedObjectContext(.privateQueue)
    }
    let reason = String(decoding: other?.standardErrorContent ?? [], as: UTF8.self)
    #expect(reason.contains("The parent context has no persistentStoreCoordinator"))
  }
}
