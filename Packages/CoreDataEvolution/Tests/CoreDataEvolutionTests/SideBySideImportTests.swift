import CoreDataEvolution
import Dispatch
import Foundation
import Observation
import Synchronization
import Testing

@Suite("The umbrella beside Foundation")
struct SideBySideImportTests {
  @Test("Predicates and sort descriptors take Core Data's initialisers, and work on plain values as ever")
  func predicates() throws {
    let both: NSPredicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSPredicate(format: "count >= %d", 2), NSPredicate(format: "title BEGINSWITH[c] %@", "a"),
    ])
    let container = try TestStack().container
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for (number, title) in ["a1", "A2", "a3", "b4"].enumerated() {
        let item = Item(context: context)
        item.title = title
        item.count = number + 1
      }
      try context.save()
      let request: NSFetchRequest<Item> = Item.fetchRequest()
      request.predicate = both
      request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
      #expect(try context.fetch(request).map(\.title) == ["a3", "A2"])
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Item.title, ascending: true)]
      request.predicate = NSPredicate(value: true)
      #expect(try context.fetch(request).first?.title == "A2")
    }
    let ours: Predicate<Int> = #Predicate { $0 > 2 }
    #expect(try ours.evaluate(3))
    #expect(NSPredicate { value, _ in value as? Int == 1 }.evaluate(with: 1))
    let sorted = ["b", "a"].sorted(using: SortDescriptor(\.self, order: SortOrder.forward))
    #expect(sorted == ["a", "b"])
  }

  @Test("Class names are found for Foundation's classes and for managed ones")
  func classNames() {
    #expect(NSStringFromClass(Item.self).hasSuffix("Item"))
    #expect(NSStringFromClass(NSNumber.self).hasSuffix("NSNumber"))
    let any: AnyClass = Tag.self
    #expect(NSStringFromClass(any).hasSuffix("Tag"))
  }

  @Test("Types that Foundation lacks here are ours, the rest is Foundation's own")
  func types() {
    final class Reversing: ValueTransformer {
      override func transformedValue(_ value: Any?) -> Any? {
        (value as? String).map { String($0.reversed()) }
      }
    }
    #expect(Reversing().transformedValue("abc") as? String == "cba")
    #expect(NSValueTransformerName("X").rawValue == "X")
    let types: [Any.Type] = [
      Date.self, Data.self, UUID.self, URL.self, Decimal.self, Notification.self, IndexSet.self, Locale.self,
      NSNumber.self, NSString.self, NSSet.self, NSOrderedSet.self, NSError.self, CocoaError.self,
      DispatchQueue.self, ObservationRegistrar.self, Tag.self, Item.self,
    ]
    #expect(Mutex(1).withLock { $0 } == 1)
    #expect(Set(types.map { ObjectIdentifier($0) }).count == types.count)
  }

  @Test("Testing's own names stay usable beside ours", .tags(.beside))
  func testing() {
    let comment: Comment = "a comment"
    #expect(comment.rawValue == "a comment")
  }
}

extension Testing.Tag {
  @Testing.Tag static var beside: Self
}
