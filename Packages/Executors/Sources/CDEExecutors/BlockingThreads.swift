import Dispatch
import Synchronization

/// Threads for work that waits, for example for a network. It holds none of the few threads that Swift's tasks share.
///
/// ``shared`` is a task executor: tasks that prefer it run on its threads, and so do their calls of default actors.
///
/// ```swift
/// actor OrderCounter { func count() throws -> Int { 0 } }
/// func report(_ counter: OrderCounter) async throws -> Int {
///   try await withTaskExecutorPreference(BlockingThreads.shared) { try await counter.count() }
/// }
/// ```
///
/// Each job of ``shared`` gets a thread at once, as long as the process has fewer than Dispatch's limit of 255. Costs a few microseconds a
/// job, because a thread has to wake up. An instance with a limit has that many threads at most. Further jobs wait, and a thread that ends
/// a job goes on with the next one. A server that is busy needs no thread to wake up then:
///
/// ```swift
/// let readers = BlockingThreads(limit: 8)
/// func report(_ container: NSPersistentContainer) async throws -> Int {
///   try await Task(executorPreference: readers) {
///     let context = container.newBackgroundContext()
///     return try await context.perform { try context.count(for: Item.fetchRequest()) }
///   }.value
/// }
/// ```
public final class BlockingThreads: TaskExecutor {
  private struct State {
    /// How many threads run jobs.
    var threads = 0
    /// The jobs that wait for a thread.
    var jobs = FIFO<UnownedJob>()
  }

  /// The threads of the process.
  public static let shared = BlockingThreads(threadLimit: nil)
  /// Set on threads that may block for a job that any thread may run. Threads with a limit may be all that the job has.
  private static let key = DispatchSpecificKey<Bool>()

  /// The number of runs that came to one of the threads.
  static let arrivals = Atomic<Int>(0)

  private let limit: Int?
  private let state = Lock(State())

  private init(threadLimit: Int?) { limit = threadLimit }

  /// Makes threads of their own for tasks that prefer this executor. They start when there are jobs, and end without them.
  ///
  /// Keep the executor as long as tasks prefer it. Its jobs start in the order in which they came, whatever their priority. Do not let one
  /// of its jobs block its thread for another job of the same executor: that one may wait for the thread.
  ///
  /// - Parameter limit: how many threads there are at most. Precondition: one at least.
  public convenience init(limit: Int) {
    checkPrecondition(limit > 0, "BlockingThreads(limit: \(limit)) would never run a job. Pass one at least.")
    self.init(threadLimit: limit)
  }

  /// Whether the calling thread is one of ``shared``.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

  /// Starts a task that enters an actor, and leaves and enters it again while the job returns false.
  ///
  /// A thread that leaves an actor runs the actor's next queued job, whichever task executor that job prefers.
  /// A job that blocked such a thread could leave the pool without a thread for the holder.
  static func start(_ job: @escaping @Sendable () async -> Bool) {
    Task.detached(executorPreference: shared, priority: Task.currentPriority) {
      while await !job() {}
    }
  }

  /// Runs a job on one of the threads, at once or when one is free.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard let limit else { return Self.run { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    let getsThread = state.withLock { state in
      guard state.threads < limit else {
        state.jobs.append(job)
        return false
      }
      state.threads += 1
      return true
    }
    if getsThread { Self.newQueue().async { self.runJobs(job) } }
  }

  /// Runs a job, then those that wait, until none does.
  private func runJobs(_ first: UnownedJob) {
    var next: UnownedJob? = first
    while let job = next {
      job.runSynchronously(on: asUnownedTaskExecutor())
      next = state.withLock { state in
        let next = state.jobs.popFirst()
        if next == nil { state.threads -= 1 }
        return next
      }
    }
  }

  /// Runs work on a thread of its own, and returns at once.
  static func run(_ work: @escaping @Sendable () -> Void) {
    let queue = newQueue()
    queue.setSpecific(key: key, value: true)
    queue.async(execute: work)
  }

  /// Dispatch gives a new serial queue a thread beside the pool's, and keeps that thread for the next such queue.
  private static func newQueue() -> DispatchQueue { DispatchQueue(label: "blocking work") }
}
