import CDEExecutors
import Testing

/// Runs tests on threads of their own, not on those that Swift's tasks share.
///
/// The pool has a thread for each processor. A test that waits on one of them, for a semaphore or for another executor, keeps it
/// from whatever it waits for, and two such tests keep a small machine's pool from all others. Other layers' tests link to this file.
struct OwnThreads: TestTrait, SuiteTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  /// The test blocks the thread that it runs on.
  static var ownThreads: Self { OwnThreads() }
}
