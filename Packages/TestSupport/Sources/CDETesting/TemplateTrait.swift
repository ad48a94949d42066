public import CDEModelRuntime
public import Testing

/// Fills each test case's store before the case begins; see ``Testing/Trait/template(_:)``.
public struct TemplateTrait: TestTrait, SuiteTrait, TestScoping {
  let fill: @Sendable (NSManagedObjectContext) throws -> Void

  /// On a suite, each test in it has its store filled.
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let context = TestStore.current.container.newBackgroundContext()
    let fill = fill
    try await context.perform {
      try fill(context)
      try context.save()
    }
    try await function()
  }
}

extension Trait where Self == TemplateTrait {
  /// Gives each test case a store with something in it: `.store(Item.self), .template { … }`.
  ///
  /// - Parameter fill: Makes objects in a context of its own, which is saved afterwards. An error fails the
  ///   test. Called for each case.
  /// - Precondition: a `.store` trait stands before it, or around the test.
  public static func template(_ fill: @escaping @Sendable (NSManagedObjectContext) throws -> Void) -> Self {
    TemplateTrait(fill: fill)
  }
}
