@_spi(CDE) public import CDESwiftData
public import Testing

extension TestStore {
  /// The container of `@Model` classes over the store of the running test, whose trait names such classes.
  ///
  /// ```swift
  /// @Test("A new trip is found again", .store(Trip.self))
  /// func find() throws {
  ///   let context = ModelContext(TestStore.current.modelContainer)
  ///   context.insert(Trip(title: "Alps"))
  ///   try context.save()
  ///   #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 1)
  /// }
  /// ```
  ///
  /// - Precondition: the trait nearest to the test is `.store(Trip.self, ...)` with classes of `@Model`.
  public var modelContainer: ModelContainer {
    guard let models else {
      fatalError(
        "TestStore.modelContainer was asked for in a test whose store has no classes with @Model. Name them: .store(Trip.self, ...)."
      )
    }
    return models
  }
}

extension Trait where Self == StoreTrait {
  /// Gives each test case a container of `@Model` classes over an empty store, as ``TestStore/modelContainer``.
  ///
  /// The store is a file of its own for every case, and everything that ``store(_:)`` of managed objects does holds: budgets, faults,
  /// templates, and the store of a failed test that is kept.
  ///
  /// - Parameter modelTypes: the classes; those that they reach by relationships are added. Classes that contradict each other fail
  ///   the test with `SwiftDataError`.
  public static func store(_ modelTypes: any PersistentModel.Type...) -> Self {
    StoreTrait(Schema(modelTypes))
  }
}
