import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs an executor's own jobs: threads that wait for the executor first, else the shared pool.
///
/// A job that only the pool could run would be stuck while all threads of the pool wait for this executor. It
/// lives as long as the executor, because the runtime may hand an actor's next job to the executor of a task
/// that has left the actor already.
final class WaitingThreads: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var sleeping: [ThreadWaiter] = []
    /// Threads on their way into `serve`, which look for a job first thing and need no waking.
    var arriving = 0
    /// Threads inside `serve` that run a job and look for the next one when it ends. The job holds the
    /// executor to its end, so nothing that it puts in line could start any sooner elsewhere.
    var working: [ThreadID] = []
  }

  private let state = Lock(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (expected, waiter) = state.withLock { state -> (Bool, ThreadWaiter?) in
      state.jobs.append(job)
      if state.jobs.count <= state.arriving { return (true, nil) }
      let waiter = state.sleeping.popLast()
      return (waiter == nil && state.working.contains(ThreadID.current), waiter)
    }
    if !expected { wake(waiter) }
  }

  /// Announces that the calling thread is about to call `serve`.
  func arrive() { state.withLock { $0.arriving += 1 } }

  /// Runs jobs on the calling thread until the waiter is told that it is done. After `arrive()`.
  func serve(_ waiter: ThreadWaiter) {
    enum Step {
      case run(UnownedJob)
      case sleep
      case leave(handOver: Bool, to: ThreadWaiter?)
    }
    let thread = ThreadID.current
    var last: Step?
    while true {
      let step: Step = state.withLock { state in
        switch last {
        case nil: state.arriving -= 1
        case .run?:
          if let index = state.working.lastIndex(of: thread) { state.working.remove(at: index) }
        default: break
        }
        if waiter.isDone.load(ordering: .acquiring) {
          // This thread may have been woken for a job that it no longer takes: another one is woken for it.
          return .leave(
            handOver: !state.jobs.isEmpty, to: state.jobs.isEmpty ? nil : state.sleeping.popLast())
        }
        if !state.jobs.isEmpty {
          state.working.append(thread)
          return .run(state.jobs.removeFirst())
        }
        state.sleeping.append(waiter)
        return .sleep
      }
      last = step
      switch step {
      case .run(let job): job.runSynchronously(on: asUnownedTaskExecutor())
      case .sleep: waiter.signal.wait()
      case .leave(let handOver, let next):
        if handOver { wake(next) }
        return
      }
    }
  }

  /// Tells a waiter that what it waited for has happened.
  func finish(_ waiter: ThreadWaiter) {
    let slept = state.withLock { state in
      waiter.isDone.store(true, ordering: .releasing)
      guard let index = state.sleeping.firstIndex(where: { $0 === waiter }) else { return false }
      state.sleeping.remove(at: index)
      return true
    }
    if slept { waiter.signal.signal() }
  }

  private func wake(_ waiter: ThreadWaiter?) {
    if let waiter {
      waiter.signal.signal()
    } else {
      DispatchQueue.global().async { self.runOne() }
    }
  }

  private func runOne() {
    let (job, isLast) = state.withLock { state in
      let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
      return (job, state.jobs.isEmpty)
    }
    // A thread that left with several jobs in line has called for one other only.
    if !isLast { wake(nil) }
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// A thread that waits for an executor, and meanwhile is one of its waitingThreads.
final class ThreadWaiter: Sendable {
  let isDone = Atomic<Bool>(false)
  let signal = DispatchSemaphore(value: 0)
}
