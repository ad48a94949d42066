import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("Fetches in the background", .ownThreads)
struct AsynchronousFetchTests {
  private func filled(_ count: Int = 10) throws -> Stack {
    let stack = try Stack()
    let context = stack.context()
    for number in 0..<count { Item(context: context).count = number }
    try context.save()
    return stack
  }

  private func request() -> NSFetchRequest<Item> {
    let request = Item.fetchRequest()
    request.predicate = NSPredicate(format: "count > 5")
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
    return request
  }

  /// What a completion block gets, as a value.
  private func outcome<Result, Value: Sendable>(
    of fetch: NSFetchRequest<Result>, in context: NSManagedObjectContext,
    during block: @escaping (NSAsynchronousFetchResult<Result>) -> Void = { _ in },
    _ value: @escaping (NSAsynchronousFetchResult<Result>) -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let request = NSAsynchronousFetchRequest(fetchRequest: fetch) { result in
        continuation.resume(returning: value(result))
      }
      request.estimatedResultCount = 3
      do {
        try context.performAndWait {
          let result = try #require(try context.execute(request) as? NSAsynchronousFetchResult<Result>)
          // The block runs on the context, so it has not run yet.
          #expect(result.finalResult == nil && result.managedObjectContext === context)
          #expect(result.progress?.totalUnitCount == 3 && result.fetchRequest === fetch)
          block(result)
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  @Test(
    "Objects, IDs, counts and dictionaries come to the block, with unsaved changes where a fetch has them")
  func results() async throws {
    let context = try filled().context()
    let objects = try await outcome(of: request(), in: context) { result in
      #expect(result.progress?.completedUnitCount == 4 && result.operationError == nil)
      return (result.finalResult ?? []).map(\.count)
    }
    #expect(objects == [6, 7, 8, 9])
    context.performAndWait { Item(context: context).count = 100 }
    let limited = request()
    limited.fetchLimit = 2
    limited.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
    #expect(try await outcome(of: limited, in: context) { ($0.finalResult ?? []).map(\.count) } == [100, 9])

    let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
    ids.resultType = .managedObjectIDResultType
    #expect(try await outcome(of: ids, in: context) { $0.finalResult?.count } == 11)
    let counting = NSFetchRequest<NSNumber>(entityName: "Item")
    counting.resultType = .countResultType
    #expect(try await outcome(of: counting, in: context) { $0.finalResult } == [11])
    let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Item")
    dictionaries.resultType = .dictionaryResultType
    dictionaries.propertiesToFetch = [computed("most", "max:(count)")]
    #expect(try await outcome(of: dictionaries, in: context) { $0.finalResult?.first?["most"] as? Int } == 9)
    dictionaries.affectedStores = []
    #expect(try await outcome(of: dictionaries, in: context) { $0.finalResult?.count } == 0)
  }

  @Test("A cancelled fetch ends with an error, by the result and by its progress", arguments: [true, false])
  func cancelling(byResult: Bool) async throws {
    let context = try filled().context()
    let (isEmpty, message) = try await outcome(
      of: request(), in: context, during: { byResult ? $0.cancel() : $0.progress?.cancel() }
    ) { ($0.finalResult == nil, $0.operationError.map { "\($0)" } ?? "") }
    #expect(isEmpty && message.contains("cancelled"))
  }

  @Test("A mistake in the request is thrown at once, and execute takes plain fetches")
  func mistakes() throws {
    let context = try filled().context()
    let wrong = Item.fetchRequest()
    wrong.predicate = NSPredicate(format: "nothing == 1")
    #expect(throws: ManagedObjectError.self) {
      try context.execute(NSAsynchronousFetchRequest(fetchRequest: wrong))
    }
    let plain = try context.execute(request()) as? NSAsynchronousFetchResult<Item>
    #expect(plain?.finalResult?.map(\.count) == [6, 7, 8, 9])
    plain?.cancel()
    #expect(plain?.operationError == nil)
  }

  // MARK: Streams

  @MainActor
  @Test("A stream gives the objects in order, in parts, and keeps none of them")
  func streaming() async throws {
    let context = try filled(100).container.viewContext
    let request = Item.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
    request.fetchLimit = 90
    var counts: [Int] = []
    var most = 0
    for try await item in context.stream(request, batchSize: 7) {
      #expect(!item.isFault)
      counts.append(item.count)
      most = max(most, context.registeredObjects.count)
    }
    #expect(counts == (10..<100).reversed())
    #expect(most <= 15, "\(most) objects were registered at once")
    request.predicate = NSPredicate(format: "count < 0")
    for try await _ in context.stream(request) { Issue.record("there is no such object") }
  }

  @MainActor
  @Test("A stream leaves out what was deleted meanwhile, and gives changed objects with their changes")
  func streamAndChanges() async throws {
    let stack = try filled()
    let context = stack.container.viewContext
    let request = Item.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
    let all = try context.fetch(request)
    all[9].title = "changed"
    context.delete(all[8])
    var titles: [String] = []
    for try await item in context.stream(request, batchSize: 2) {
      if item.count == 0 {
        let other = stack.context()
        try other.performAndWait {
          for item in try other.fetch(request) where [3, 4].contains(item.count) { other.delete(item) }
          try other.save()
        }
      }
      titles.append("\(item.count)\(item.title)")
    }
    #expect(titles == ["0", "1", "2", "5", "6", "7", "9changed"])
  }

  @MainActor
  @Test("A stream in a cancelled task, or of an unknown property, ends with an error")
  func streamErrors() async throws {
    let context = try filled(2000).container.viewContext
    let request = Item.fetchRequest()
    for seen in [0, 1, 5] {
      var count = 0
      let task = Task { @MainActor in
        if seen == 0 { withUnsafeCurrentTask { $0?.cancel() } }
        for try await _ in context.stream(request, batchSize: 4) {
          count += 1
          if count == seen { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      // A part that was read is given.
      #expect(count == (seen + 3) / 4 * 4)
    }
    request.predicate = NSPredicate(format: "nothing == 1")
    await #expect(throws: ManagedObjectError.self) {
      for try await _ in context.stream(request) {}
    }
  }
}
