public import CDEManagedModel
public import CDEModelRuntime
internal import CDETestSupport
@_spi(CDE) internal import CDEExecutors
internal import Synchronization
public import Testing

/// Gives every test case a throw-away store of its own; see ``Testing/Trait/store(_:)``.
public struct StoreTrait: TestTrait, SuiteTrait, TestScoping {
  let makeModel: @Sendable () throws -> NSManagedObjectModel

  /// On a suite, each test in it has a store of its own.
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let name = StoreNames.next("\(test.sourceLocation.fileID)-\(test.name)")
    let store = TestStore(container: try .makeTest(model: try makeModel(), testName: name))
    let hasFailed = Atomic(false)
    let watch = IssueHandlingTrait.compactMapIssues { issue in
      if issue.isFailure { hasFailed.store(true, ordering: .relaxed) }
      return issue
    }
    do {
      try await watch.provideScope(for: test, testCase: testCase) {
        try await TestStore.$running.withValue(store) { try await function() }
      }
    } catch {
      keep(store)
      throw error
    }
    if hasFailed.load(ordering: .relaxed) { keep(store) } else { try store.remove() }
  }

  private func keep(_ store: TestStore) {
    Issue.record("The failed test's store was kept for inspection: \(store.path)", severity: .warning)
  }
}

extension Trait where Self == StoreTrait {
  /// Gives each test case a container over an empty store, as ``TestStore/current``.
  ///
  /// The store is a file of its own for every case of a parameterised test too, so cases may run in
  /// parallel. It is deleted when the case passes and kept, with a note where it is, when it fails. On a
  /// suite the trait serves every test in it.
  ///
  /// - Parameter modelTypes: The classes of the model, one entity each. A model that can't be made fails
  ///   the test with `CDRuntimeModelBuilderError`.
  public static func store(_ modelTypes: any CDRuntimeSchemaProviding.Type...) -> Self {
    StoreTrait { [modelTypes] in try NSManagedObjectModel.makeRuntimeModel(modelTypes) }
  }

  /// Gives each test case a container for a model over an empty store, as ``TestStore/current``.
  ///
  /// - Parameter model: Makes the model; called for each case.
  public static func store(
    model: @escaping @Sendable () throws -> NSManagedObjectModel
  ) -> Self {
    StoreTrait(makeModel: model)
  }
}

/// Names for the stores of one process, so that cases of one test function don't share a file.
private enum StoreNames {
  private static let uses = Lock<[String: Int]>([:])

  static func next(_ name: String) -> String {
    let use = uses.withLock { uses in
      uses[name, default: 0] += 1
      return uses[name] ?? 1
    }
    return use == 1 ? name : "\(name)-\(use)"
  }
}
