import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Batches of new objects that are in each other's way and in that of stored rows, over several constraints.
@Suite("Unique values, randomised")
struct UniquenessRandomisedTests {
  private static let keys = ["name", "code", "shelf", "place", "note"]

  private static func model() -> NSManagedObjectModel {
    let book = entity(
      "Book", nil, keys.map { attribute($0, .stringAttributeType, default: $0 == "note" ? "none" : nil) })
    book.uniquenessConstraints = [["name"], ["code"], ["shelf"]]
    return CDEModelRuntimeTests.model(book)
  }

  /// The rows of a store, as texts.
  private static func rows(_ stack: Stack) throws -> [String] {
    try stack.context().all("Book").map { book in
      keys.map { book.value(forKey: $0) as? String ?? "-" }.joined(separator: " ")
    }.sorted()
  }

  /// A context with a policy, which may know the rows.
  private static func context(_ stack: Stack, _ type: NSMergePolicyType, knows: Bool) throws
    -> NSManagedObjectContext
  {
    let context = stack.context()
    context.mergePolicy = NSMergePolicy(merge: type)
    if knows { for book in try context.all("Book") { _ = book.value(forKey: "name") } }
    return context
  }

  @Test(
    "A save of many leaves what saves of each leave, one after the other", arguments: NSMergePolicy.settling,
    0..<2)
  func together(_ type: NSMergePolicyType, _ run: Int) throws {
    let seed =
      ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0...1 << 40)
    print("Unique values, policy \(type.rawValue), seed \(seed)")
    var random = SeededGenerator(seed: seed)
    func values() -> [String: String] {
      var values: [String: String] = [:]
      for key in Self.keys where Int.random(in: 0..<4, using: &random) > 0 {
        values[key] = "\(key.first!)\(Int.random(in: 0..<5, using: &random))"
      }
      return values
    }
    let model = Self.model()
    var replaced = 0
    for round in 0..<25 {
      let (one, many) = (try Stack(model: model), try Stack(model: model))
      for batch in 0..<4 {
        let before = try Self.rows(one)
        let knows = Bool.random(using: &random)
        let objects = (0..<Int.random(in: 1...4, using: &random)).map { _ in values() }
        let together = try Self.context(one, type, knows: knows)
        let made = objects.map { together.make("Book", $0) }
        try together.save()
        for object in objects {
          let alone = try Self.context(many, type, knows: knows)
          alone.make("Book", object)
          try alone.save()
        }
        let (found, wanted) = try (Self.rows(one), Self.rows(many))
        #expect(found == wanted, "seed \(seed), round \(round), batch \(batch): \(before) and \(objects)")
        guard found == wanted else { return }
        let known = try together.all("Book").map { book in
          Self.keys.map { book.value(forKey: $0) as? String ?? "-" }.joined(separator: " ")
        }
        #expect(known.sorted() == found, "seed \(seed), round \(round), batch \(batch)")
        replaced += before.count + made.count - found.count
      }
    }
    #expect(replaced > 50)
  }
}
