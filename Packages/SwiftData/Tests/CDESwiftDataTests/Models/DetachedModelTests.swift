import CDESwiftData
import Foundation
import Observation
import Synchronization
import Testing

@Suite("Models without a context")
struct DetachedModelTests {
  @Test("A model holds what its initialiser and its defaults set")
  func values() {
    let item = TaskItem(title: "Milk")
    #expect(item.title == "Milk")
    #expect(!item.isDone)
    #expect(item.priority == .medium)
    #expect(item.due == nil && item.list == nil && item.tags.isEmpty)
    #expect(item.modelContext == nil && !item.hasChanges && !item.isDeleted)
    item.title = "Bread"
    item.priority = .high
    item.due = .distantFuture
    #expect(item.title == "Bread" && item.priority == .high && item.due == .distantFuture)
  }

  @Test("Both sides of a relationship agree at once, also for one that an initialiser set")
  func inverses() {
    let list = TaskList(name: "Home")
    let milk = TaskItem(title: "Milk", list: list)
    #expect(list.items.count == 1 && list.items.first === milk)
    let bread = TaskItem(title: "Bread")
    list.items.append(bread)
    #expect(bread.list === list)
    milk.list = nil
    #expect(list.items.map(\.title) == ["Bread"])
    let tag = TaskTag("food")
    bread.tags = [tag]
    #expect(tag.items.first === bread)
  }

  @Test("Transient values stay with the instance that a relationship leads to")
  func transient() {
    let list = TaskList(name: "Home")
    let item = TaskItem(title: "Milk", list: list)
    item.isSelected = true
    #expect(list.items[0].isSelected)
  }

  @Test("A reader of a property wakes for its change alone, and for the other side of a relationship")
  func observation() {
    let list = TaskList(name: "Home")
    let item = TaskItem(title: "Milk")
    let woken = Mutex<[String]>([])
    withObservationTracking {
      _ = item.title
    } onChange: {
      woken.withLock { $0.append("title") }
    }
    withObservationTracking {
      _ = list.items
    } onChange: {
      woken.withLock { $0.append("items") }
    }
    item.isDone = true
    #expect(woken.withLock { $0 } == [])
    item.title = "Bread"
    #expect(woken.withLock { $0 } == ["title"])
    item.list = list
    #expect(woken.withLock { $0 } == ["title", "items"])
  }

  @Test("Values are read and set by key path, too")
  func byKeyPath() {
    let item = TaskItem(title: "Milk")
    item.setValue(forKey: \.title, to: "Bread")
    item.setValue(forKey: \.priority, to: .high)
    item.setValue(forKey: \.list, to: TaskList(name: "Home"))
    #expect(item.title == "Bread" && item.priority == .high && item.list?.items.first === item)
    #expect(item.getValue(forKey: \.title) == "Bread" && item.getValue(forKey: \.due) == nil)
    let list: TaskList? = item.getValue(forKey: \.list)
    #expect(list?.name == "Home" && list?.getValue(forKey: \.items).count == 1)
  }
}

/// A type that is not Codable, and its transformer.
struct Color: Equatable {
  var red: UInt8
  var green: UInt8
}

final class ColorTransformer: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? Color).map { Data([$0.red, $0.green]) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { Color(red: $0[$0.startIndex], green: $0[$0.startIndex + 1]) }
  }
}

@Model
final class Paint {
  @Attribute(.transformable(by: ColorTransformer.self)) var color: Color
  @Attribute(.transformable(by: ColorTransformer.self)) var second: Color?
  init(color: Color) { self.color = color }
}

@Suite("Transformed values")
struct TransformedTests {
  @Test("A value that is not Codable is stored by its transformer")
  func transformer() throws {
    ValueTransformer.setValueTransformer(
      ColorTransformer(), forName: NSValueTransformerName(String(reflecting: ColorTransformer.self)))
    let context = ModelContext(try .inMemory(Paint.self))
    let paint = Paint(color: Color(red: 1, green: 2))
    #expect(paint.color == Color(red: 1, green: 2) && paint.second == nil)
    context.insert(paint)
    try context.save()
    let other = ModelContext(context.container)
    let stored = try #require(try other.fetch(FetchDescriptor<Paint>()).first)
    #expect(stored.color == Color(red: 1, green: 2) && stored.second == nil)
    stored.second = Color(red: 3, green: 4)
    try other.save()
    #expect(
      try ModelContext(context.container).fetch(FetchDescriptor<Paint>()).first?.second
        == Color(red: 3, green: 4))
  }
}
