// swift-format-ignore-file
// What is printed stays as it was printed.

// The program of the article on model actors behind a protocol, without SwiftUI's parts and with the import of this module. It is
// written for language mode 5, as this target is. What it calls and does not print stands behind it.

// printed
import CDESwiftData

@ModelActor
public actor ModelActorDatabase: Database {
  public func delete(_ model: some PersistentModel) async {
    self.modelContext.delete(model)
  }

  public func insert(_ model: some PersistentModel) async {
    self.modelContext.insert(model)
  }

  public func delete<T: PersistentModel>(
    where predicate: Predicate<T>?
  ) async throws {
    try self.modelContext.delete(model: T.self, where: predicate)
  }

  public func save() async throws {
    try self.modelContext.save()
  }

  public func fetch<T>(_ descriptor: FetchDescriptor<T>) async throws -> [T] where T: PersistentModel {
    return try self.modelContext.fetch(descriptor)
  }
}

public protocol Database {
  func delete<T>(_ model: T) async where T: PersistentModel
  func insert<T>(_ model: T) async where T: PersistentModel
  func save() async throws
  func fetch<T>(_ descriptor: FetchDescriptor<T>) async throws -> [T] where T: PersistentModel

  func delete<T: PersistentModel>(
    where predicate: Predicate<T>?
  ) async throws
}

public extension Database {
  func fetch<T: PersistentModel>(
    where predicate: Predicate<T>?,
    sortBy: [SortDescriptor<T>]
  ) async throws -> [T] {
    try await self.fetch(FetchDescriptor<T>(predicate: predicate, sortBy: sortBy))
  }

  func fetch<T: PersistentModel>(
    _ predicate: Predicate<T>,
    sortBy: [SortDescriptor<T>] = []
  ) async throws -> [T] {
    try await self.fetch(where: predicate, sortBy: sortBy)
  }

  func fetch<T: PersistentModel>(
    _: T.Type,
    predicate: Predicate<T>? = nil,
    sortBy: [SortDescriptor<T>] = []
  ) async throws -> [T] {
    try await self.fetch(where: predicate, sortBy: sortBy)
  }

  func delete<T: PersistentModel>(
    model _: T.Type,
    where predicate: Predicate<T>? = nil
  ) async throws {
    try await self.delete(where: predicate)
  }
}

struct DefaultDatabase: Database {
  struct NotImplmentedError: Error {
    static let instance = NotImplmentedError()
  }

  static let instance = DefaultDatabase()

  func fetch<T>(_: FetchDescriptor<T>) async throws -> [T] where T: PersistentModel {
    assertionFailure("No Database Set.")
    throw NotImplmentedError.instance
  }

  func delete(_: some PersistentModel) async {
    assertionFailure("No Database Set.")
  }

  func insert(_: some PersistentModel) async {
    assertionFailure("No Database Set.")
  }

  func save() async throws {
    assertionFailure("No Database Set.")
    throw NotImplmentedError.instance
  }
}

public struct SharedDatabase {
  public static let shared: SharedDatabase = .init()

  public let schemas: [any PersistentModel.Type]
  public let modelContainer: ModelContainer
  public let database: any Database

  private init(
    schemas: [any PersistentModel.Type] = .all,
    modelContainer: ModelContainer? = nil,
    database: (any Database)? = nil
  ) {
    self.schemas = schemas
    let modelContainer = modelContainer ?? .forTypes(schemas)
    self.modelContainer = modelContainer
    self.database = database ?? BackgroundDatabase(modelContainer: modelContainer)
  }
}

public class BackgroundDatabase: Database {
  private actor DatabaseContainer {
    private let factory: @Sendable () -> any Database
    private var wrappedTask: Task<any Database, Never>?

    fileprivate init(factory: @escaping @Sendable () -> any Database) {
      self.factory = factory
    }

    fileprivate var database: any Database {
      get async {
        if let wrappedTask {
          return await wrappedTask.value
        }
        let task = Task {
          factory()
        }
        self.wrappedTask = task
        return await task.value
      }
    }
  }

  private let container: DatabaseContainer

  private var database: any Database {
    get async {
      await container.database
    }
  }

  internal init(_ factory: @Sendable @escaping () -> any Database) {
    self.container = .init(factory: factory)
  }

  public func delete(where predicate: Predicate<some PersistentModel>?) async throws {
    return try await self.database.delete(where: predicate)
  }

  public func fetch<T>(_ descriptor: FetchDescriptor<T>) async throws -> [T] where T: PersistentModel {
    return try await self.database.fetch(descriptor)
  }

  public func insert(_ model: some PersistentModel) async {
    return await self.database.insert(model)
  }

  public func save() async throws {
    return try await self.database.save()
  }

  convenience init(modelContainer: ModelContainer) {
    self.init {
      return ModelActorDatabase(modelContainer: modelContainer)
    }
  }
}
// end

// The article calls these and prints no body for them.
extension BackgroundDatabase {
  public func delete(_ model: some PersistentModel) async {
    return await self.database.delete(model)
  }
}

extension DefaultDatabase {
  func delete<T: PersistentModel>(where predicate: Predicate<T>?) async throws {
    throw NotImplmentedError.instance
  }
}

extension [any PersistentModel.Type] {
  static var all: [any PersistentModel.Type] { [Machine.self, Snapshot.self] }
}

extension ModelContainer {
  static func forTypes(_ types: [any PersistentModel.Type]) -> ModelContainer {
    // A program's one container: without it the program can do nothing.
    try! ModelContainer(for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }
}

@Model
final class Machine {
  @Attribute(.unique) var name: String
  var lastUsed: Date?
  @Relationship(deleteRule: .cascade, inverse: \Snapshot.machine) var snapshots: [Snapshot] = []

  init(name: String) { self.name = name }
}

@Model
final class Snapshot {
  var taken: Date
  var machine: Machine?

  init(taken: Date, machine: Machine? = nil) {
    self.taken = taken
    self.machine = machine
  }
}
