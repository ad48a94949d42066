public import CDEModelRuntime
public import CDETestSupport
public import Foundation
public import Testing

/// Says how a `.store` is made, what is in it, and what the test has to keep to.
///
/// Stands before or behind `.store`, on the test or on a suite around it. Of two of a kind the one closer to the
/// test counts, and templates that fill add up. Templates are meant for the `.store` they follow: one that takes
/// the place of another does not take its templates over.
public struct StoreOptionTrait: TestTrait, SuiteTrait, TestScoping {
  enum Option: Sendable {
    case change(@Sendable (inout TestStoreOptions) -> Void)
    case copy(URL)
    case fill(@Sendable (NSManagedObjectContext) throws -> Void)
  }

  let option: Option

  /// On a suite, it is said of each test in it.
  public var isRecursive: Bool { true }

  /// Fails the test if nothing would come of the option; `.store` does the rest.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    StoreTrait.expect(in: test, "A trait of this test says something about its store, but the test has none.")
    try await function()
  }

  static func change(_ change: @escaping @Sendable (inout TestStoreOptions) -> Void) -> Self {
    StoreOptionTrait(option: .change(change))
  }
}

extension Trait where Self == StoreOptionTrait {
  // MARK: Where the store is

  /// Keeps each case's store in memory, which is fastest: no files, no log, and reads and writes take turns.
  public static var inMemory: Self { .change { $0.place = .inMemory } }

  /// Keeps each case's store in a file of the temporary folder, as it is without a word; takes an `.inMemory` of
  /// the suite back.
  public static var onDisk: Self { .onDisk() }

  /// Keeps each case's store in a file.
  ///
  /// - Parameters:
  ///   - folder: Where; a folder in the temporary folder when nil.
  ///   - durability: What a commit waits for; nothing at first, as a test's store is not needed after a loss
  ///     of power.
  public static func onDisk(folder: URL? = nil, durability: TestStorePlace.Durability = .none) -> Self {
    .change { $0.place = .onDisk(folder: folder, durability: durability) }
  }

  // MARK: What is in it

  /// Gives each test case a store with something in it: `.store(Item.self), .template { … }`.
  ///
  /// - Parameter fill: Makes objects in a context of its own, which is saved afterwards. An error fails the
  ///   test. Called for each case.
  public static func template(_ fill: @escaping @Sendable (NSManagedObjectContext) throws -> Void) -> Self {
    StoreOptionTrait(option: .fill(fill))
  }

  /// Gives each test case a copy of a store.
  ///
  /// What is still in its log comes along, and so do external values; the file itself is left alone.
  ///
  /// - Parameter file: An SQLite store that fits the model of `.store`. A file that is missing or no such store
  ///   fails the test.
  public static func template(_ file: URL) -> Self { StoreOptionTrait(option: .copy(file)) }

  /// Gives each test case a copy of a store.
  ///
  /// - Parameters:
  ///   - path: The path of an SQLite store that fits the model of `.store`; a relative one begins in the folder of
  ///     the source file. A file that is missing or no such store fails the test.
  ///   - filePath: Where the call is.
  public static func template(_ path: String, filePath: String = #filePath) -> Self {
    .template(URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: filePath)))
  }

  // MARK: What the test has to keep to

  /// Fails each case that asks its store more than so often, with a list of what it asked.
  ///
  /// A fetch, a count, a fault that fires, a relationship that is loaded, a step of prefetching and a batch
  /// request count one each. Saves and templates do not count. For a part of a test there is
  /// `withQueryBudget`.
  ///
  /// - Parameter limit: How many are allowed.
  public static func queryBudget(_ limit: Int) -> Self { .change { $0.queryBudget = limit } }

  /// Fails each case in which faults fire one by one, naming entities and relationships and what to do.
  public static var strictFaulting: Self { .strictFaulting(allowing: 1) }

  /// Fails each case in which faults fire one by one, naming entities and relationships and what to do.
  ///
  /// - Parameter limit: How many faults of each entity, and loads of each relationship, are allowed.
  public static func strictFaulting(allowing limit: Int) -> Self {
    .change { $0.singleFaultLimit = limit }
  }

  /// Writes the SQL of failed cases down with the values that were bound to it, which otherwise stay out of test
  /// results.
  public static var statementValues: Self { .change { $0.recordsValues = true } }
}

/// What the traits of a test say about its store.
struct StoreOptions {
  var values = TestStoreOptions()
  private var fills: [@Sendable (NSManagedObjectContext) throws -> Void] = []

  /// - Parameter start: The index of the first trait whose template is meant for the store.
  init(of traits: [any Trait], fillingFrom start: Int) {
    for (index, trait) in traits.enumerated() {
      switch (trait as? StoreOptionTrait)?.option {
      case .change(let change): change(&values)
      case .copy(let file) where index >= start: values.template = file
      case .fill(let fill) where index >= start: fills.append(fill)
      case .copy, .fill, nil: break
      }
    }
  }

  /// Runs what fills the store, each in a context of its own.
  func fill(_ container: NSPersistentContainer) async throws {
    for fill in fills {
      let context = container.newBackgroundContext()
      try await context.perform {
        try fill(context)
        try context.save()
      }
    }
  }
}
