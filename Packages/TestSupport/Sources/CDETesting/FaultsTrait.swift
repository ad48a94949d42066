internal import CDEModelRuntime
public import CDESQLiteFaults
internal import CDETestSupport
internal import Synchronization
public import Testing

/// Has the files of each test case's store fail on purpose; see ``Testing/Trait/faults``.
public struct FaultsTrait: TestTrait, SuiteTrait, TestScoping {
  let plan: FaultPlan?

  /// On a suite, the store of each test in it fails.
  public var isRecursive: Bool { true }

  /// Fails the test if it has no store; `.store` does the rest, because it knows when its store is there.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    StoreTrait.expect(in: test, "The files of a store are to fail, but the test has none.")
    try await function()
  }

  /// Runs a case while the files of its store fail.
  func provideFaults(
    to container: NSPersistentContainer, for test: Test, testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    let faults = StoreFaults()
    try container.reopenTestStores(faults: faults)
    if let plan { faults.begin(plan) }
    let hasFailed = Atomic(false)
    let watch = IssueHandlingTrait.compactMapIssues { issue in
      if issue.isFailure { hasFailed.store(true, ordering: .relaxed) }
      return issue
    }
    do {
      try await watch.provideScope(for: test, testCase: testCase) {
        try await TestStore.$runningFaults.withValue(faults) { try await function() }
      }
    } catch {
      tell(faults, container)
      throw error
    }
    if hasFailed.load(ordering: .relaxed) { tell(faults, container) } else { faults.end() }
  }

  /// Notes what happened to the store of a failed case, and leaves the store as the next process would find it.
  private func tell(_ faults: StoreFaults, _ container: NSPersistentContainer) {
    let events = faults.events.map(\.description)
    let list = events.isEmpty ? "none happened" : events.joined(separator: ", ")
    let plan = plan.map { " (\($0))" } ?? ""
    faults.end()
    // What can't be opened any more is kept as it is.
    try? container.reopenTestStores()
    Issue.record("Faults of the failed test's store\(plan): \(list)", severity: .warning)
  }
}

extension Trait where Self == FaultsTrait {
  /// Lets each test case have the files of its store fail, by ``TestStore/faults``: `.store(Item.self), .faults`.
  ///
  /// The store works as ever until the test begins a plan. When the case fails, a note lists the faults since then.
  ///
  /// Stands before or behind `.store`, on the test or a suite around it; of two the one closer to the test counts.
  /// The store is a file.
  public static var faults: Self { FaultsTrait(plan: nil) }

  /// Has the files of each test case's store fail now and then, as a seed has it.
  ///
  /// When the case fails, a note tells the seed and the faults that happened. The same seed has the same steps fail,
  /// as long as the test asks the same of the store in the same order.
  ///
  /// Stands before or behind `.store`, on the test or a suite around it; of two the one closer to the test counts.
  /// The store is a file.
  ///
  /// - Parameters:
  ///   - seed: What the faults are drawn from: a full disk, I/O errors, torn writes, refused locks; no crash.
  ///   - oneIn: One in so many steps fails, on average. A small save takes some dozens.
  public static func faults(seed: UInt64, oneIn: Int = 50) -> Self {
    FaultsTrait(plan: .drawn(seed: seed, oneIn: oneIn))
  }
}

extension TestStore {
  @TaskLocal static var runningFaults: StoreFaults?

  /// The faults of the running test's store, to begin plans with.
  ///
  /// - Precondition: the test, or a suite around it, has a `.faults` trait.
  public var faults: StoreFaults { Self.requiredFaults }

  static var requiredFaults: StoreFaults {
    guard let runningFaults else {
      fatalError(
        "TestStore.current.faults was asked for in a test that has none. Add the trait .faults."
      )
    }
    return runningFaults
  }
}
