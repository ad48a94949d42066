import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The task executor of an executor's own jobs. Threads that wait for the executor run them; without such a thread the
/// shared pool does.
///
/// A job that only the pool could run would never start while all threads of the pool wait for this executor.
/// The task executor lives as long as the executor: the runtime may pass an actor's next job to the task executor of a
/// task that has left the actor already.
final class WaitingThreads: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var sleeping: [WaitingThread] = []
    /// How many threads announced that they will call `runJobs(until:)`. They look for jobs first and need no signal.
    var announced = 0
    /// Threads that run a job inside `runJobs(until:)`, and look for the next one when it ends. The job occupies the
    /// executor until it ends, so a job that it enqueues could not start earlier on another thread.
    var working: [ThreadID] = []
  }

  private let state = Lock(State())
  /// Whether jobs that no thread waits for run on ``BlockingThreads`` instead of the shared pool.
  let blocks = Atomic<Bool>(false)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (expected, thread) = state.withLock { state -> (Bool, WaitingThread?) in
      state.jobs.append(job)
      if state.jobs.count <= state.announced { return (true, nil) }
      let thread = state.sleeping.popLast()
      return (thread == nil && state.working.contains(ThreadID.current), thread)
    }
    if !expected { wake(thread) }
  }

  /// Announces that the calling thread is about to call `runJobs(until:)`.
  func announce() { state.withLock { $0.announced += 1 } }

  /// Runs jobs on the calling thread until its wait is finished. Precondition: the thread has called `announce()`.
  func runJobs(until thread: WaitingThread, _ run: (UnownedJob) -> Void) {
    enum Step {
      case run(UnownedJob)
      case sleep
      case leave(handOver: Bool, to: WaitingThread?)
    }
    let threadID = ThreadID.current
    var last: Step?
    while true {
      let step: Step = state.withLock { state in
        switch last {
        case nil: state.announced -= 1
        case .run?:
          if let index = state.working.lastIndex(of: threadID) { state.working.remove(at: index) }
        default: break
        }
        if thread.isDone.load(ordering: .acquiring) {
          // This thread may have been woken for a job that it no longer runs: another thread is woken instead.
          return .leave(
            handOver: !state.jobs.isEmpty, to: state.jobs.isEmpty ? nil : state.sleeping.popLast())
        }
        if !state.jobs.isEmpty {
          state.working.append(threadID)
          return .run(state.jobs.removeFirst())
        }
        state.sleeping.append(thread)
        return .sleep
      }
      last = step
      switch step {
      case .run(let job): run(job)
      case .sleep: thread.signal.wait()
      case .leave(let handOver, let next):
        if handOver { wake(next) }
        return
      }
    }
  }

  /// Finishes the wait of a thread.
  func finish(_ thread: WaitingThread) {
    let slept = state.withLock { state in
      thread.isDone.store(true, ordering: .releasing)
      guard let index = state.sleeping.firstIndex(where: { $0 === thread }) else { return false }
      state.sleeping.remove(at: index)
      return true
    }
    if slept { thread.signal.signal() }
  }

  private func wake(_ thread: WaitingThread?) {
    if let thread {
      thread.signal.signal()
    } else if blocks.load(ordering: .relaxed) {
      BlockingThreads.run { self.runOne() }
    } else {
      DispatchQueue.global().async { self.runOne() }
    }
  }

  private func runOne() {
    let (job, isLast) = state.withLock { state in
      let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
      return (job, state.jobs.isEmpty)
    }
    // A thread that leaves while several jobs are queued wakes one other thread only.
    if !isLast { wake(nil) }
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// A thread that waits for an executor and runs the executor's jobs meanwhile.
final class WaitingThread: Sendable {
  let isDone = Atomic<Bool>(false)
  let signal = DispatchSemaphore(value: 0)
}
