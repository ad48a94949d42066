internal import CDEExecutors
public import CDEModelRuntime
internal import Foundation
internal import Synchronization

/// A database that is a model actor: writes go through its background context, one at a time, and reads
/// through contexts of their own, beside each other.
///
/// May be made anywhere, the main actor included: its work runs on its contexts' executors, never where it was
/// made. ``BackgroundDatabase`` puts off making it until it is needed.
public actor ModelActorDatabase {
  /// The container whose stores the database reads and writes.
  public nonisolated let modelContainer: NSPersistentContainer
  /// Runs the actor on the executor of the context that writes.
  public nonisolated let modelExecutor: NSModelObjectContextExecutor
  private nonisolated let readers: ReaderPool
  /// Whether the context has changes that only it can see.
  private nonisolated let hasUnsaved = Atomic(false)

  /// - Parameters:
  ///   - modelContainer: Its stores must be loaded before the first call.
  ///   - readers: How many reads may run at a time.
  public init(modelContainer: NSPersistentContainer, readers: Int = 4) {
    self.modelContainer = modelContainer
    let context = modelContainer.newBackgroundContext()
    context.name = "database"
    context.automaticallyMergesChangesFromParent = true
    modelExecutor = NSModelObjectContextExecutor(context: context)
    self.readers = ReaderPool(container: modelContainer, limit: readers)
  }

  /// Makes a database as a model actor's macro would.
  public init(container: NSPersistentContainer) { self.init(modelContainer: container) }

  /// Runs an operation: on the writing context, or on a reading one if it only reads and nothing is unsaved.
  ///
  /// - Throws: what the operation throws.
  public nonisolated func run<Value: Sendable>(
    _ operation: DatabaseOperation<Value>
  ) async throws -> Value {
    if operation.access == .read, !hasUnsaved.load(ordering: .acquiring) {
      return try await readers.run(operation)
    }
    return try await runHere(operation)
  }

  private func runHere<Value: Sendable>(_ operation: DatabaseOperation<Value>) throws -> Value {
    let context = modelContext
    defer {
      context.processPendingChanges()
      hasUnsaved.store(context.hasChanges, ordering: .releasing)
    }
    return try operation.run(in: context)
  }
}

// Not in the declaration: an optimised build takes the protocols' isolation for the actor's there.
extension ModelActorDatabase: NSModelActor {}
extension ModelActorDatabase: Database {}
