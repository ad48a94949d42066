import CDEExecutors
import Dispatch
import Foundation
import Testing

@Suite("Runs")
struct ExecutorRunTests {
  final class Plain { var number = 0 }

  @Test("Blocks and results need not be Sendable, and errors come out unchanged", arguments: [true, false])
  func nonSendable(onMain: Bool) async throws {
    let executor = onMain ? ContextExecutor.main() : ContextExecutor()
    let plain = Plain()
    let same = await executor.run {
      plain.number += 1
      return plain
    }
    #expect(same === plain)
    let waited = executor.runAndWait {
      plain.number += 1
      return plain
    }
    #expect(waited.number == 2)
    await #expect(throws: Refusal(reason: 3)) { try await executor.run { throw Refusal(reason: 3) } }
    #expect(throws: Refusal(reason: 4)) { try executor.runAndWait { throw Refusal(reason: 4) } }
    // Access was released after the errors.
    #expect(await executor.run { plain.number } == 2)
  }

  @MainActor
  @Test("Main-actor code may use its own state in a block and wait")
  func fromMainActor() async {
    let executor = ContextExecutor()
    var count = 0
    await executor.run { count += 1 }
    executor.runAndWait { count += 1 }
    #expect(count == 2)
    // The block stays on the main actor, and the executor is reserved for it.
    #expect(executor.runAndWait { [ContextExecutor.main().isCurrent, executor.isCurrent] } == [true, true])
    #expect(ContextExecutor.main().runAndWait { ContextExecutor.main().isCurrent })
  }

  @Test("A block of a run is part of the caller's task, an enqueued block of none")
  func taskContext() async {
    let executor = ContextExecutor()
    await Local.$value.withValue(7) {
      #expect(await executor.run { Local.value } == 7)
      #expect(executor.runAndWait { Local.value } == 7)
      let inBlock = await withCheckedContinuation { continuation in
        executor.enqueue { continuation.resume(returning: Local.value) }
      }
      #expect(inBlock == 0)
    }
  }

  @Test("The executor ignores cancellation, and blocks see that of their own task")
  func cancellation() async {
    let executor = ContextExecutor()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      let run = await executor.run { Task.isCancelled }
      let waited = executor.runAndWait { Task.isCancelled }
      let block = await withCheckedContinuation { continuation in
        executor.enqueue { continuation.resume(returning: Task.isCancelled) }
      }
      return [run, waited, block]
    }
    #expect(await task.value == [true, true, false])
  }

  @Test("Waits and runs inside waits on the same executor are run at once")
  func reentrancy() async {
    let executor = ContextExecutor()
    #expect(executor.runAndWait { executor.runAndWait { executor.runAndWait { 5 } } } == 5)
    #expect(await executor.run { executor.runAndWait { 6 } } == 6)
    let actor = BoundActor(executor)
    #expect(await actor.waitFor(executor))
    #expect(await actor.bump() == 1)
  }

  @Test("Main executor from threads: blocks, runs and waits run on the main actor")
  func mainExecutor() async {
    await watched("main executor") {
      let executor = ContextExecutor.main()
      let waited = await onPlainThread {
        executor.runAndWait { MainActor.assumeIsolated { executor.isCurrent } }
      }
      #expect(waited)
      #expect(
        await Task.detached { await executor.run { MainActor.assumeIsolated { executor.isCurrent } } }.value)
      let block = await withCheckedContinuation { continuation in
        executor.enqueue { continuation.resume(returning: MainActor.assumeIsolated { executor.isCurrent }) }
      }
      #expect(block)
      #expect(executor.runAndWait { MainActor.assumeIsolated { true } })
    }
  }

  @Test("Actors that share an executor are isolated inside its blocks")
  func assumeIsolated() async {
    let actor = BoundActor(ContextExecutor())
    let executor = actor.executor
    #expect(
      await executor.run {
        actor.assumeIsolated {
          $0.count += 1; return $0.count
        }
      } == 1)
    #expect(
      executor.runAndWait {
        actor.assumeIsolated {
          $0.count += 1; return $0.count
        }
      } == 2)
    let third = await withCheckedContinuation { continuation in
      executor.enqueue {
        continuation.resume(
          returning: actor.assumeIsolated {
            $0.count += 1; return $0.count
          })
      }
    }
    #expect(third == 3)
  }
}

@Suite("Whether the caller is on an executor")
struct ExecutorCurrencyTests {
  @Test("No other thread or task is on the executor, and the check never traps")
  func elsewhere() async {
    let executor = ContextExecutor()
    let main = ContextExecutor.main()
    let other = ContextExecutor()
    #expect(!executor.isCurrent)
    #expect(await Task.detached { !executor.isCurrent && !main.isCurrent }.value)
    #expect(await onPlainThread { !executor.isCurrent && !main.isCurrent })
    #expect(await other.run { !executor.isCurrent && !main.isCurrent && other.isCurrent })
    #expect(await MainActor.run { !executor.isCurrent && main.isCurrent })
    let queues = await withCheckedContinuation { (continuation: CheckedContinuation<[Bool], Never>) in
      DispatchQueue.main.async { continuation.resume(returning: [executor.isCurrent, main.isCurrent]) }
    }
    #expect(queues == [false, true])
    let global = await withCheckedContinuation { (continuation: CheckedContinuation<[Bool], Never>) in
      DispatchQueue.global().async { continuation.resume(returning: [executor.isCurrent, main.isCurrent]) }
    }
    #expect(global == [false, false])
  }

  @Test("Jobs, blocks, runs and waits are on the executor")
  func here() async {
    let executor = ContextExecutor()
    let actor = BoundActor(executor)
    #expect(await actor.isOnExecutor())
    #expect(await actor.isOnExecutorAfterWaking())
    #expect(await executor.run { executor.isCurrent })
    #expect(executor.runAndWait { executor.isCurrent })
    #expect(await onPlainThread { executor.runAndWait { executor.isCurrent } })
    let block = await withCheckedContinuation { continuation in
      executor.enqueue { continuation.resume(returning: executor.isCurrent) }
    }
    #expect(block)
    let other = ContextExecutor()
    #expect(executor.runAndWait { other.runAndWait { other.isCurrent && !executor.isCurrent } })
    #expect(
      executor.runAndWait {
        other.runAndWait {}; return executor.isCurrent
      })
  }

  @Test("The first block, run, wait or checked actor job enters an executor")
  func entered() async {
    let executors = (0..<4).map { ContextExecutor(name: "\($0)") }
    for executor in executors {
      #expect(!executor.isCurrent)
      #expect(!executor.wasEntered)
    }
    await executors[0].run {}
    executors[1].runAndWait {}
    await withCheckedContinuation { continuation in executors[2].enqueue { continuation.resume() } }
    #expect(await BoundActor(executors[3]).isOnExecutor())
    for executor in executors { #expect(executor.wasEntered) }
  }

  @Test("The description contains name and note")
  func labels() {
    let executor = ContextExecutor(name: "import", note: "Library.sqlite")
    #expect(executor.description == "\"import\" (Library.sqlite)")
    executor.name = "export"
    executor.note = nil
    #expect("\(executor)" == "\"export\"")
    #expect(ContextExecutor.main().isMain)
    #expect(!executor.isMain)
  }

  @Test("The check traps with its message elsewhere than on the executor")
  func precondition() async {
    let executor = ContextExecutor()
    await executor.run { executor.preconditionCurrent("never seen") }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ContextExecutor().preconditionCurrent("Touch items on their executor.")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Touch items on their executor."))
  }
}
