import Dispatch
import Synchronization

/// Runs a lane's own jobs: threads that wait for the lane first, else the shared pool.
///
/// A job that only the pool could run would be stuck while all threads of the pool wait for this lane.
final class LaneCrew: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var waiting: [LaneWaiter] = []
  }

  private let state = Mutex(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let waiter = state.withLock { state in
      state.jobs.append(job)
      return state.waiting.last
    }
    wake(waiter)
  }

  func join(_ waiter: LaneWaiter) {
    state.withLock { $0.waiting.append(waiter) }
  }

  func leave(_ waiter: LaneWaiter) {
    let (orphaned, next) = state.withLock { state in
      state.waiting.removeAll { $0 === waiter }
      return (!state.jobs.isEmpty, state.waiting.last)
    }
    if orphaned { wake(next) }
  }

  /// Runs one job on the calling thread; false if there is none.
  @discardableResult
  func runOne() -> Bool {
    let job = state.withLock { state in state.jobs.isEmpty ? nil : state.jobs.removeFirst() }
    guard let job else { return false }
    job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }

  private func wake(_ waiter: LaneWaiter?) {
    if let waiter {
      waiter.wake()
    } else {
      DispatchQueue.global().async { self.runOne() }
    }
  }
}

/// A thread that waits for a lane, and meanwhile runs the jobs that bring it its turn.
final class LaneWaiter: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var isDone = false
  }

  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.jobs.append(job) }
    signal.signal()
  }

  func wake() { signal.signal() }

  func finish() {
    state.withLock { $0.isDone = true }
    signal.signal()
  }

  /// Runs jobs until `finish()`. A wait that lasts is checked for a cycle every now and then.
  func serve(for lane: ContextLane) {
    var wait: LastingWait?
    var patience = 2
    while true {
      let (job, done) = state.withLock { state in
        (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isDone)
      }
      if let job {
        job.runSynchronously(on: asUnownedTaskExecutor())
      } else if done {
        break
      } else if !lane.crew.runOne() {
        if signal.wait(timeout: .now() + .milliseconds(patience)) == .timedOut {
          let lasting = wait ?? LastingWait(for: lane)
          wait = lasting
          lasting.check()
          patience = min(patience * 2, 256)
        }
      }
    }
    wait?.end()
  }
}
