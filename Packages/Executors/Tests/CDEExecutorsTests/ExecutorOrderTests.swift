import CDEExecutors
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("Order and exclusion")
struct ExecutorOrderTests {
  @Test("64 tasks over 16 executors never overlap, whatever way they enter", .timeLimit(.minutes(10)))
  func exclusion() async {
    await watched("exclusion") {
      let actors = (0..<16).map { BoundActor(ContextExecutor(name: "executor \($0)")) }
      let states = (0..<16).map { _ in Unguarded() }
      let rounds = 60
      let enqueued = DispatchGroup()
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<64 {
          group.addTask {
            for round in 0..<rounds {
              let index = (task * 7 + round) % 16
              let (executor, state) = (actors[index].executor, states[index])
              switch (task + round) % 4 {
              case 0: await executor.run { state.touch() }
              case 1: await onPlainThread { executor.runAndWait { state.touch() } }
              case 2:
                enqueued.enter()
                executor.enqueue {
                  state.touch()
                  enqueued.leave()
                }
              default: await actors[index].touch(state)
              }
            }
          }
        }
      }
      await withCheckedContinuation { continuation in
        enqueued.notify(queue: .global()) { continuation.resume() }
      }
      for (actor, state) in zip(actors, states) { #expect(await actor.overlaps(state) == 0) }
      var total = 0
      for (actor, state) in zip(actors, states) { total += await actor.value(state) }
      #expect(total == 64 * rounds)
    }
  }

  @Test("Blocks of the main executor keep their order with those given to the main queue itself")
  func mainQueueOrder() async {
    await watched("main queue order") {
      let (executor, log) = (ContextExecutor.main(), Log())
      for round in 0..<300 {
        // The executor is free, so that each block is scheduled anew.
        await withCheckedContinuation { continuation in
          DispatchQueue.main.async {
            executor.enqueue { log.add(round * 2) }
            DispatchQueue.main.async {
              log.add(round * 2 + 1)
              continuation.resume()
            }
          }
        }
        await executor.run {}
      }
      #expect(log.all == Array(0..<600))
    }
  }

  @Test(
    "Blocks, runs and waits of one thread run in the order of their requests", .ownThreads,
    arguments: [true, false])
  func order(onMain: Bool) async {
    await watched("order") {
      let executor = onMain ? ContextExecutor.main() : ContextExecutor()
      let log = Log()
      for round in 0..<200 {
        executor.enqueue { log.add(round * 6) }
        executor.enqueue { log.add(round * 6 + 1) }
        await executor.run { log.add(round * 6 + 2) }
        executor.enqueue { log.add(round * 6 + 3) }
        executor.runAndWait { log.add(round * 6 + 4) }
        await executor.run(.enqueued) { log.add(round * 6 + 5) }
      }
      #expect(log.all == Array(0..<1200))
    }
  }

  @Test("Each of several threads finds its own blocks in order")
  func orderOfThreads() async {
    await watched("order of threads") {
      let executor = ContextExecutor()
      let log = Log()
      await withTaskGroup(of: Void.self) { group in
        for thread in 0..<6 {
          group.addTask {
            await onPlainThread {
              for step in 0..<500 { executor.enqueue { log.add(thread * 1000 + step) } }
            }
          }
        }
      }
      await executor.run {}
      let all = log.all
      #expect(all.count == 3000)
      for thread in 0..<6 {
        #expect(all.filter { $0 / 1000 == thread } == (0..<500).map { thread * 1000 + $0 })
      }
    }
  }

  @Test("A random mix of blocks and waits from one thread follows a plain list", .ownThreads)
  func randomOrder() async {
    let seed = UInt64.random(in: 1 ... .max)
    await watched("random order, seed \(seed)") {
      let log = Log()
      let expected = await onPlainThread {
        var state = seed
        var expected: [Int] = []
        let executor = ContextExecutor()
        for step in 0..<3000 {
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          expected.append(step)
          if (state >> 33) % 5 == 0 {
            executor.runAndWait { log.add(step) }
          } else {
            executor.enqueue { log.add(step) }
          }
        }
        executor.runAndWait {}
        return expected
      }
      #expect(log.all == expected, "seed \(seed)")
    }
  }

  @Test("A block is never run inside enqueue, not even on the executor")
  func neverInline() async {
    let executor = ContextExecutor()
    let log = Log()
    await executor.run {
      executor.enqueue { log.add(2) }
      log.add(1)
    }
    await executor.run {}
    #expect(log.all == [1, 2])
  }

  @Test("On the executor, an immediate run goes ahead of the queue and an enqueued one to its end")
  func schedules() async {
    await watched("schedules") {
      let actor = BoundActor(ContextExecutor())
      #expect(await actor.schedules() == [1, 2, 3])
    }
  }

  @Test("Jobs of actors run before a long queue is empty")
  func fairness() async {
    await watched("fairness") {
      let actor = BoundActor(ContextExecutor())
      let done = Log()
      let blocks = 5000
      // Without a pause in the drain the actor's job, requested by the first block, would come last.
      let seen = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
        actor.executor.enqueue {
          let asked = DispatchSemaphore(value: 0)
          Task.immediateDetached {
            asked.signal()
            _ = await actor.bump()
            continuation.resume(returning: done.all.count)
          }
          asked.wait()
        }
        for step in 0..<blocks { actor.executor.enqueue { done.add(step) } }
      }
      await actor.executor.run {}
      #expect(done.all.count == blocks)
      #expect(seen < blocks)
    }
  }
}

extension BoundActor {
  func touch(_ state: Unguarded) { state.touch() }
  func overlaps(_ state: Unguarded) -> Int { state.overlaps }
  func value(_ state: Unguarded) -> Int { state.value }

  func schedules() async -> [Int] {
    let log = Log()
    executor.enqueue { log.add(2) }
    await executor.run { log.add(1) }
    await executor.run(.enqueued) { log.add(3) }
    return log.all
  }
}
