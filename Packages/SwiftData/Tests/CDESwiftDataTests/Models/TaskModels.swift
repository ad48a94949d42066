import CDESwiftData
import Foundation

@Model
final class TaskList {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \TaskItem.list) var items: [TaskItem] = []

  init(name: String) { self.name = name }
}

@Model
final class TaskItem {
  var title: String
  var isDone: Bool = false
  var priority = Priority.medium
  var due: Date?
  var created = Date.now
  var list: TaskList?
  var tags: [TaskTag] = []
  @Transient var isSelected = false

  init(title: String, list: TaskList? = nil) {
    self.title = title
    self.list = list
  }

  enum Priority: Int, Codable, CaseIterable { case low, medium, high }
}

@Model
final class TaskTag {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \TaskItem.tags) var items: [TaskItem]

  init(_ name: String) {
    self.name = name
    items = []
  }
}

extension ModelContainer {
  /// A container in memory, or over the store that the environment asks for.
  static func inMemory(_ types: any PersistentModel.Type...) throws -> ModelContainer {
    if let store = OwnStore.underTest { return try store.container(types) }
    return try ModelContainer(
      for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }
}
