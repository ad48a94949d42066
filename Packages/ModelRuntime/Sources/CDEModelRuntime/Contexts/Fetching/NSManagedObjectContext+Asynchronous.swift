internal import CDEStore
internal import Foundation

/// A request whose result type is known to the request alone.
protocol ContextRequest {
  func execute(by context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSFetchRequest: ContextRequest {
  /// Fetches at once.
  func execute(by context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult(self, context)
    result.finalResult = try context.fetch(self)
    return result
  }
}

extension NSAsynchronousFetchRequest: ContextRequest {
  func execute(by context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    try context.begin(self)
  }
}

extension NSManagedObjectContext {
  /// Starts a fetch whose rows are read in the background. Mistakes of the request are thrown here.
  func begin<ResultType>(
    _ request: NSAsynchronousFetchRequest<ResultType>
  ) throws -> NSAsynchronousFetchResult<ResultType> {
    let fetch = request.fetchRequest
    var plan = try fetch.plan(in: self)
    plan.stores = request.affectedStores ?? plan.stores
    if fetch.resultType == .managedObjectIDResultType { plan.keysOnly = true }
    let read = try backgroundRead(plan, fetch.resultType)
    let result = NSAsynchronousFetchResult(fetch, self, estimatedCount: request.estimatedResultCount)
    let finish = Carrier { (answer: Result<BackgroundRead.Answer, StoreError>) in
      self.finish(result, plan, answer)
      request.completionBlock?(result)
    }
    result.run {
      if read.needsContext {
        return self.enqueue(Carrier { finish.value(Result { () throws(StoreError) in try read.answer() }) })
      }
      let answer = Result { () throws(StoreError) in try read.answer() }
      self.enqueue(Carrier { finish.value(answer) })
    }
    return result
  }

  func backgroundRead(_ plan: FetchPlan, _ type: NSFetchRequestResultType) throws -> BackgroundRead {
    let source = try source()
    let stores = try handles(for: plan)
    return try plan.answering(source) { _ in
      let question: BackgroundRead.Question =
        if stores?.isEmpty == true {
          .nothing
        } else if plan.dictionaries != nil {
          .projection(try DictionaryRequest(plan).projection)
        } else if type == .countResultType {
          .count(try plan.query())
        } else {
          .rows(try plan.query())
        }
      return BackgroundRead(question: question, source: source, binding: plan.binding, stores: stores)
    }
  }

  /// Makes results of what was read, on the context's isolation.
  private func finish<ResultType>(
    _ result: NSAsynchronousFetchResult<ResultType>, _ plan: FetchPlan,
    _ answer: Result<BackgroundRead.Answer, StoreError>
  ) {
    preconditionIsolated("NSAsynchronousFetchResult")
    do {
      result.finalResult = try reportingNSErrors {
        if result.isCancelled {
          throw ManagedObjectError.store(StoreError(.cancelled, "The fetch was cancelled."))
        }
        let read = try plan.answering(try source()) { _ in try answer.get() }
        return try results(plan, read, result.fetchRequest.resultType)
      }
    } catch {
      result.operationError = error
    }
    guard let progress = result.progress, let count = result.finalResult?.count else { return }
    progress.totalUnitCount = Int64(max(count, 1))
    progress.completedUnitCount = progress.totalUnitCount
  }

  private func results<ResultType>(
    _ plan: FetchPlan, _ read: BackgroundRead.Answer, _ type: NSFetchRequestResultType
  ) throws -> [ResultType] {
    switch read {
    case .nothing: return type == .countResultType ? try cast([NSNumber(value: 0)], plan) : []
    case .count(let count):
      let mixes = plan.includesPending && hasChanges(within: plan)
      return try cast([NSNumber(value: mixes ? try self.count(plan) : count)], plan)
    case .projection(let rows): return try cast(try dictionaries(plan, rows), plan)
    case .rows(let rows):
      let objects = try fetchObjects(plan, rows)
      return type == .managedObjectIDResultType
        ? try cast(objects.map(\.objectID), plan) : try typed(objects, plan)
    }
  }
}
