public import CDEManagedModel
public import CDEModelRuntime
@_spi(CDE) internal import CDESwiftData
@_spi(CDE) internal import CDETestSupport
internal import Foundation
internal import Synchronization
public import Testing

/// Gives every test case a throw-away store of its own; see `.store(_:)`.
public struct StoreTrait: TestTrait, SuiteTrait, TestScoping {
  /// Tells traits apart that make the same model.
  private final class Identity: Sendable {}

  let makeModel: @Sendable () throws -> NSManagedObjectModel
  /// The classes with `@Model`, if the trait names such.
  private let schema: Schema?
  private let identity = Identity()

  init(_ makeModel: @escaping @Sendable () throws -> NSManagedObjectModel) {
    self.makeModel = makeModel
    schema = nil
  }

  init(_ schema: Schema) {
    makeModel = { try schema.preparedModel() }
    self.schema = schema
  }

  /// On a suite, each test in it has a store of its own.
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let stores = test.traits.compactMap { $0 as? StoreTrait }
    let own = test.traits.firstIndex { ($0 as? StoreTrait)?.identity === identity }
    // A trait closer to the test makes the store.
    if own != nil, stores.last?.identity !== identity { return try await function() }
    let options = StoreOptions(of: test.traits, fillingFrom: stores.count > 1 ? own ?? 0 : 0)
    let scope = try TestStoreScope(
      model: try makeModel(), options: options.values,
      testName: "\(test.sourceLocation.fileID)-\(test.name)")
    let hasFailed = Atomic(false)
    let watch = IssueHandlingTrait.compactMapIssues { issue in
      if issue.isFailure { hasFailed.store(true, ordering: .relaxed) }
      return issue
    }
    do {
      try await options.fill(scope.container)
      scope.begin()
      try await watch.provideScope(for: test, testCase: testCase) {
        let models = try schema.map { try ModelContainer($0, over: scope.container) }
        try await TestStore.$running.withValue(TestStore(scope: scope, models: models)) {
          if let faults = test.traits.lazy.compactMap({ $0 as? FaultsTrait }).last {
            try await faults.provideFaults(
              to: scope.container, for: test, testCase: testCase, performing: function)
          } else {
            try await function()
          }
        }
        for broken in scope.brokenRules() {
          Issue.record(Comment(rawValue: broken.message), sourceLocation: test.sourceLocation)
        }
      }
    } catch {
      attach(scope, to: test)
      throw error
    }
    if hasFailed.load(ordering: .relaxed) { attach(scope, to: test) } else { try scope.remove() }
  }

  /// Fails a test without a store, for traits that are nothing without one.
  static func expect(in test: Test, _ problem: String) {
    if test.traits.contains(where: { $0 is StoreTrait }) { return }
    Issue.record(
      Comment(rawValue: problem + " Add .store(Item.self, ...) to the test or its suite."),
      sourceLocation: test.sourceLocation)
  }

  /// Larger stores are only kept: attachments are read into memory, and copied to wherever results go.
  private static let attachedBytes = 32 << 20

  /// Keeps the store of a failed case, and attaches it with what it was asked.
  private func attach(_ scope: TestStoreScope, to test: Test) {
    do {
      let remains = try scope.keep()
      Issue.record(
        Comment(rawValue: TestStoreScope.note(remains)), severity: .warning,
        sourceLocation: test.sourceLocation)
      for file in [remains.store, remains.log] {
        let bytes = try Data(contentsOf: file, options: .mappedIfSafe)
        guard bytes.count <= Self.attachedBytes else { continue }
        Attachment.record(
          [UInt8](bytes), named: file.lastPathComponent, sourceLocation: test.sourceLocation)
      }
    } catch {
      Issue.record(
        "The failed test's store could not be kept: \(error)", severity: .warning,
        sourceLocation: test.sourceLocation)
    }
  }
}

extension Trait where Self == StoreTrait {
  /// Gives each test case a container over an empty store, as ``TestStore/current``.
  ///
  /// The store is a file of its own for every case of a parameterised test too, so cases may run in
  /// parallel. It is deleted when the case passes. When it fails, the store is closed and kept, with a note where
  /// it is, and attached to the test's results with the SQL that it was asked. On a suite the trait serves every
  /// test in it; a test's own `.store` takes the place of its suite's.
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
    StoreTrait(model)
  }
}
