@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) public import CDEModelRuntime
public import Foundation

/// One database for a whole program: the model, its container and a ``BackgroundDatabase`` over it.
///
/// ```swift
/// extension SharedDatabase {
///   static let shared = SharedDatabase(modelTypes: [Item.self, Tag.self], name: "Library")
/// }
/// ```
///
/// Making it opens nothing. The store is opened at the first use, off the main actor.
public nonisolated struct SharedDatabase: Database {
  /// The classes that the model was made from.
  public let modelTypes: [any CDRuntimeSchemaProviding.Type]
  /// The container of the model. Its store is not loaded before the first use.
  public let modelContainer: NSPersistentContainer
  /// The database that does the work.
  public let database: any Database

  /// - Parameters:
  ///   - modelTypes: The classes, one entity each.
  ///   - name: The container's name, and that of the store's file unless `url` says otherwise.
  ///   - url: Where the store is; nil for the container's default folder.
  ///   - policy: Time limits and retries.
  /// - Precondition: the classes make a model; what is wrong with them is the programmer's to put right.
  public init(
    modelTypes: [any CDRuntimeSchemaProviding.Type], name: String = "Database", url: URL? = nil,
    policy: DatabasePolicy = .standard
  ) {
    let model: NSManagedObjectModel
    do {
      model = try NSManagedObjectModel.makeRuntimeModel(modelTypes)
    } catch {
      failPrecondition("SharedDatabase needs classes that make a model: \(error)")
    }
    let container = NSPersistentContainer(name: name, managedObjectModel: model)
    if let url { container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)] }
    self.init(
      modelTypes: modelTypes, modelContainer: container,
      database: BackgroundDatabase(policy: policy) {
        try await container.loadStoresOnce()
        return ModelActorDatabase(modelContainer: container)
      })
  }

  /// A database over a container that exists, whose stores are loaded.
  ///
  /// - Parameters:
  ///   - modelTypes: The classes of the container's model, kept for callers to read.
  ///   - modelContainer: The container.
  ///   - database: nil for a ``BackgroundDatabase`` over the container.
  public init(
    modelTypes: [any CDRuntimeSchemaProviding.Type] = [], modelContainer: NSPersistentContainer,
    database: (any Database)? = nil
  ) {
    self.modelTypes = modelTypes
    self.modelContainer = modelContainer
    self.database = database ?? BackgroundDatabase(modelContainer: modelContainer)
  }

  /// Runs an operation on ``database``.
  ///
  /// - Throws: what opening the store or the operation throws.
  public func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value {
    try await database.run(operation)
  }
}

nonisolated extension SharedDatabase: PolicyHolding {
  func run<Value: Sendable>(
    _ operation: DatabaseOperation<Value>, by policy: DatabasePolicy
  ) async throws -> Value {
    try await policy.run(operation, replacingThatOf: database)
  }
}

nonisolated extension NSPersistentContainer {
  /// Loads the stores that are described, unless some are loaded already.
  fileprivate func loadStoresOnce() async throws {
    guard persistentStoreCoordinator.persistentStores.isEmpty else { return }
    for description in persistentStoreDescriptions {
      try await withCheckedThrowingContinuation { (caller: CheckedContinuation<Void, any Error>) in
        load(description) { caller.resume(with: $0) }
      }
    }
  }

  private func load(
    _ description: NSPersistentStoreDescription, _ done: @escaping (Result<Void, any Error>) -> Void
  ) {
    do {
      try NSPersistentStoreCoordinator.makeFolder(of: description)
      persistentStoreCoordinator.addPersistentStore(with: description) { _, error in
        done(error.map { .failure($0) } ?? .success(()))
      }
    } catch {
      done(.failure(error))
    }
  }
}
