import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@PersistentModel
private final class Stock: NSManagedObject {
  @Attribute(.unique) var code: String?
  var name: String = "unnamed"
  var amount: Int = 0
  var note: String?
}

@PersistentModel
private final class Ticket: NSManagedObject {
  @Attribute(.unique) var code: String?
  @Attribute(.unique) var seat: String?
  var name: String = ""
}

// Source: the documentation of NSBatchInsertRequest and "Making Apps with Core Data" (WWDC 2019): with unique values and the
// policy NSMergeByPropertyObjectTrump the request updates rows that exist. What the other policies do is assumed from what
// they do with objects.
@Suite("Batch insertions with unique values that other rows have")
struct BatchUpsertTests {
  private struct Row: Equatable {
    var name = "unnamed"
    var amount = 0
    var note: String?
  }

  private func rows(_ stack: Stack) throws -> [String: Row] {
    Dictionary(
      uniqueKeysWithValues: try stack.context().fetch(Stock.fetchRequest()).map {
        ($0.code ?? "-", Row(name: $0.name, amount: $0.amount, note: $0.note))
      })
  }

  private func filled() throws -> (Stack, NSManagedObjectContext) {
    let stack = try Stack([Stock.self])
    let writer = stack.context()
    let stock = Stock(context: writer)
    (stock.code, stock.name, stock.amount, stock.note) = ("a", "old", 1, "kept")
    try writer.save()
    return (stack, stack.context())
  }

  private static var objects: [[String: Any]] {
    [
      ["code": "a", "name": "new", "amount": 2], ["code": "b", "name": "first"], ["code": "b", "amount": 5],
      ["code": "c"],
    ]
  }

  @Test("Without a policy, and with the error policy, the whole request fails and nothing is written")
  func refusal() throws {
    let (stack, context) = try filled()
    let error = try #require(throws: ManagedObjectError.self) {
      try context.execute(NSBatchInsertRequest(entityName: "Stock", objects: Self.objects))
    }
    #expect(error.code == .uniquenessConflict)
    #expect(try rows(stack) == ["a": Row(name: "old", amount: 1, note: "kept")])
  }

  @Test("A policy decides which values a row with the unique value has", arguments: NSMergePolicy.settling)
  func policies(type: NSMergePolicyType) throws {
    let (stack, context) = try filled()
    context.mergePolicy = NSMergePolicy(merge: type)
    try context.execute(NSBatchInsertRequest(entityName: "Stock", objects: Self.objects))
    let expected: [String: Row] =
      switch type {
      case .mergeByPropertyObjectTrumpMergePolicyType:
        ["a": Row(name: "new", amount: 2, note: "kept"), "b": Row(name: "first", amount: 5), "c": Row()]
      case .overwriteMergePolicyType:
        ["a": Row(name: "new", amount: 2), "b": Row(amount: 5), "c": Row()]
      default:
        ["a": Row(name: "old", amount: 1, note: "kept"), "b": Row(name: "first"), "c": Row()]
      }
    #expect(try rows(stack) == expected)
  }

  @Test("The result names the inserted and the updated rows, and their IDs bring the values into a context")
  func result() throws {
    let (stack, context) = try filled()
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    let known = try #require(try context.fetch(Stock.fetchRequest()).first)
    let request = NSBatchInsertRequest(entityName: "Stock", objects: Self.objects)
    request.resultType = .count
    #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 3)
    request.resultType = .objectIDs
    let ids = try #require(
      (try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
    #expect(Set(ids) == Set(try stack.context().fetch(Stock.fetchRequest()).map(\.objectID)))
    #expect(ids.count == 3 && ids.contains(known.objectID))
    #expect(known.name == "old")
    merge(NSInsertedObjectsKey, ids, into: context)
    context.performAndWait { #expect(known.name == "new" && known.amount == 2 && known.note == "kept") }
  }

  @Test("Equal values raise no version, so a save based on the row is no conflict")
  func equal() throws {
    let (stack, context) = try filled()
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    let other = stack.context()
    let known = try #require(try other.fetch(Stock.fetchRequest()).first)
    #expect(known.name == "old")
    try context.execute(NSBatchInsertRequest(entityName: "Stock", objects: [["code": "a", "name": "old"]]))
    known.amount = 7
    try other.save()
    try context.execute(NSBatchInsertRequest(entityName: "Stock", objects: [["code": "a", "name": "x"]]))
    known.amount = 8
    #expect(throws: ManagedObjectError.self) { try other.save() }
  }

  @Test("An object handler changes the properties that it sets")
  func handler() throws {
    let (stack, context) = try filled()
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    var left = ["a", "b"]
    let request = NSBatchInsertRequest(
      entityName: "Stock",
      managedObjectHandler: { object in
        guard let code = left.popLast(), let stock = object as? Stock else { return true }
        (stock.code, stock.amount) = (code, 9)
        return false
      })
    try context.execute(request)
    #expect(
      try rows(stack) == ["a": Row(name: "old", amount: 9, note: "kept"), "b": Row(amount: 9)])
  }

  @Test("Two unique values may lead to one row, and to a row each only if the policy keeps the store's")
  func twoConstraints() throws {
    let stack = try Stack([Ticket.self])
    let context = stack.context()
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    func insert(_ code: String, _ seat: String, _ name: String) throws {
      try context.execute(
        NSBatchInsertRequest(
          entityName: "Ticket", objects: [["code": code, "seat": seat, "name": name]]))
    }
    func names() throws -> [String] {
      let request = Ticket.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
      return try stack.context().fetch(request).map { "\($0.code ?? "-")\($0.seat ?? "-") \($0.name)" }
    }
    try insert("a", "1", "first")
    try insert("b", "2", "second")
    try insert("a", "1", "both")
    #expect(try names() == ["a1 both", "b2 second"])
    try insert("a", "3", "moved")
    #expect(try names() == ["a3 moved", "b2 second"])
    let error = try #require(throws: ManagedObjectError.self) { try insert("a", "2", "between") }
    #expect(error.code == .uniquenessConflict)
    #expect(try names() == ["a3 moved", "b2 second"])
    context.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
    try insert("a", "2", "between")
    #expect(try names() == ["a3 moved", "b2 second"])
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    try context.execute(
      NSBatchInsertRequest(
        entityName: "Ticket",
        objects: [
          ["code": "x", "seat": "7", "name": "new"], ["code": "x", "seat": "7", "name": "same"],
          ["code": "y", "seat": "8", "name": "other"],
        ]))
    #expect(try names() == ["a3 moved", "b2 second", "x7 same", "y8 other"])
  }

  @Test(
    "Random insertions leave what inserting one after the other leaves", arguments: NSMergePolicy.settling)
  func random(type: NSMergePolicyType) throws {
    let seed = ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    var generator = SplitMix(state: seed)
    let stack = try Stack([Stock.self])
    let context = stack.context()
    context.mergePolicy = NSMergePolicy(merge: type)
    var expected: [String: Row] = [:]
    for _ in 0..<30 {
      var objects: [[String: Any]] = []
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        let code = "c\(Int.random(in: 0..<12, using: &generator))"
        var values: [String: Any] = ["code": code]
        var given = Row()
        if Bool.random(using: &generator) {
          given.name = "n\(Int.random(in: 0..<9, using: &generator))"
          values["name"] = given.name
        }
        if Bool.random(using: &generator) {
          given.amount = Int.random(in: 0..<9, using: &generator)
          values["amount"] = given.amount
        }
        if Bool.random(using: &generator) {
          given.note = "m\(Int.random(in: 0..<9, using: &generator))"
          values["note"] = given.note
        }
        objects.append(values)
        guard let known = expected[code], type != .overwriteMergePolicyType else {
          expected[code] = given
          continue
        }
        guard type == .mergeByPropertyObjectTrumpMergePolicyType else { continue }
        expected[code] = Row(
          name: values["name"] == nil ? known.name : given.name,
          amount: values["amount"] == nil ? known.amount : given.amount, note: given.note ?? known.note)
      }
      try context.execute(NSBatchInsertRequest(entityName: "Stock", objects: objects))
      #expect(try rows(stack) == expected, "seed \(seed)")
    }
  }
}
