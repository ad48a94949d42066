import CoreDataEvolution
import Synchronization

/// Work did not end within its time.
struct TimedOut: Error {}

/// Runs work that blocks its thread, for a file or a server, on a thread of its own.
///
/// Swift's tasks share as many threads as the machine has processors. A few calls that wait there would stop all requests.
func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value
{
  try await Task(executorPreference: BlockingThreads.shared, operation: work).value
}

/// The same. The caller goes on when the time is over; the work ends by itself.
///
/// - Throws: ``TimedOut``; the errors of the work.
func onOwnThread<Value: Sendable>(
  within limit: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let answer = FirstAnswer<Value>()
  return try await withCheckedThrowingContinuation { continuation in
    answer.expect(continuation)
    let timer = Task {
      try await Task.sleep(for: limit)
      answer.give(.failure(TimedOut()))
    }
    Task(executorPreference: BlockingThreads.shared) {
      do { answer.give(.success(try await work())) } catch { answer.give(.failure(error)) }
      timer.cancel()
    }
  }
}

/// Resumes a continuation by the first of several answers.
final class FirstAnswer<Value: Sendable>: Sendable {
  private let continuation = Mutex<CheckedContinuation<Value, any Error>?>(nil)

  func expect(_ continuation: CheckedContinuation<Value, any Error>) {
    self.continuation.withLock { $0 = continuation }
  }

  func give(_ answer: Result<Value, any Error>) {
    let continuation = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    continuation?.resume(with: answer)
  }
}
