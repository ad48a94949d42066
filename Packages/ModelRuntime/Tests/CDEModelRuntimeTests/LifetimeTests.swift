import CDEManagedModel
import CDEModelRuntime
import Foundation
import Synchronization
import Testing

@Suite("Lifetimes and many at once")
struct LifetimeTests {
  @Test("200 containers of the same classes work beside each other")
  func manyContainers() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          let types: [any CDRuntimeSchemaProviding.Type] =
            number % 2 == 0 ? [Item.self, Category.self, Tag.self] : [Tag.self, Category.self, Item.self]
          let stack = try Stack(types)
          let keeper = Keeper(container: stack.container)
          let id = try await keeper.add("\(number)")
          let context = stack.context()
          try await context.perform {
            let item = try #require(try context.existingObject(with: id) as? Item)
            #expect(item.title == "\(number)")
            let category = Category(context: context)
            item.category = category
            context.insert(Item(entity: Item.entity(), insertInto: nil))
            try context.save()
            #expect(try context.count(for: Item.fetchRequest()) == 2)
            #expect(category.items == [item])
          }
          try? FileManager.default.removeItem(at: stack.folder)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("An object made of an entity alone keeps what it needs, and lets go of it")
  func entityAlone() throws {
    weak var model: NSManagedObjectModel?
    do {
      let node = entity("Node", nil, [attribute("name", .stringAttributeType)])
      let made = CDEModelRuntimeTests.model(node)
      model = made
      // No container, no context: the objects are the model's only use.
      let objects = (0..<100).map { _ in NSManagedObject(entity: node, insertInto: nil) }
      for (index, object) in objects.enumerated() { object.setValue("\(index)", forKey: "name") }
      let container = NSPersistentContainer(name: "Late", managedObjectModel: made)
      let context = container.newBackgroundContext()
      for object in objects { context.insert(object) }
      #expect(objects.map { $0.value(forKey: "name") as? String } == (0..<100).map { "\($0)" })
      #expect(objects.allSatisfy { $0.entity === node })
    }
    #expect(model == nil)
  }

  @Test("Objects and IDs made while the last container of their model dies stay good")
  func dyingContainers() async throws {
    let node = entity("Node", nil, [attribute("name", .stringAttributeType)])
    let model = CDEModelRuntimeTests.model(node)
    let shared = Unchecked((model, node))
    // Each task drops containers of the one model while the others make objects and IDs of it: the model's
    // binding dies and is made again all the time.
    await withTaskGroup(of: Int.self) { group in
      for number in 0..<8 {
        group.addTask {
          let (model, node) = shared.value
          var good = 0
          for round in 0..<200 {
            var ids: [NSManagedObjectID] = []
            var orphans: [NSManagedObject] = []
            do {
              let container = NSPersistentContainer(name: "\(number)", managedObjectModel: model)
              let context = container.newBackgroundContext()
              let object = NSManagedObject(entity: node, insertInto: context)
              object.setValue("\(round)", forKey: "name")
              ids.append(object.objectID)
              orphans = [object, NSManagedObject(entity: node, insertInto: nil)]
            }
            ids += orphans.map(\.objectID)
            let isGood =
              ids.allSatisfy { $0.entity === node && $0.uriRepresentation().path.hasPrefix("/Node/t") }
              && ids[0] == ids[1] && orphans.allSatisfy { $0.entity === node }
              && orphans[0].value(forKey: "name") as? String == "\(round)"
            if isGood { good += 1 }
          }
          return good
        }
      }
      for await good in group { #expect(good == 200) }
    }
  }

  @Test("Contexts, containers, stores and models are freed, with their objects")
  func leaks() async throws {
    weak var container: NSPersistentContainer?
    weak var coordinator: NSPersistentStoreCoordinator?
    weak var context: NSManagedObjectContext?
    weak var model: NSManagedObjectModel?
    weak var saved: NSManagedObject?
    weak var rolledBack: NSManagedObject?
    weak var unsaved: NSManagedObject?
    do {
      let node = entity("Node", nil, [attribute("name", .stringAttributeType)])
      connect(.one(node, "next"), .one(node, "previous"))
      connect(.one(node, "parent"), .many(node, "children"))
      let made = CDEModelRuntimeTests.model(node)
      model = made
      let stack = try Stack(model: made)
      container = stack.container
      coordinator = stack.container.persistentStoreCoordinator
      let writer = stack.context()
      context = writer
      func circle() -> NSManagedObject {
        let (one, other) = (writer.make("Node"), writer.make("Node"))
        one.setValue(other, forKey: "next")
        other.setValue(one, forKey: "next")
        one.setValue(one, forKey: "parent")
        return one
      }
      try await writer.perform {
        saved = circle()
        try writer.save()
        rolledBack = circle()
        writer.rollback()
        #expect(rolledBack == nil)
        unsaved = circle()
      }
      #expect(unsaved != nil)
    }
    #expect(container == nil)
    #expect(coordinator == nil)
    #expect(context == nil)
    #expect(saved == nil)
    #expect(rolledBack == nil)
    #expect(unsaved == nil)
    #expect(model == nil)
  }

  @Test("Objects released on other threads while the context looks them up")
  func releasedElsewhere() async throws {
    let stack = try Stack()
    let writer = stack.context()
    for index in 0..<500 {
      let item = Item(context: writer)
      item.title = "\(index)"
    }
    try writer.save()
    let context = stack.context()
    let seen = Atomic<Int>(0)
    await withTaskGroup(of: Void.self) { group in
      for round in 0..<60 {
        let objects = await context.perform {
          let request = Item.fetchRequest()
          request.fetchOffset = round % 7 * 20
          let items = (try? context.fetch(request)) ?? []
          // Identity holds whatever dies meanwhile.
          for item in items { #expect(context.registeredObject(for: item.objectID) === item) }
          seen.wrappingAdd(items.count, ordering: .relaxed)
          return (0..<4).map { part in
            Box(items.enumerated().filter { $0.offset % 4 == part }.map(\.element))
          }
        }
        for part in objects { group.addTask { part.clear() } }
      }
    }
    #expect(seen.load(ordering: .relaxed) > 10_000)
    await context.perform { #expect(context.registeredObjects.count <= 500) }
  }

  @Test("Objects that outlive their context are released by any thread")
  func outlivingElsewhere() async throws {
    for _ in 0..<20 {
      var parts: [Box] = []
      do {
        let stack = try Stack()
        let context = stack.context()
        for index in 0..<200 { Item(context: context).title = "\(index)" }
        try context.save()
        let items = try context.fetch(Item.fetchRequest())
        parts = (0..<8).map { part in Box(items.enumerated().filter { $0.offset % 8 == part }.map(\.element))
        }
        try? FileManager.default.removeItem(at: stack.folder)
      }
      await withTaskGroup(of: Void.self) { group in
        for part in parts { group.addTask { part.clear() } }
      }
      #expect(parts.allSatisfy { $0.isEmpty })
    }
  }

  @Test("A key whose fault was made before its row finds the saved object")
  func faultBeforeRow() throws {
    let stack = try Stack()
    let context = stack.context()
    let first = Item(context: context)
    try context.save()
    let text = first.objectID.uriRepresentation().absoluteString.replacingOccurrences(of: "/p1", with: "/p2")
    let id = try #require(
      stack.container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: URL(string: text)!))
    let early = context.object(with: id)
    let second = Item(context: context)
    second.title = "two"
    try context.save()
    #expect(second.objectID == id)
    #expect(context.registeredObject(for: id) === second)
    #expect(early !== second)
  }
}

/// Objects given away to be released elsewhere.
final class Box: @unchecked Sendable {
  // Guard: `lock`.
  private var objects: [NSManagedObject]
  private let lock = Mutex(())

  init(_ objects: [NSManagedObject]) { self.objects = objects }

  func clear() { lock.withLock { _ in objects = [] } }
  var isEmpty: Bool { lock.withLock { _ in objects.isEmpty } }
}
