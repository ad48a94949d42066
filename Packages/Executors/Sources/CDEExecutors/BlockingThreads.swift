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
/// Each job gets a thread at once, as long as the process has fewer than Dispatch's limit of 255. Costs a few microseconds a job.
public final class BlockingThreads: TaskExecutor {
  /// The threads of the process.
  public static let shared = BlockingThreads()
  private static let key = DispatchSpecificKey<Bool>()

  /// The number of runs that came to one of the threads.
  static let arrivals = Atomic<Int>(0)

  private init() {}

  /// Whether the calling thread is one of these.
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

  /// Runs a job on a thread of its own.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Self.run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Runs work on a thread of its own, and returns at once.
  static func run(_ work: @escaping @Sendable () -> Void) {
    // Dispatch gives a new serial queue a thread beside the pool's, and keeps that thread for the next such queue.
    let queue = DispatchQueue(label: "blocking work")
    queue.setSpecific(key: key, value: true)
    queue.async(execute: work)
  }
}
