import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("What a request says about its condition")
struct RequestPrintingTests {
  private let parts = [NSPredicate(format: "title == 'a'"), NSPredicate(format: "count > 1")]

  /// The property that other modules see is deprecated on Linux.
  private func printed(_ predicate: NSPredicate?) -> String? { predicate?.description }

  @Test("Disjunctions and negations that Foundation made print as conditions, and find the same objects")
  func compounds() throws {
    let context = try Stack().context()
    for (title, count) in [("a", 0), ("b", 2), ("b", 0)] {
      let item = Item(context: context)
      (item.title, item.count) = (title, count)
    }
    try context.save()
    let either = NSCompoundPredicate(orPredicateWithSubpredicates: parts)
    let neither = NSCompoundPredicate(notPredicateWithSubpredicate: either)
    let nested = NSCompoundPredicate(orPredicateWithSubpredicates: [neither, parts[0]])
    for (predicate, text, count) in [
      (either, "title == \"a\" OR count > 1", 2), (neither, "NOT (title == \"a\" OR count > 1)", 1),
      (nested, "NOT (title == \"a\" OR count > 1) OR title == \"a\"", 2),
    ] {
      let request = NSFetchRequest<Item>(entityName: "Item")
      request.predicate = predicate
      #expect(printed(request.predicate) == text)
      #expect(request.description.contains("entity: Item; predicate: (\(text));"), "\(request)")
      #expect(request.predicate == predicate)
      #expect(try context.fetch(request).count == count)
      request.havingPredicate = predicate
      #expect(printed(request.havingPredicate) == text)
      let update = NSBatchUpdateRequest(entityName: "Item")
      update.predicate = predicate
      #expect(printed(update.predicate) == text)
      #expect(printed((request.copy() as? NSFetchRequest<Item>)?.predicate) == text)
    }
  }

  @Test("A request without a condition, and one with a block, say that")
  func others() {
    let request = NSFetchRequest<Item>(entityName: "Item")
    #expect(request.description.contains("entity: Item; predicate: ((null));"))
    request.predicate = NSPredicate(block: { _, _ in true })
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
    #expect(
      request.description.contains("predicate: (BLOCKPREDICATE); sortDescriptors: ((title, descending));"))
  }

  @Test("Foundation's own compounds of any depth are printed as their condition")
  func deep() throws {
    let deep = (0..<10_000).reduce(parts[0]) { inner, _ in
      NSCompoundPredicate(notPredicateWithSubpredicate: inner)
    }
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = deep
    // Two of more than 64 negations cancel each other.
    #expect(printed(request.predicate) == String(repeating: "NOT ", count: 64) + "title == \"a\"")
  }
}
