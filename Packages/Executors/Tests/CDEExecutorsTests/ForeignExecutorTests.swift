import CDEExecutors
import Testing

/// An executor as user code writes one over a context: every job goes through a block of the executor.
private final class ForeignExecutor: SerialExecutor {
  let base: ContextExecutor
  init(_ base: ContextExecutor) { self.base = base }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    base.enqueue { job.runSynchronously(on: executor) }
  }
}

private actor ForeignBoundActor {
  nonisolated let executor: ForeignExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ base: ContextExecutor) { executor = ForeignExecutor(base) }

  func isOnExecutor() async -> [Bool] {
    let before = executor.base.isCurrent
    await Task.yield()
    return [before, executor.base.isCurrent]
  }

  func waitForOwn() -> Bool { executor.base.runAndWait { executor.base.isCurrent } }

  func waitFor(_ other: ContextExecutor) -> [Bool] {
    let inside = other.runAndWait { [other.isCurrent, executor.base.isCurrent] }
    return inside + [executor.base.isCurrent]
  }

  func touch(_ state: Unguarded) { state.touch() }
}

@Suite("Jobs of executors that user code writes over an executor")
struct ForeignExecutorTests {
  @Test("Such a job is on the executor, also after a suspension", arguments: [false, true])
  func isCurrent(onMain: Bool) async {
    let executor = onMain ? ContextExecutor.main() : ContextExecutor()
    #expect(await ForeignBoundActor(executor).isOnExecutor() == [true, true])
    #expect(await Task.detached { executor.isCurrent }.value == false)
  }

  @Test("Waiting for its own executor runs inline", arguments: [false, true])
  func reentrance(onMain: Bool) async {
    #expect(await ForeignBoundActor(onMain ? .main() : ContextExecutor()).waitForOwn())
  }

  @Test("While it waits for another executor, its thread is on that one alone")
  func otherExecutor() async {
    #expect(await ForeignBoundActor(ContextExecutor()).waitFor(ContextExecutor()) == [true, false, true])
  }

  @Test("It excludes blocks and actors of the executor")
  func exclusion() async {
    let executor = ContextExecutor()
    let state = Unguarded()
    let foreign = ForeignBoundActor(executor)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask { await foreign.touch(state) }
        group.addTask { await executor.run { state.touch() } }
      }
    }
    #expect(state.value == 400)
    #expect(state.overlaps == 0)
  }
}
