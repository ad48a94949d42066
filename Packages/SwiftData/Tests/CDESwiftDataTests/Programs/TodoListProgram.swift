import CDESwiftData
import Testing

@Model
final class TodoEntry {
  enum Priority: Int, Codable, CaseIterable, Comparable {
    case low = 0
    case normal
    case high

    static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  var title: String
  var notes: String = ""
  var isCompleted: Bool = false
  var createdAt: Date = Date.now
  var dueDate: Date?
  var priority: Priority = Priority.normal

  @Relationship(deleteRule: .cascade, inverse: \Subtask.item)
  var subtasks: [Subtask] = []

  init(title: String, dueDate: Date? = nil, priority: Priority = .normal) {
    self.title = title
    self.dueDate = dueDate
    self.priority = priority
  }

  var progress: Double {
    guard !subtasks.isEmpty else { return isCompleted ? 1 : 0 }
    return Double(subtasks.filter(\.isDone).count) / Double(subtasks.count)
  }

  func toggle() {
    isCompleted.toggle()
    for subtask in subtasks { subtask.isDone = isCompleted }
  }
}

@Model
final class Subtask {
  var text: String
  var isDone = false
  var item: TodoEntry?

  init(_ text: String) { self.text = text }
}

extension TodoEntry {
  static func open(before date: Date) -> Predicate<TodoEntry> {
    #Predicate<TodoEntry> { item in
      if let due = item.dueDate {
        return !item.isCompleted && due < date
      } else {
        return false
      }
    }
  }
}

@MainActor
@Suite("A to-do list")
struct TodoListProgram {
  let container: ModelContainer
  var context: ModelContext { container.mainContext }

  init() throws {
    container = try ModelContainer(
      for: TodoEntry.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test("Items are added, sorted, searched and completed with their subtasks")
  func list() throws {
    let groceries = TodoEntry(
      title: "Buy groceries", dueDate: Date(timeIntervalSince1970: 1_000), priority: .high)
    context.insert(groceries)
    context.insert(TodoEntry(title: "Call mum", dueDate: Date(timeIntervalSince1970: 9_000)))
    context.insert(TodoEntry(title: "Read a book", priority: .low))
    groceries.subtasks.append(Subtask("Milk"))
    groceries.subtasks.append(Subtask("Bread"))
    groceries.subtasks[0].isDone = true
    #expect(groceries.progress == 0.5)
    #expect(groceries.subtasks[1].item === groceries)
    try context.save()

    var descriptor = FetchDescriptor<TodoEntry>(sortBy: [SortDescriptor(\.title, order: .reverse)])
    #expect(try context.fetch(descriptor).map(\.title) == ["Read a book", "Call mum", "Buy groceries"])
    descriptor.predicate = TodoEntry.open(before: Date(timeIntervalSince1970: 5_000))
    #expect(try context.fetch(descriptor).map(\.title) == ["Buy groceries"])
    let word = "BOOK"
    descriptor.predicate = #Predicate { $0.title.localizedStandardContains(word) }
    #expect(try context.fetch(descriptor).map(\.title) == ["Read a book"])

    groceries.toggle()
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Subtask>(predicate: #Predicate { $0.isDone })) == 2)
    descriptor.predicate = #Predicate { $0.subtasks.contains { $0.text == "Milk" } }
    #expect(try context.fetch(descriptor).first === groceries)
  }

  @Test("Deleting an item deletes its subtasks")
  func deletion() throws {
    let item = TodoEntry(title: "Pack")
    item.subtasks = [Subtask("Socks"), Subtask("Shirts")]
    context.insert(item)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Subtask>()) == 2)
    context.delete(item)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<TodoEntry>()) == 0)
    #expect(try context.fetchCount(FetchDescriptor<Subtask>()) == 0)
  }

  @Test("Items are ordered by priority, then by date")
  func priorities() throws {
    for (index, priority) in TodoEntry.Priority.allCases.enumerated() {
      context.insert(TodoEntry(title: "\(index)", priority: priority))
    }
    let items = try context.fetch(FetchDescriptor<TodoEntry>()).sorted { $0.priority > $1.priority }
    #expect(items.map(\.title) == ["2", "1", "0"])
  }
}
