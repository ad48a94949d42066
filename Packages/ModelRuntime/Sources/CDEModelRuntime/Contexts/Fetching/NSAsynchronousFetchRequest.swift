@_spi(CDE) internal import CDEExecutors
public import Foundation

/// A fetch that reads the store in the background and gives its result to a block.
///
/// ```swift
/// let request = NSAsynchronousFetchRequest(fetchRequest: Item.fetchRequest()) { result in
///   show(result.finalResult ?? [])
/// }
/// try context.execute(request)
/// ```
///
/// In code with `async`, ``NSManagedObjectContext/stream(_:batchSize:)`` reads a long result part by part.
nonisolated open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: configured by one owner, afterwards only read.

  /// The fetch. Its ``NSPersistentStoreRequest/affectedStores`` apply if this request names none.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// Called once on the context's isolation, when the result is there, with an error, or after
  /// ``NSPersistentStoreAsynchronousResult/cancel()``.
  public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// The number of results that progress is measured with; 0 if it is not known.
  open var estimatedResultCount = 0

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - request: The fetch.
  ///   - block: Called on the context's isolation at the end.
  public init(
    fetchRequest request: NSFetchRequest<ResultType>,
    completionBlock block: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    fetchRequest = request
    completionBlock = block
    super.init()
  }
}

/// The result of a request that is carried out in the background.
nonisolated open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
  // Guard: `operationError` and the result are used on the context's isolation alone, the rest is immutable or under
  // a lock.

  private struct Cancelling {
    var isCancelled = false
    var cancel: (@Sendable () -> Void)?
  }

  /// The context that carries the request out.
  public let managedObjectContext: NSManagedObjectContext
  /// The progress of the request. Cancelling it cancels the request.
  public let progress: Progress?
  /// The error of the request; nil while it runs, and after its success. For use on the context's isolation.
  public internal(set) var operationError: (any Error)?
  private let cancelling = Lock(Cancelling())

  init(_ context: NSManagedObjectContext, estimatedCount: Int) {
    managedObjectContext = context
    progress = Progress(totalUnitCount: estimatedCount > 0 ? Int64(estimatedCount) : -1)
    super.init()
    progress?.cancellationHandler = { [weak self] in self?.cancel() }
  }

  /// Stops the request. The completion block is called with ``operationError``, unless the request had ended before.
  ///
  /// May be called on any isolation.
  open func cancel() {
    cancelling.withLock { state in
      state.isCancelled = true
      return state.cancel
    }?()
  }

  // A progress calls its handler later, on another thread.
  final var isCancelled: Bool { progress?.isCancelled == true || cancelling.withLock { $0.isCancelled } }

  /// The results of a request that has ended, in any type.
  @_spi(CDE) open var anyFinalResult: [Any]? { nil }

  final func run(_ work: @escaping @Sendable () -> Void) {
    let task = Task.detached(executorPreference: BlockingThreads.shared) { work() }
    let isCancelled = cancelling.withLock { state in
      state.cancel = { task.cancel() }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }
}

/// The result of an ``NSAsynchronousFetchRequest``.
nonisolated public final class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult,
  @unchecked Sendable
{
  // Guard: as inherited.

  /// The fetch.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// The results; nil until the request has ended. For use on the context's isolation.
  public internal(set) var finalResult: [ResultType]?

  init(_ request: NSFetchRequest<ResultType>, _ context: NSManagedObjectContext, estimatedCount: Int = 0) {
    fetchRequest = request
    super.init(context, estimatedCount: estimatedCount)
  }

  @_spi(CDE) public override var anyFinalResult: [Any]? { finalResult }
}
