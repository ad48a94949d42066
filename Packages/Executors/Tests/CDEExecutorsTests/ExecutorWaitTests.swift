@_spi(CDE) import CDEExecutors
import Dispatch
import Foundation
import Testing

@Suite("Waits")
struct ExecutorWaitTests {
  @Test("10,000 nested waits across executors, in one order, from more tasks than the pool has threads")
  func nested() async {
    await watched("nested waits") {
      let executors = (0..<8).map { ContextExecutor(name: "executor \($0)") }
      let states = (0..<8).map { _ in Unguarded() }
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<50 {
          group.addTask {
            for round in 0..<200 {
              let first = (task + round) % 6
              executors[first].runAndWait {
                states[first].touch()
                executors[first + 1].runAndWait {
                  states[first + 1].touch()
                  executors[first + 2].runAndWait { states[first + 2].touch() }
                }
              }
            }
          }
        }
      }
      let sum = zip(executors, states).reduce(0) { sum, pair in sum + pair.0.runAndWait { pair.1.value } }
      #expect(sum == 3 * 50 * 200)
    }
  }

  @Test("Waits behind blocks, from all threads of the pool at once, end")
  func behindBlocks() async {
    await watched("waits behind blocks") {
      let executors = (0..<3).map { ContextExecutor(name: "executor \($0)") }
      let state = Unguarded()
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<24 {
          group.addTask {
            for round in 0..<100 {
              let executor = executors[(task + round) % 3]
              executor.enqueue { state.blocks.withLock { $0 += 1 } }
              executor.runAndWait {}
              executors[0].enqueue {}
              executors[0].runAndWait { state.touch() }
            }
          }
        }
      }
      #expect(state.blocks.withLock { $0 } == 2400)
      #expect(executors[0].runAndWait { state.value } == 2400)
      #expect(executors[0].runAndWait { state.overlaps } == 0)
    }
  }

  @Test("Waits of plain threads among actor jobs, runs and blocks end")
  func mixed() async {
    await watched("mixed waits") {
      let actors = (0..<3).map { BoundActor(ContextExecutor(name: "executor \($0)")) }
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<12 {
          group.addTask {
            for round in 0..<50 {
              let actor = actors[(task + round) % 3]
              actor.executor.enqueue { actor.assumeIsolated { $0.count += 1 } }
              _ = await actor.bump()
              await actor.executor.run { actor.assumeIsolated { $0.count += 1 } }
            }
          }
          group.addTask {
            await onPlainThread {
              for round in 0..<50 {
                let actor = actors[(task + round) % 3]
                actor.executor.runAndWait { actor.assumeIsolated { $0.count += 1 } }
              }
            }
          }
        }
      }
      var total = 0
      for actor in actors { total += await actor.executor.run { actor.assumeIsolated { $0.count } } }
      #expect(total == 12 * 50 * 4)
    }
  }

  @Test(
    "Actors that wait for each other's executors without blocking never deadlock", .timeLimit(.minutes(10)))
  func mutual() async {
    await watched("mutual calls") {
      let actors = (0..<4).map { BoundActor(ContextExecutor(name: "executor \($0)")) }
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<32 {
          group.addTask {
            for round in 0..<50 {
              await actors[(task + round) % 4].call(actors[(task + round * 3 + 1) % 4], depth: 3)
            }
          }
        }
      }
      for actor in actors { #expect(await actor.count > 0) }
    }
  }

  @Test("Two executors that wait for each other trap and are named")
  func cycleOfTwo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (left, right) = (ContextExecutor(name: "left"), ContextExecutor(name: "right", note: "of two"))
      let met = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        left.runAndWait {
          met.signal()
          right.runAndWait { left.runAndWait {} }
        }
      }
      met.wait()
      right.runAndWait { left.runAndWait {} }
      DispatchSemaphore(value: 0).wait()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Wait cycle between executors"))
    #expect(text.contains("\"left\""))
    #expect(text.contains("\"right\" (of two)"))
  }

  @Test("A cycle over three executors and the main actor traps and names all")
  func cycleOfMany() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let executors =
        ["first", "second", "third"].map { ContextExecutor(name: $0) } + [.main(name: "the main one")]
      let (met, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      for index in 0..<4 {
        Thread.detachNewThread {
          executors[index].runAndWait {
            met.signal()
            go.wait()
            executors[(index + 1) % 4].runAndWait {}
          }
        }
      }
      for _ in 0..<4 { await onPlainThread { met.wait() } }
      for _ in 0..<4 { go.signal() }
      await onPlainThread { DispatchSemaphore(value: 0).wait() }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for name in ["first", "second", "third", "the main one"] { #expect(text.contains("\"\(name)\"")) }
  }

  @Test("Waits of one job nest over executors and the main actor, back to the executor that it is on")
  func nestedRing() async {
    let first = BoundActor(ContextExecutor(name: "first"))
    let (second, main) = (ContextExecutor(name: "second"), ContextExecutor.main())
    await first.run {
      second.runAndWait {
        main.runAndWait { first.executor.runAndWait { first.assumeIsolated { $0.count += 1 } } }
      }
    }
    #expect(await first.count == 1)
  }
}

@Suite("Concurrency debugging")
struct ConcurrencyDebugTests {
  @Test("Debug builds always check")
  func debug() {
    #if DEBUG
      #expect(ConcurrencyDebug.isEnabled)
    #endif
  }
}

extension BoundActor {
  func call(_ other: BoundActor, depth: Int) async {
    count += 1
    if depth > 0 { await other.call(self, depth: depth - 1) }
  }

  func run(_ body: @Sendable () -> Void) { body() }
}
