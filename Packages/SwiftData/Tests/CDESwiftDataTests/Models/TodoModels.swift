import CDESwiftData
import Foundation

@Model
final class TodoList {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \TodoItem.list) var items: [TodoItem] = []

  init(name: String) { self.name = name }
}

@Model
final class TodoItem {
  var title: String
  var isDone: Bool = false
  var priority = Priority.medium
  var due: Date?
  var created = Date.now
  var list: TodoList?
  var tags: [TodoTag] = []
  @Transient var isSelected = false

  init(title: String, list: TodoList? = nil) {
    self.title = title
    self.list = list
  }

  enum Priority: Int, Codable, CaseIterable { case low, medium, high }
}

@Model
final class TodoTag {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \TodoItem.tags) var items: [TodoItem]

  init(_ name: String) {
    self.name = name
    items = []
  }
}

extension ModelContainer {
  /// A container in memory.
  static func inMemory(_ types: any PersistentModel.Type...) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }
}
