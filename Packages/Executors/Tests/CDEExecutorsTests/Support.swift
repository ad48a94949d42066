@_spi(CDE) import CDEExecutors
import Dispatch
import Foundation
import Testing

/// An actor that shares a `ContextExecutor`, as model actors do.
actor BoundActor {
  nonisolated let executor: ContextExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.unownedExecutor }
  var count = 0

  init(_ executor: ContextExecutor) {
    self.executor = executor
    executor.share()
  }

  func bump() -> Int {
    count += 1
    return count
  }

  func isOnExecutor() -> Bool { executor.isCurrent }

  func isOnExecutorAfterWaking() async -> Bool {
    await Task.yield()
    return executor.isCurrent
  }

  func waitFor(_ other: ContextExecutor) -> Bool { other.runAndWait { other.isCurrent } }
}

/// State that only an executor protects. A wrong count means that two jobs were on the executor at once.
final class Unguarded: @unchecked Sendable {
  // Guard: the executor under test. Not atomic on purpose.
  var value = 0
  var inside = false
  var overlaps = 0
  /// Counted by blocks of any executor.
  let blocks = Lock(0)

  func touch() {
    if inside { overlaps += 1 }
    inside = true
    value += 1
    inside = false
  }
}

final class Log: Sendable {
  private let entries = Lock<[Int]>([])
  func add(_ entry: Int) { entries.withLock { $0.append(entry) } }
  var all: [Int] { entries.withLock { $0 } }
}

/// Runs the body on a plain thread and waits for it without blocking a thread of the pool.
func onPlainThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}

/// Ends the process with a sentence when a body hangs: a blocked pool could not run a timeout's task.
///
/// The limit is long: in a run of all packages other suites keep both threads of a small machine's pool busy for
/// minutes at a time.
func watched<Value>(
  seconds: Int = 600, _ what: String, _ body: () async throws -> Value
) async rethrows -> Value {
  let watchdog = DispatchWorkItem { fatalError("Watchdog: \(what) hung for \(seconds) s") }
  DispatchQueue(label: "watchdog").asyncAfter(deadline: .now() + .seconds(seconds), execute: watchdog)
  defer { watchdog.cancel() }
  return try await body()
}

struct Refusal: Error, Equatable { var reason: Int }

enum Local { @TaskLocal static var value = 0 }
