import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("Orders that follow a locale")
struct LocalizedSortTests {
  private let titles = [
    "Item 10", "item 9", "Étoile", "etoile", "Zebra", "äpfel", "Apfel", "item 2", "", "Ärger", "zebra",
  ]

  @Test(
    "the store, memory, and a fetch with unsaved objects sort alike",
    arguments: [SortTextCollation.localized, .localizedStandard], [true, false])
  func agreement(_ collation: SortTextCollation, _ ascending: Bool) throws {
    let stack = try Stack()
    let context = stack.context()
    let term = SortTerm(keyPath: ["title"], ascending: ascending, collation: collation)
    let descriptors = [NSSortDescriptor(term), NSSortDescriptor(key: "count", ascending: true)]
    try context.performAndWait {
      for (number, title) in titles.enumerated() {
        let item = Item(context: context)
        item.title = title
        item.count = number
      }
      try context.save()
      let request = NSFetchRequest<Item>(entityName: "Item")
      request.sortDescriptors = descriptors
      let stored = try context.fetch(request)
      #expect(stored.count == titles.count)
      let compare = { (left: String, right: String) in
        collation == .localized ? left.localizedCompare(right) : left.localizedStandardCompare(right)
      }
      for (left, right) in zip(stored, stored.dropFirst()) {
        #expect(compare(left.title, right.title) != (ascending ? .orderedDescending : .orderedAscending))
      }
      let late = Item(context: context)
      late.title = "item 5"
      late.count = 100
      let mixed = try context.fetch(request).map(\.title)
      try context.save()
      #expect(try context.fetch(request).map(\.title) == mixed)
    }
  }
}
