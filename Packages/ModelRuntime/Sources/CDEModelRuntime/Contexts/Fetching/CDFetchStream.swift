internal import CDEStore

extension NSManagedObjectContext {
  /// The objects of a fetch one after the other, read in the background in parts.
  ///
  /// ```swift
  /// for try await item in modelContext.stream(request, batchSize: 500) {
  ///   total += item.count
  /// }
  /// ```
  ///
  /// The first step reads the keys of all objects in their order, which take eight bytes each, and less where they follow each other.
  /// Each part then reads the values of so many objects. Objects that the loop does not keep are freed.
  ///
  /// The result is that of the store at the first step: objects that the context has inserted are not in it, changed
  /// ones come with their changes, and objects that were deleted meanwhile are left out. Cancelling the task ends
  /// the loop with `CancellationError`.
  ///
  /// - Parameters:
  ///   - request: The fetch. Its result is objects.
  ///   - batchSize: The number of objects that are read at once, at least one.
  /// - Returns: a sequence for a loop on the context's isolation, such as in a model actor.
  public func stream<Object: NSManagedObject>(
    _ request: NSFetchRequest<Object>, batchSize: Int = 100
  ) -> CDFetchStream<Object> {
    CDFetchStream(context: self, request: request, batchSize: max(batchSize, 1))
  }

  fileprivate func keyReading(_ plan: FetchPlan) throws -> BackgroundRead {
    preconditionIsolated("stream(_:batchSize:)")
    return try backgroundRead(plan, .managedObjectIDResultType)
  }

  fileprivate func objects(_ rows: FetchedRows, for keys: [Int64]) -> [NSManagedObject] {
    preconditionIsolated("stream(_:batchSize:)")
    var found: [Int64: NSManagedObject] = [:]
    for object in adopt(rows) where !object.isMarkedDeleted { found[object._key] = object }
    return keys.compactMap { found[$0] }
  }
}

/// The objects of a fetch, read part by part. See ``NSManagedObjectContext/stream(_:batchSize:)``.
public struct CDFetchStream<Object: NSManagedObject>: AsyncSequence {
  fileprivate let context: NSManagedObjectContext
  fileprivate let request: NSFetchRequest<Object>
  fileprivate let batchSize: Int

  /// Starts at the first object.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// The position in a stream.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let stream: CDFetchStream
    private var plan: FetchPlan?
    private var keys = KeyList()
    private var objects: ArraySlice<NSManagedObject> = []

    fileprivate init(stream: CDFetchStream) { self.stream = stream }

    /// The next object; nil at the end.
    ///
    /// - Parameter actor: the isolation of the loop, which is the context's.
    /// - Throws: ``ManagedObjectError``: what a fetch throws. `CancellationError` at the next part if the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Object? {
      let context = stream.context
      if plan == nil {
        var plan = try stream.request.plan(in: context)
        plan.keysOnly = true
        self.plan = plan
        keys = try await Self.reading(plan, try context.keyReading(plan)) { try $0.keys() }
      }
      while objects.isEmpty, keys.count > 0, let plan {
        let part = keys.takeFirst(stream.batchSize)
        var read = try context.keyReading(plan)
        guard case .rows(var query) = read.question else { return nil }
        query.filter = .keys(part)
        query.sort = []
        query.limit = nil
        query.offset = 0
        query.keysOnly = false
        read.question = .rows(query)
        guard case .rows(let rows) = try await Self.reading(plan, read, { try $0.answer() }) else {
          return nil
        }
        objects = context.objects(rows, for: part)[...]
      }
      guard let next = objects.popFirst() else { return nil }
      guard let object = next as? Object else {
        throw ManagedObjectError(
          .unsupportedRequest,
          "A fetch of \(next._binding.name) yields \(Swift.type(of: next)), not \(Object.self). Correct the request's "
            + "type or the entity's managedObjectClassName.", entity: next._binding.name)
      }
      return object
    }

    /// The next object; nil at the end. A loop calls the other form, with its isolation.
    public mutating func next() async throws -> Object? { try await next(isolation: #isolation) }

    private static func reading<Answer: Sendable>(
      _ plan: FetchPlan, _ read: BackgroundRead,
      _ body: @escaping @Sendable (BackgroundRead) throws -> Answer,
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Answer {
      try Task.checkCancellation()
      let answer: Result<Answer, any Error>
      do {
        answer = .success(
          read.needsContext ? try body(read) : try await BackgroundRead.run { try body(read) })
      } catch {
        answer = .failure(cancellation(in: error) ?? error)
      }
      return try reportingNSErrors { try plan.answering(read.source) { _ in try answer.get() } }
    }
  }
}
