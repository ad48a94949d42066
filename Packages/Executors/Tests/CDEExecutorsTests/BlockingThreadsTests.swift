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

  /// What jobs note.
  private final class Jobs: Sendable {
    let started = Mutex<[Int]>([])
    let running = Atomic<Int>(0)
    let most = Atomic<Int>(0)
    let ended = Atomic<Int>(0)
  }

  @Test("Threads with a limit: as many jobs run at once, the others start in their order", arguments: [1, 3])
  func limit(_ limit: Int) async {
    let threads = BlockingThreads(limit: limit)
    let gate = DispatchSemaphore(value: 0)
    let arrived = DispatchSemaphore(value: 0)
    let jobs = Jobs()
    let tasks = (0..<limit).map { _ in
      Task(executorPreference: threads) {
        arrived.signal()
        gate.wait()
      }
    }
    await Self.all(arrived, limit)
    let waiting = (0..<50).map { number in
      Task(executorPreference: threads) { jobs.started.withLock { $0.append(number) } }
    }
    // The threads are blocked. Tasks of the pool go on.
    for _ in 0..<100 { await Task.yield() }
    #expect(jobs.started.withLock { $0.isEmpty })
    for _ in 0..<limit { gate.signal() }
    for task in tasks + waiting { await task.value }
    let order = jobs.started.withLock { $0 }
    #expect(order.sorted() == Array(0..<50))
    if limit == 1 { #expect(order == Array(0..<50)) }
  }

  @Test("Threads with a limit are never more, run every job, and start again after a pause")
  func crowdOfJobs() async {
    let threads = BlockingThreads(limit: 4)
    let jobs = Jobs()
    for round in 1...3 {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3_000 {
          group.addTask(executorPreference: threads) {
            // Two jobs, with other tasks between.
            for _ in 0..<2 {
              let now = jobs.running.add(1, ordering: .sequentiallyConsistent).newValue
              jobs.most.max(now, ordering: .relaxed)
              jobs.running.subtract(1, ordering: .sequentiallyConsistent)
              await Task.yield()
            }
            jobs.ended.add(1, ordering: .relaxed)
          }
        }
      }
      #expect(jobs.ended.load(ordering: .relaxed) == 3_000 * round)
    }
    #expect((1...4).contains(jobs.most.load(ordering: .relaxed)))
  }

  private actor Caller {
    func run(_ executor: ContextExecutor) async {
      for _ in 0..<3 { await executor.run { _ = Set(0..<50) } }
    }
  }

  @Test("Threads with a limit end the work of tasks and actors that share executors", arguments: [1, 2])
  func sharedExecutors(_ limit: Int) async {
    let threads = BlockingThreads(limit: limit)
    let executors = [ContextExecutor(), ContextExecutor()]
    let callers = (0..<4).map { _ in Caller() }
    let jobs = Jobs()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<400 {
        group.addTask(executorPreference: threads) {
          let executor = executors[number % 2]
          if number.isMultiple(of: 3) {
            await executor.run { _ = Set(0..<50) }
          } else {
            // An actor that calls an executor holds a place in its queue meanwhile.
            await callers[number % 4].run(executor)
          }
          jobs.ended.add(1, ordering: .relaxed)
        }
      }
    }
    #expect(jobs.ended.load(ordering: .relaxed) == 400)
  }

  @Test("No threads at all are refused")
  func noThreads() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = BlockingThreads(limit: 0)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Pass one at least."))
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
