import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Fetches with a batch size")
struct FetchBatchSizeTests {
  private let stack: Stack
  private let request = Item.fetchRequest()

  init() throws {
    stack = try Stack()
    let context = stack.context()
    for number in 0..<100 {
      let item = Item(context: context)
      item.count = number
      item.title = "\(number)"
    }
    try context.save()
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
    request.fetchBatchSize = 10
  }

  private func loaded(_ items: [Item]) -> [Int] { items.indices.filter { !items[$0].isFault } }

  @Test("Objects come as faults in their order, and the first use of one reads its batch")
  func batches() throws {
    let context = stack.context()
    let items = try context.fetch(request)
    #expect(items.count == 100 && loaded(items).isEmpty)
    #expect(items[25].title == "74")
    #expect(loaded(items) == Array(20..<30))
    #expect(items[99].title == "0")
    #expect(loaded(items) == Array(20..<30) + Array(90..<100))
    #expect(items.map(\.count) == (0..<100).reversed())
  }

  @Test(
    "Changed objects keep their changes, deleted rows stay as they are, and the last results are remembered")
  func changes() throws {
    let context = stack.context()
    var items = try context.fetch(request)
    items[21].title = "changed"
    #expect(loaded(items) == Array(20..<30))
    let other = stack.context()
    for item in try other.fetch(request) where [50, 45].contains(item.count) { other.delete(item) }
    try other.save()
    #expect(items[50].title == "49" && items[49].isFault)
    #expect(loaded(items) == Array(20..<30) + (50..<60).filter { $0 != 54 })
    #expect(items[21].title == "changed")
    context.reset()

    request.predicate = NSPredicate(format: "count < 30")
    items = try context.fetch(request)
    request.predicate = NSPredicate(format: "count >= 30")
    let others = try context.fetch(request)
    #expect(items[0].count == 29 && loaded(items) == Array(0..<10) && loaded(others).isEmpty)
  }

  @Test(
    "A batch size without an effect: a limit that is not greater, objects that are to be no faults, other results"
  )
  func exceptions() throws {
    let context = stack.context()
    request.fetchLimit = 10
    #expect(loaded(try context.fetch(request)).count == 10)
    request.fetchLimit = 0
    request.returnsObjectsAsFaults = false
    #expect(loaded(try context.fetch(request)).count == 100)
    #expect(try context.count(for: request) == 100)
  }
}
