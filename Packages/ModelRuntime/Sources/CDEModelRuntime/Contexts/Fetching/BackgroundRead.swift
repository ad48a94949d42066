@_spi(CDE) internal import CDEExecutors
internal import CDEStore

/// The reading part of a fetch, as a value that may leave the context's isolation.
struct BackgroundRead: Sendable {
  enum Question: Sendable {
    case rows(StoreQuery)
    case count(StoreQuery)
    case projection(StoreProjection)
    /// The request names other stores than the entity's.
    case nothing
  }

  enum Answer: Sendable {
    case rows(FetchedRows)
    case count(Int)
    case projection(ProjectedRows)
    case nothing
  }

  var question: Question
  let source: any RowSource
  let binding: EntityBinding
  /// The stores that are read; nil for all of the entity.
  let stores: [StoreHandle]?

  /// Whether ``answer()`` must be called on the context's isolation: the answer of a parent context changes its child.
  var needsContext: Bool { source.hasUnsavedRows }

  /// Reads on the calling thread.
  func answer() throws(StoreError) -> Answer {
    switch question {
    case .rows(let query): .rows(try source.fetch(query, of: binding, in: stores, isKnown: nil))
    case .count(let query): .count(try source.count(query, of: binding, in: stores))
    case .projection(let projection): .projection(try source.project(projection, of: binding, in: stores))
    case .nothing: .nothing
    }
  }

  /// Reads the keys of the rows on the calling thread.
  func keys() throws(StoreError) -> KeyList {
    guard case .rows(let query) = question else { return KeyList() }
    return try source.keys(of: query, of: binding, in: stores)
  }

  /// Runs a body on a thread that may wait, and stops it if the calling task is cancelled.
  static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let task = Task.detached(executorPreference: BlockingThreads.shared) {
      // Not every engine can stop a read that has begun.
      if Task.isCancelled { throw StoreError(.cancelled, "The fetch was cancelled. Nothing was read.") }
      return try body()
    }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}
