import Foundation
import Observation
import Synchronization
import Testing

@testable import CDESwiftData

@Suite("Arrays of models that change in place")
struct ArrayChangeTests {
  private func makeList(_ count: Int) throws -> (ModelContext, TaskList) {
    let context = ModelContext(try .inMemory(TaskList.self, TaskItem.self, TaskTag.self))
    let list = TaskList(name: "Home")
    context.insert(list)
    list.items = (0..<count).map { TaskItem(title: "\($0)") }
    try context.save()
    return (context, list)
  }

  private func reread(_ list: TaskList, _ context: ModelContext) throws -> [String] {
    let other = ModelContext(context.container)
    return try #require(try other.fetch(FetchDescriptor<TaskList>()).first).items.map(\.title)
  }

  @Test("Appended models join the context, have the other side, and are saved in their order")
  func append() throws {
    let (context, list) = try makeList(3)
    for number in 3..<20 {
      let item = TaskItem(title: "\(number)")
      list.items.append(item)
      #expect(item.list === list && item.modelContext === context)
      #expect(list.items.count == number + 1 && list.items.last === item)
    }
    try context.save()
    #expect(Set(list.items.map(\.title)) == Set((0..<20).map(String.init)))
    #expect(try Set(reread(list, context)) == Set((0..<20).map(String.init)))
  }

  @Test("A deletion wakes the readers of the relationships that its rules change, and no other")
  func deletion() throws {
    let (context, list) = try makeList(3)
    let other = TaskList(name: "Other")
    context.insert(other)
    other.items = [TaskItem(title: "theirs")]
    try context.save()
    func track(_ read: () -> Void) -> WakeCount {
      let count = WakeCount()
      withObservationTracking(read) { count.value.add(1, ordering: .sequentiallyConsistent) }
      return count
    }
    let (items, name, others) = (
      track { _ = list.items.count }, track { _ = list.name }, track { _ = other.items.count }
    )
    context.delete(list.items[1])
    #expect(items.wakes == 1 && list.items.count == 2)
    let again = track { _ = list.items.count }
    try context.save()
    #expect(again.wakes == 0 && list.items.count == 2)
    #expect(name.wakes == 0 && others.wakes == 0)
  }

  @Test("A deletion wakes readers of models that are not saved, or were moved since the save")
  func unsavedDeletion() throws {
    let (context, list) = try makeList(2)
    func track(_ read: () -> Void) -> WakeCount {
      let count = WakeCount()
      withObservationTracking(read) { count.value.add(1, ordering: .sequentiallyConsistent) }
      return count
    }
    let new = TaskItem(title: "new")
    list.items.append(new)
    let first = track { _ = list.items.count }
    context.delete(new)
    #expect(first.wakes == 1 && list.items.count == 2)

    let other = TaskList(name: "Other")
    context.insert(other)
    let moved = list.items[0]
    moved.list = other
    let second = track { _ = other.items.count }
    context.delete(moved)
    #expect(second.wakes == 1 && other.items.isEmpty)

    let tag = TaskTag("red")
    list.items[0].tags = [tag]
    let third = track { _ = list.items[0].tags.count }
    context.delete(tag)
    #expect(third.wakes == 1 && list.items[0].tags.isEmpty)

    // A cascade from a list that was never saved.
    let item = TaskItem(title: "theirs", list: other)
    context.insert(item)
    let fourth = track { _ = item.list }
    context.delete(other)
    #expect(fourth.wakes == 1 && item.list == nil)
  }

  @Test(
    "An array keeps the order in which it was set, before its model is inserted and until it is read again")
  func order() throws {
    let list = TaskList(name: "Loose")
    list.items = ["0", "1", "2"].map { TaskItem(title: $0) }
    list.items.swapAt(0, 2)
    #expect(list.items.map(\.title) == ["2", "1", "0"])
    list.items.insert(TaskItem(title: "9"), at: 0)
    #expect(list.items.map(\.title) == ["9", "2", "1", "0"])
    list.items.remove(at: 1)
    list.items.sort { $0.title < $1.title }
    #expect(list.items.map(\.title) == ["0", "1", "9"])
    let (context, saved) = try makeList(4)
    let titles = saved.items.map(\.title)
    saved.items.reverse()
    #expect(saved.items.map(\.title) == titles.reversed())
    try context.save()
    #expect(try Set(reread(saved, context)) == Set(titles))
  }

  @Test("A model that is appended twice is there once")
  func twice() throws {
    let (context, list) = try makeList(2)
    defer { withExtendedLifetime(context) {} }
    let item = TaskItem(title: "new")
    list.items.append(item)
    list.items.append(item)
    #expect(list.items.count == 3)
    list.items.append(TaskItem(title: "other"))
    #expect(list.items.count == 4 && Set(list.items.map(\.title)).count == 4)
  }

  @Test("Other changes in place take out what they remove, on both sides")
  func others() throws {
    let (context, list) = try makeList(6)
    _ = list.items
    let taken = list.items.popLast()
    let last = try #require(taken)
    #expect(last.list == nil && list.items.count == 5)
    list.items.append(last)
    #expect(last.list === list && list.items.count == 6)
    list.items.removeAll { ["1", "2"].contains($0.title) }
    #expect(list.items.count == 4 && Set(list.items.map(\.title)).isDisjoint(with: ["1", "2"]))
    list.items += [TaskItem(title: "7"), TaskItem(title: "8")]
    list.items[0] = TaskItem(title: "9")
    #expect(list.items.count == 6 && list.items.contains { $0.title == "9" })
    try context.save()
    #expect(try reread(list, context).count == 6)
    list.items.removeAll()
    #expect(list.items.isEmpty)
    try context.save()
    #expect(try reread(list, context).isEmpty)
  }

  @Test("A block that throws leaves the changes that it made")
  func throwing() throws {
    struct Stop: Error {}
    func change(_ items: inout [TaskItem]) throws {
      items.removeFirst()
      throw Stop()
    }
    let (context, list) = try makeList(3)
    defer { withExtendedLifetime(context) {} }
    let first = list.items[0]
    #expect(throws: Stop.self) { try change(&list.items) }
    #expect(list.items.count == 2 && first.list == nil)
  }

  @Test(
    "An array that was read before shows what the other side, a deletion, a rollback and another context changed"
  )
  func currency() throws {
    let (context, list) = try makeList(3)
    for _ in 0..<3 { #expect(list.items.count == 3) }
    let item = TaskItem(title: "new")
    item.list = list
    #expect(list.items.count == 4 && list.items.contains { $0 === item })
    list.items.append(TaskItem(title: "newer"))
    item.list = nil
    #expect(list.items.count == 4)
    context.delete(list.items[0])
    #expect(list.items.count == 3)
    context.rollback()
    for _ in 0..<3 { #expect(Set(list.items.map(\.title)) == ["0", "1", "2"]) }

    let other = ModelContext(context.container)
    let theirs = try #require(try other.fetch(FetchDescriptor<TaskList>()).first)
    theirs.items.append(TaskItem(title: "theirs"))
    try other.save()
    context.processPendingChanges()
    _ = try context.fetch(FetchDescriptor<TaskList>())
    #expect(list.items.count == 4)
    #expect(list.items.allSatisfy { $0.modelContext === context })
  }

  @Test("A reader wakes at an append, and the readers of the other side do")
  func waking() throws {
    let (context, list) = try makeList(3)
    defer { withExtendedLifetime(context) {} }
    list.items.append(TaskItem(title: "first"))
    let item = TaskItem(title: "second")
    let woken = Atomic<Int>(0)
    withObservationTracking {
      _ = list.items
    } onChange: {
      woken.add(1, ordering: .relaxed)
    }
    withObservationTracking {
      _ = item.list
    } onChange: {
      woken.add(10, ordering: .relaxed)
    }
    list.items.append(item)
    #expect(woken.load(ordering: .relaxed) == 11)
    #expect(list.items.contains { $0 === item })
  }

  @Test("Arrays of two relationships that lead back to each other keep neither a context nor its models")
  func letGo() throws {
    weak var context: ModelContext?
    weak var tag: TaskTag?
    let container = try ModelContainer.inMemory(TaskList.self, TaskItem.self, TaskTag.self)
    do {
      let made = ModelContext(container)
      context = made
      let item = TaskItem(title: "Milk")
      made.insert(item)
      item.tags = [TaskTag("food")]
      try made.save()
    }
    do {
      let made = ModelContext(container)
      context = made
      let item = try #require(try made.fetch(FetchDescriptor<TaskItem>()).first)
      tag = item.tags[0]
      // Unsaved changes of a context that is left.
      for _ in 0..<3 {
        #expect(item.tags.count == 1 && item.tags[0].items.count == 1)
        #expect(item.tags[0].items.first === item)
      }
      item.tags[0].items.append(TaskItem(title: "Bread"))
      #expect(item.tags[0].items.count == 2)
      let list = TaskList(name: "Home")
      made.insert(list)
      list.items.append(item)
      list.items.append(TaskItem(title: "Salt"))
      #expect(list.items.count == 2)
    }
    #expect(context == nil && tag == nil)
  }

  @Test("Without a context an array changes in place, too")
  func detached() {
    let list = TaskList(name: "Home")
    for number in 0..<5 { list.items.append(TaskItem(title: "\(number)")) }
    #expect(list.items.map(\.title) == ["0", "1", "2", "3", "4"])
    list.items.swapAt(0, 4)
    list.items.removeLast()
    #expect(list.items.count == 4 && list.items.allSatisfy { $0.list === list })
  }
}

/// How often the readers of one tracking were woken.
private final class WakeCount: Sendable {
  let value = Atomic(0)
  var wakes: Int { value.load(ordering: .sequentiallyConsistent) }
}
