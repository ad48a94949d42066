import CDEExecutors
import Testing

/// An executor as user code writes one over a context: every job goes through a block of the lane.
private final class ForeignExecutor: SerialExecutor {
  let lane: ContextLane
  init(_ lane: ContextLane) { self.lane = lane }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    lane.enqueue { job.runSynchronously(on: executor) }
  }
}

private actor ForeignTenant {
  nonisolated let executor: ForeignExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ lane: ContextLane) { executor = ForeignExecutor(lane) }

  func isOnLane() async -> [Bool] {
    let before = executor.lane.isCurrent
    await Task.yield()
    return [before, executor.lane.isCurrent]
  }

  func waitForOwn() -> Bool { executor.lane.runAndWait { executor.lane.isCurrent } }

  func waitFor(_ other: ContextLane) -> [Bool] {
    let inside = other.runAndWait { [other.isCurrent, executor.lane.isCurrent] }
    return inside + [executor.lane.isCurrent]
  }

  func touch(_ state: Unguarded) { state.touch() }
}

@Suite("Jobs of executors that user code writes over a lane")
struct ForeignExecutorTests {
  @Test("Such a job is on the lane, also after a suspension", arguments: [false, true])
  func isCurrent(onMain: Bool) async {
    let lane = onMain ? ContextLane.main() : ContextLane()
    #expect(await ForeignTenant(lane).isOnLane() == [true, true])
    #expect(await Task.detached { lane.isCurrent }.value == false)
  }

  @Test("Waiting for its own lane runs inline", arguments: [false, true])
  func reentrance(onMain: Bool) async {
    #expect(await ForeignTenant(onMain ? .main() : ContextLane()).waitForOwn())
  }

  @Test("While it waits for another lane, its thread is on that one alone")
  func otherLane() async {
    #expect(await ForeignTenant(ContextLane()).waitFor(ContextLane()) == [true, false, true])
  }

  @Test("It excludes blocks and actors of the lane")
  func exclusion() async {
    let lane = ContextLane()
    let state = Unguarded()
    let foreign = ForeignTenant(lane)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask { await foreign.touch(state) }
        group.addTask { await lane.run { state.touch() } }
      }
    }
    #expect(state.value == 400)
    #expect(state.overlaps == 0)
  }
}
