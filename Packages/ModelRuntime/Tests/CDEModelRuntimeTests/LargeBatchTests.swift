import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

@PersistentModel
private final class Entry: NSManagedObject {
  @Attribute(.unique) var code: String?
  var number: Int = 0
  var text: String = ""
}

/// Batch insertions of more rows than stay in memory, which is the case from 16 MB on.
@Suite("Batch insertions with many rows")
struct LargeBatchTests {
  private let stack: Stack
  private static let text = String(repeating: "long text, ", count: 1_000)
  /// 22 MB.
  private static let count = 2_000

  init() throws { stack = try Stack([Entry.self]) }

  /// - Parameter body: called with the number of each row before it is made.
  private func request(
    count: Int = Self.count, text: String = Self.text, _ body: @escaping (Int) -> Void = { _ in }
  ) -> NSBatchInsertRequest {
    var next = 0
    let request = NSBatchInsertRequest(entityName: "Entry") { (values: NSMutableDictionary) in
      if next == count { return true }
      body(next)
      values["code"] = "c\(next)"
      values["number"] = next
      values["text"] = text
      next += 1
      return false
    }
    request.resultType = .objectIDs
    return request
  }

  private func execute(
    _ request: NSBatchInsertRequest, in context: NSManagedObjectContext? = nil
  ) throws -> [NSManagedObjectID] {
    let result = try (context ?? stack.context()).execute(request) as? NSBatchInsertResult
    return try #require(result?.result as? [NSManagedObjectID])
  }

  private func entries() throws -> [Entry] {
    let request = Entry.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    return try stack.context().fetch(request)
  }

  @Test("All rows arrive, and their IDs are in the rows' order")
  func rows() throws {
    let ids = try execute(request())
    #expect(ids.count == Self.count)
    let found = try entries()
    #expect(found.map(\.number) == Array(0..<Self.count))
    #expect(found.allSatisfy { $0.text == Self.text && $0.code == "c\($0.number)" })
    #expect(found.map(\.objectID) == ids)
  }

  @Test("A handler may save objects in another context, because the store is not locked meanwhile")
  func savingHandler() throws {
    let other = stack.context()
    let error = Failure()
    let ids = try execute(
      request { [stack] number in
        guard number % 500 == 0 else { return }
        error.note {
          let entry = Entry(context: other)
          (entry.code, entry.number) = ("other\(number)", -1 - number)
          try other.save()
          _ = try stack.context().count(for: Entry.fetchRequest())
        }
      })
    #expect(error.first == nil && ids.count == Self.count)
    #expect(try entries().count == Self.count + 4)
  }

  /// Notes the first error of closures.
  private final class Failure {
    var first: (any Error)?
    func note(_ body: () throws -> Void) { do { try body() } catch { first = first ?? error } }
  }

  @Test("With a merge policy, rows with unique values that others have update these")
  func upsert() throws {
    let writer = stack.context()
    for number in [7, 1_900] {
      let entry = Entry(context: writer)
      (entry.code, entry.number) = ("c\(number)", number + 10_000)
    }
    try writer.save()
    let context = stack.context()
    let refused = #expect(throws: ManagedObjectError.self) { try context.execute(request()) }
    #expect(refused?.code == .uniquenessConflict)
    #expect(try entries().count == 2)
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    #expect(try execute(request(), in: context).count == Self.count)
    let found = try entries()
    #expect(found.map(\.number) == Array(0..<Self.count))
    #expect(found.allSatisfy { $0.text == Self.text })
  }

  @Test("A bad row after many good ones fails the whole request")
  func badRow() throws {
    let good = request()
    let handler = try #require(good.dictionaryHandler)
    let bad = NSBatchInsertRequest(entityName: "Entry") { (values: NSMutableDictionary) in
      let isEnd = handler(values)
      if values["number"] as? Int == Self.count - 1 { values["number"] = "many" }
      return isEnd
    }
    let error = #expect(throws: ManagedObjectError.self) { try stack.context().execute(bad) }
    #expect(error?.code == .invalidValue && error?.property == "number")
    #expect(try entries().isEmpty)
  }

  @Test("A task that is cancelled ends the request, and nothing is saved", arguments: [600, Self.count])
  func cancelledTask(count: Int) async throws {
    let context = stack.context()
    let task = Task {
      try await context.perform {
        try execute(
          request(count: count, text: count < 1_000 ? "" : Self.text) { number in
            if number == 10 { withUnsafeCurrentTask { $0?.cancel() } }
          }
        ).count
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try entries().isEmpty)
  }

  @Test("Few rows are not cancelled")
  func cancelledTaskOfFewRows() async throws {
    let context = stack.context()
    let task = Task {
      try await context.perform {
        withUnsafeCurrentTask { $0?.cancel() }
        return try execute(request(count: 100, text: "")).count
      }
    }
    #expect(try await task.value == 100)
  }

  @Test("The current progress counts the rows that are written, and cancels")
  func progress() throws {
    let whole = Progress(totalUnitCount: 10)
    whole.becomeCurrent(withPendingUnitCount: 10)
    _ = try execute(request())
    whole.resignCurrent()
    #expect(whole.fractionCompleted == 1)

    let ended = Progress(totalUnitCount: 10)
    ended.becomeCurrent(withPendingUnitCount: 10)
    let error = #expect(throws: ManagedObjectError.self) {
      try execute(request { if $0 == 1_000 { ended.cancel() } })
    }
    ended.resignCurrent()
    #expect((error?.cause as? StoreError)?.code == .cancelled && ended.fractionCompleted == 0)
    #expect(try entries().count == Self.count)
  }
}
