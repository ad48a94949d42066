import CDEExecutors
import Foundation
import Synchronization
import Testing

private final class End: Sendable {
  let hasCome = Atomic(false)
}

@Suite("Executors that no actor shares", .serialized)
struct UnsharedExecutorTests {
  @Test("Waits and awaited runs of one executor end, also if waits take all threads of the pool")
  func waitsAndRuns() async {
    for _ in 0..<10 {
      await watched("waits beside awaited runs") {
        let (executor, state) = (ContextExecutor(), Unguarded())
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<200 {
            group.addTask {
              if number.isMultiple(of: 2) {
                executor.runAndWait { state.touch() }
              } else {
                await executor.run { state.touch() }
              }
              executor.enqueue { state.touch() }
            }
          }
        }
        #expect(executor.runAndWait { state.value } == 400)
        #expect(state.overlaps == 0)
      }
    }
  }

  @Test(
    "Nested waits for a parent and awaited runs of it end, with threads of the pool and with threads of their own"
  )
  func nested() async {
    for ownThreads in [false, true] {
      await watched("nested waits beside awaited runs") {
        let (parent, state) = (ContextExecutor(), Unguarded())
        let children = (0..<300).map { _ in ContextExecutor() }
        await withTaskGroup(of: Void.self) { group in
          for child in children {
            group.addTask(executorPreference: ownThreads ? BlockingThreads.shared : nil) {
              await child.run { parent.runNestedAndWait { state.touch() } }
              await parent.run { state.touch() }
            }
          }
        }
        #expect(parent.runAndWait { state.value } == 600)
        #expect(state.overlaps == 0)
      }
    }
  }

  @Test(
    "Tasks that only run on free executors leave their threads to other tasks, with one executor or with many",
    arguments: [true, false])
  func turns(ownsOne: Bool) async {
    await watched("runs in a loop") {
      let end = End()
      let runs = await withTaskGroup(of: Int.self) { group in
        // More than the pool has threads.
        for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount {
          group.addTask {
            let own = ContextExecutor()
            for count in 0..<1_000_000 {
              let executor = ownsOne ? own : ContextExecutor()
              let hasEnded = await executor.run { end.hasCome.load(ordering: .relaxed) }
              if hasEnded { return count }
            }
            return 1_000_000
          }
        }
        group.addTask {
          // Each of these steps needs a thread.
          for _ in 0..<20 { await Task.yield() }
          end.hasCome.store(true, ordering: .relaxed)
          return 0
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(runs.allSatisfy { $0 < 1_000_000 })
    }
  }

  @Test(
    "The first call of an actor that has not said that it shares the executor excludes other work",
    arguments: 0..<20)
  func firstCall(round: Int) async {
    await watched("the first call of an actor") {
      let (executor, state) = (ContextExecutor(), Unguarded())
      let actor = LateActor(executor)
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<60 {
          group.addTask {
            switch number % 3 {
            case 0: await executor.run { state.touch() }
            case 1: await onPlainThread { executor.runAndWait { state.touch() } }
            default:
              if number > round { await actor.touch(state) } else { await executor.run { state.touch() } }
            }
          }
        }
      }
      #expect(await executor.run { state.value } == 60)
      #expect(state.overlaps == 0)
    }
  }

  @Test("Blocks, runs and waits of one task keep their order")
  func order() async {
    let (executor, log) = (ContextExecutor(), Log())
    for number in stride(from: 0, to: 300, by: 3) {
      executor.enqueue { log.add(number) }
      executor.runAndWait { log.add(number + 1) }
      await executor.run { log.add(number + 2) }
    }
    #expect(log.all == Array(0..<300))
  }
}

/// An actor over an executor whose initialiser does not call `share()`.
private actor LateActor {
  nonisolated let executor: ContextExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.unownedExecutor }

  init(_ executor: ContextExecutor) { self.executor = executor }

  func touch(_ state: Unguarded) { state.touch() }
}
