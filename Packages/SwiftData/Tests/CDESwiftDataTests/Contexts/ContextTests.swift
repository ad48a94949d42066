import CDESwiftData
import Foundation
import Testing

@Suite("Model contexts")
struct ContextTests {
  private func makeContext() throws -> ModelContext {
    ModelContext(try .inMemory(TaskList.self, TaskItem.self, TaskTag.self))
  }

  @Test("The contexts of a container lead to it, and do not keep it")
  @MainActor func container() throws {
    weak var kept: ModelContainer?
    do {
      let container = try ModelContainer.inMemory(TaskList.self, TaskItem.self, TaskTag.self)
      kept = container
      #expect(container.mainContext.container === container)
      #expect(ModelContext(container).container === container)
    }
    #expect(kept == nil)
  }

  @Test("An inserted model and all that it reaches are saved, and another context reads them")
  func insertAndSave() throws {
    let context = try makeContext()
    let list = TaskList(name: "Home")
    list.items = [TaskItem(title: "Milk"), TaskItem(title: "Bread")]
    list.items[0].tags = [TaskTag("food")]
    context.insert(list)
    #expect(list.modelContext === context)
    #expect(list.items.allSatisfy { $0.modelContext === context })
    #expect(context.insertedModelsArray.count == 4 && context.hasChanges)
    try context.save()
    #expect(!context.hasChanges && !list.hasChanges)

    let other = ModelContext(context.container)
    let lists = try other.fetch(FetchDescriptor<TaskList>())
    #expect(lists.map(\.name) == ["Home"])
    #expect(lists[0] !== list && lists[0].persistentModelID == list.persistentModelID)
    #expect(Set(lists[0].items.map(\.title)) == ["Milk", "Bread"])
    #expect(lists[0].items.first { $0.title == "Milk" }?.tags.first?.name == "food")
  }

  @Test("A model that is related to one of a context joins it, also from its initialiser")
  func joins() throws {
    let context = try makeContext()
    let list = TaskList(name: "Home")
    context.insert(list)
    _ = TaskItem(title: "Milk", list: list)
    #expect(list.items.map(\.title) == ["Milk"])
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<TaskItem>()) == 1)
    let item = TaskItem(title: "Bread")
    item.list = list
    #expect(item.modelContext === context)
  }

  @Test("There is one instance for each row and context")
  func identity() throws {
    let context = try makeContext()
    let item = TaskItem(title: "Milk")
    context.insert(item)
    let temporary = item.persistentModelID
    try context.save()
    #expect(item.persistentModelID != temporary)
    #expect(try context.fetch(FetchDescriptor<TaskItem>()).first === item)
    #expect(context.model(for: item.persistentModelID) === item)
    let registered: TaskItem? = context.registeredModel(for: item.persistentModelID)
    #expect(registered === item)
    let other = ModelContext(context.container)
    let absent: TaskItem? = other.registeredModel(for: item.persistentModelID)
    #expect(absent == nil)
    #expect((other.model(for: item.persistentModelID) as? TaskItem)?.title == "Milk")
  }

  @Test("An identifier that was encoded finds its row")
  func encodedIdentifier() throws {
    let context = try makeContext()
    let item = TaskItem(title: "Milk")
    context.insert(item)
    try context.save()
    let data = try JSONEncoder().encode(item.persistentModelID)
    let id = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
    #expect(id == item.persistentModelID)
    #expect(context.model(for: id) === item)
  }

  @Test("Deleting follows the delete rule, and last values can be read afterwards")
  func delete() throws {
    let context = try makeContext()
    let list = TaskList(name: "Home")
    let item = TaskItem(title: "Milk", list: list)
    context.insert(list)
    try context.save()
    context.delete(list)
    #expect(list.isDeleted)
    try context.save()
    #expect(!list.isDeleted && list.modelContext == nil && list.name == "Home")
    #expect(item.title == "Milk")
    #expect(try context.fetchCount(FetchDescriptor<TaskItem>()) == 0)
  }

  @Test("A rollback restores values and relationships, and new models have no context")
  func rollback() throws {
    let context = try makeContext()
    let list = TaskList(name: "Home")
    let item = TaskItem(title: "Milk", list: list)
    context.insert(list)
    try context.save()
    item.title = "Bread"
    item.list = nil
    let extra = TaskItem(title: "Extra")
    context.insert(extra)
    context.rollback()
    #expect(item.title == "Milk" && item.list === list && list.items.map(\.title) == ["Milk"])
    #expect(extra.modelContext == nil && !context.hasChanges)
  }

  @Test("Predicates and orders, limits and offsets apply to stored and to unsaved models")
  func fetching() throws {
    let context = try makeContext()
    for number in 0..<10 {
      let item = TaskItem(title: "Item \(number)")
      item.priority = number % 2 == 0 ? .high : .low
      item.isDone = number < 5
      context.insert(item)
      if number == 4 { try context.save() }
    }
    let done = FetchDescriptor<TaskItem>(
      predicate: #Predicate { $0.isDone && $0.title != "Item 0" },
      sortBy: [SortDescriptor(\.title, order: .reverse)])
    #expect(try context.fetch(done).map(\.title) == ["Item 4", "Item 3", "Item 2", "Item 1"])
    let high = TaskItem.Priority.high
    var descriptor = FetchDescriptor<TaskItem>(
      predicate: #Predicate { $0.priority == high }, sortBy: [SortDescriptor(\.title)])
    #expect(try context.fetchCount(descriptor) == 5)
    descriptor.fetchLimit = 2
    descriptor.fetchOffset = 1
    #expect(try context.fetch(descriptor).map(\.title) == ["Item 2", "Item 4"])
    descriptor = FetchDescriptor()
    descriptor.includePendingChanges = false
    #expect(try context.fetchCount(descriptor) == 5)
  }

  @Test("Predicates follow relationships and compare identifiers")
  func relatedPredicates() throws {
    let context = try makeContext()
    let home = TaskList(name: "Home")
    let work = TaskList(name: "Work")
    context.insert(home)
    context.insert(work)
    _ = TaskItem(title: "Milk", list: home)
    let report = TaskItem(title: "Report", list: work)
    report.tags = [TaskTag("urgent")]
    try context.save()
    #expect(
      try context.fetch(FetchDescriptor<TaskItem>(predicate: #Predicate { $0.list?.name == "Home" })).map(
        \.title)
        == ["Milk"])
    let id = work.persistentModelID
    #expect(
      try context.fetch(FetchDescriptor<TaskItem>(predicate: #Predicate { $0.list?.persistentModelID == id }))
        .map(\.title) == ["Report"])
    #expect(
      try context.fetch(
        FetchDescriptor<TaskList>(
          predicate: #Predicate { $0.items.contains { $0.tags.contains { $0.name == "urgent" } } })
      ).map(\.name) == ["Work"])
    let ids = [report.persistentModelID]
    #expect(
      try context.fetch(
        FetchDescriptor<TaskItem>(predicate: #Predicate { ids.contains($0.persistentModelID) })
      )
      .map(\.title) == ["Report"])
  }

  @Test("A predicate that can't be translated is an error that names the construct")
  func unsupportedPredicate() throws {
    let context = try makeContext()
    let descriptor = FetchDescriptor<TaskItem>(predicate: #Predicate { $0.title.count > 3 })
    #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(descriptor) }
  }

  @Test("A second model with a unique value replaces the values of the row")
  func upsert() throws {
    let context = try makeContext()
    let first = TaskTag("food")
    context.insert(first)
    try context.save()
    let second = TaskTag("food")
    let item = TaskItem(title: "Milk")
    second.items = [item]
    context.insert(second)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<TaskTag>()) == 1)
    let other = ModelContext(context.container)
    #expect(try other.fetch(FetchDescriptor<TaskTag>()).first?.items.map(\.title) == ["Milk"])
  }

  @Test("Deleting by a predicate knows unsaved models and follows delete rules")
  func deleteByPredicate() throws {
    let context = try makeContext()
    let home = TaskList(name: "Home")
    _ = TaskItem(title: "Milk", list: home)
    context.insert(home)
    try context.save()
    context.insert(TaskList(name: "Home"))
    context.insert(TaskList(name: "Work"))
    try context.delete(model: TaskList.self, where: #Predicate { $0.name == "Home" })
    try context.save()
    #expect(try context.fetch(FetchDescriptor<TaskList>()).map(\.name) == ["Work"])
    #expect(try context.fetchCount(FetchDescriptor<TaskItem>()) == 0)
  }

  @Test("An enumeration visits all models in order and refuses changes that escape")
  func enumerate() throws {
    let context = try makeContext()
    for number in 0..<25 { context.insert(TaskItem(title: String(format: "%02d", number))) }
    try context.save()
    var titles: [String] = []
    let descriptor = FetchDescriptor<TaskItem>(sortBy: [SortDescriptor(\.title)])
    try context.enumerate(descriptor, batchSize: 10) { titles.append($0.title) }
    #expect(titles == (0..<25).map { String(format: "%02d", $0) })
    #expect(throws: SwiftDataError.self) {
      try context.enumerate(descriptor, batchSize: 10) { $0.isDone = true }
    }
    context.rollback()
    try context.enumerate(descriptor, batchSize: 10, allowEscapingMutations: true) { $0.isDone = true }
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<TaskItem>(predicate: #Predicate { $0.isDone })) == 25)
  }

  @Test("Batches refuse unsaved changes and read what was saved")
  func batches() throws {
    let context = try makeContext()
    for number in 0..<25 { context.insert(TaskItem(title: String(format: "%02d", number))) }
    let descriptor = FetchDescriptor<TaskItem>(sortBy: [SortDescriptor(\.title)])
    #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
      try context.fetch(descriptor, batchSize: 10)
    }
    try context.save()
    let all = try context.fetch(descriptor, batchSize: 10)
    #expect(all.count == 25 && all[24].title == "24" && all.first?.title == "00")
    #expect(try context.fetchIdentifiers(descriptor).count == 25)
    #expect(try context.fetchIdentifiers(descriptor, batchSize: 10).count == 25)
  }

  @Test("A transaction saves at its end, and a failing one leaves its changes")
  func transaction() throws {
    let context = try makeContext()
    try context.transaction { context.insert(TaskItem(title: "Milk")) }
    #expect(!context.hasChanges)
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try context.transaction {
        context.insert(TaskItem(title: "Bread"))
        throw Failure()
      }
    }
    #expect(context.hasChanges)
  }

  @Test("What one context saves reaches another of the container at its next call")
  func merging() throws {
    let context = try makeContext()
    let item = TaskItem(title: "Milk")
    context.insert(item)
    try context.save()
    let other = ModelContext(context.container)
    let mine = try #require(try other.fetch(FetchDescriptor<TaskItem>()).first)
    mine.title = "Bread"
    try other.save()
    _ = try context.fetch(FetchDescriptor<TaskItem>())
    #expect(item.title == "Bread")
  }

  @Test("Notifications name the saved models by identifier")
  func notifications() throws {
    let context = try makeContext()
    let name = ModelContext.didSave
    let item = TaskItem(title: "Milk")
    context.insert(item)
    nonisolated(unsafe) var found: [PersistentIdentifier] = []
    // Guard: the notification is posted by the save below, on this thread.
    let token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
      found =
        note.userInfo?[ModelContext.NotificationKey.insertedIdentifiers.rawValue] as? [PersistentIdentifier]
        ?? []
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.save()
    #expect(found == [item.persistentModelID])
  }

  @Test("An undo manager takes changes back")
  func undo() throws {
    let context = try makeContext()
    let item = TaskItem(title: "Milk")
    context.insert(item)
    try context.save()
    let manager = UndoManager()
    context.undoManager = manager
    item.title = "Bread"
    context.processPendingChanges()
    manager.undo()
    #expect(item.title == "Milk")
  }

  @Test("A store in a file is read by another container", .onSQLite)
  func file() throws {
    let folder = try TemporaryStore()
    do {
      let container = try ModelContainer(
        for: TaskList.self, configurations: ModelConfiguration(url: folder.url))
      let context = ModelContext(container)
      let item = TaskItem(title: "Milk", list: TaskList(name: "Home"))
      item.priority = .low
      context.insert(item)
      try context.save()
    }
    let container = try ModelContainer(
      for: TaskList.self, configurations: ModelConfiguration(url: folder.url))
    let item = try #require(try ModelContext(container).fetch(FetchDescriptor<TaskItem>()).first)
    #expect(item.title == "Milk" && item.priority == .low && item.list?.name == "Home")
    try container.erase()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<TaskItem>()) == 0)
  }

  @Test("A set keeps its models over the first save")
  func sets() throws {
    let context = try makeContext()
    let (one, two) = (TaskItem(title: "Milk"), TaskItem(title: "Milk"))
    let set: Set = [one, two]
    #expect(set.count == 2 && set.contains(one))
    context.insert(one)
    context.insert(two)
    try context.save()
    #expect(set.contains(one) && set.contains(two))
    let other = try #require(
      ModelContext(context.container).model(for: one.persistentModelID) as? TaskItem)
    #expect(other != one && other.persistentModelID == one.persistentModelID)
  }

  @Test("A deletion follows what another context saved before")
  func deleteMergesFirst() throws {
    let context = try makeContext()
    let (home, work) = (TaskList(name: "Home"), TaskList(name: "Work"))
    let item = TaskItem(title: "Milk", list: home)
    context.insert(home)
    context.insert(work)
    try context.save()
    let other = ModelContext(context.container)
    let moved = try #require(other.model(for: item.persistentModelID) as? TaskItem)
    moved.list = other.model(for: work.persistentModelID) as? TaskList
    try other.save()
    context.delete(home)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<TaskItem>()).map(\.list?.name) == ["Work"])
  }

  @Test("A fetched instance keeps its context, and nothing else does")
  func contextsEnd() throws {
    let container = try ModelContainer.inMemory(TaskItem.self)
    do {
      let context = ModelContext(container)
      context.insert(TaskItem(title: "Milk", list: TaskList(name: "Home")))
      try context.save()
    }
    weak var ended: ModelContext?
    func fetch() throws -> TaskItem? {
      let context = ModelContext(container)
      ended = context
      return try context.fetch(FetchDescriptor<TaskItem>()).first
    }
    var item = try fetch()
    #expect(item?.list?.name == "Home" && item?.list?.items.first === item)
    item?.title = "Bread"
    try item?.modelContext?.save()
    item = nil
    #expect(ended == nil)
  }
}
