import CDEExecutors
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("Work that waits has threads of its own", .timeLimit(.minutes(5)))
struct BlockingThreadsTests {
  /// More than there are threads for tasks.
  private static let crowd = ProcessInfo.processInfo.activeProcessorCount * 2 + 2

  @Test("Blocked runs of more executors than the machine has processors let other tasks continue")
  func runs() async {
    let gate = DispatchSemaphore(value: 0)
    let arrived = DispatchSemaphore(value: 0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.crowd {
        group.addTask {
          let executor = ContextExecutor()
          executor.mayBlock = true
          await executor.run {
            #expect(executor.isCurrent)
            arrived.signal()
            gate.wait()
          }
        }
      }
      // This task needs a thread of the pool for each of its steps, while all runs are blocked.
      group.addTask {
        await Self.all(arrived, Self.crowd)
        for _ in 0..<100 { await Task.yield() }
        for _ in 0..<Self.crowd { gate.signal() }
      }
    }
  }

  @Test("Enqueued blocks run in their order, and hold no thread of the pool either")
  func blocks() async {
    let gate = DispatchSemaphore(value: 0)
    let arrived = DispatchSemaphore(value: 0)
    let order = Mutex<[Int]>([])
    let executors = (0..<Self.crowd).map { _ in ContextExecutor() }
    for executor in executors {
      executor.mayBlock = true
      executor.enqueue {
        arrived.signal()
        gate.wait()
      }
    }
    for number in 0..<50 { executors[0].enqueue { order.withLock { $0.append(number) } } }
    await Self.all(arrived, Self.crowd)
    for _ in 0..<Self.crowd { gate.signal() }
    await executors[0].run(.enqueued) {}
    #expect(order.withLock { $0 } == Array(0..<50))
  }

  private actor Waiting {
    func wait(_ arrived: DispatchSemaphore, _ gate: DispatchSemaphore) {
      arrived.signal()
      gate.wait()
    }
  }

  @Test("Actors that are called by tasks with the preference block no thread of the pool")
  func actors() async {
    let gate = DispatchSemaphore(value: 0)
    let arrived = DispatchSemaphore(value: 0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.crowd {
        group.addTask(executorPreference: BlockingThreads.shared) { await Waiting().wait(arrived, gate) }
      }
      group.addTask {
        await Self.all(arrived, Self.crowd)
        for _ in 0..<Self.crowd { gate.signal() }
      }
    }
  }

  /// Waits for signals on a thread of its own.
  private static func all(_ arrived: DispatchSemaphore, _ count: Int) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        for _ in 0..<count { arrived.wait() }
        continuation.resume()
      }
    }
  }
}
