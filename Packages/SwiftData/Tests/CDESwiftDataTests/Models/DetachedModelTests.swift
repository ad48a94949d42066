import CDESwiftData
import Foundation
import Observation
import Synchronization
import Testing

@Suite("Models without a context")
struct DetachedModelTests {
  @Test("A model holds what its initialiser and its defaults set")
  func values() {
    let item = TodoItem(title: "Milk")
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
    let list = TodoList(name: "Home")
    let milk = TodoItem(title: "Milk", list: list)
    #expect(list.items.count == 1 && list.items.first === milk)
    let bread = TodoItem(title: "Bread")
    list.items.append(bread)
    #expect(bread.list === list)
    milk.list = nil
    #expect(list.items.map(\.title) == ["Bread"])
    let tag = TodoTag("food")
    bread.tags = [tag]
    #expect(tag.items.first === bread)
  }

  @Test("Transient values stay with the instance that a relationship leads to")
  func transient() {
    let list = TodoList(name: "Home")
    let item = TodoItem(title: "Milk", list: list)
    item.isSelected = true
    #expect(list.items[0].isSelected)
  }

  @Test("A reader of a property wakes for its change alone, and for the other side of a relationship")
  func observation() {
    let list = TodoList(name: "Home")
    let item = TodoItem(title: "Milk")
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
    let item = TodoItem(title: "Milk")
    item.setValue(forKey: \.title, to: "Bread")
    item.setValue(forKey: \.priority, to: .high)
    item.setValue(forKey: \.list, to: TodoList(name: "Home"))
    #expect(item.title == "Bread" && item.priority == .high && item.list?.items.first === item)
    #expect(item.getValue(forKey: \.title) == "Bread" && item.getValue(forKey: \.due) == nil)
    let list: TodoList? = item.getValue(forKey: \.list)
    #expect(list?.name == "Home" && list?.getValue(forKey: \.items).count == 1)
  }
}
