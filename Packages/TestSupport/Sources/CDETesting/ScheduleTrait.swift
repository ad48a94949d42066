internal import CDETestSupport
public import Testing

/// Names the running schedule in every issue; see ``Testing/Trait/schedules``.
public struct ScheduleTrait: TestTrait, SuiteTrait, TestScoping {
  /// On a suite, each test in it.
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let naming = IssueHandlingTrait.compactMapIssues { issue in
      guard let schedule = TestSchedule.current else { return issue }
      var issue = issue
      issue.comments.append("Schedule: \(schedule)")
      return issue
    }
    try await naming.provideScope(for: test, testCase: testCase, performing: function)
  }
}

extension Trait where Self == ScheduleTrait {
  /// Adds the schedule of steps that is running to the comments of each issue.
  ///
  /// For tests that go through `Interleavings.run(_:)`. A test that takes schedules as its arguments has them
  /// named by the framework.
  public static var schedules: Self { ScheduleTrait() }
}
