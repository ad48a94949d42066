public import CDEExecutors
internal import Foundation

/// An actor that shares the isolation of a background context. All its code may use the context's objects.
///
/// Made by ``NSModelActor(disableGenerateInit:)``. A call costs the same as a call of any actor.
public nonisolated protocol NSModelActor: Actor {
  /// The container of the actor's stores. It may be read on any isolation.
  nonisolated var modelContainer: NSPersistentContainer { get }
  /// The executor of the actor's context, on which all of the actor's code runs. It may be read on any
  /// isolation.
  nonisolated var modelExecutor: NSModelObjectContextExecutor { get }
}

/// The requirement that the actor macro's generated initialiser satisfies. Higher layers extend it.
public nonisolated protocol _NSModelActorInitializable: NSModelActor {
  /// Makes an actor with a new background context of the container.
  init(container: NSPersistentContainer)
}

extension NSModelActor {
  /// The context's own executor.
  @inlinable
  public nonisolated var unownedExecutor: UnownedSerialExecutor { modelExecutor.asUnownedSerialExecutor() }

  /// The context of all the actor's work. It is never the container's `viewContext`.
  public var modelContext: NSManagedObjectContext { modelExecutor.context }

  /// The object with an ID, or nil when it does not exist, can't be read, or is of another class.
  public subscript<T>(id: NSManagedObjectID, as _: T.Type) -> T? where T: NSManagedObject {
    (try? modelContext.existingObject(with: id)) as? T
  }

  /// Runs a closure with the actor's context, within its isolation; for tests and look-ups.
  ///
  /// - Throws: the errors of the closure.
  public func withContext<T: Sendable>(_ action: (NSManagedObjectContext) throws -> T) throws -> T {
    try action(modelContext)
  }

  /// Runs a closure with the actor's context and container, within its isolation.
  public func withContext<T: Sendable>(
    _ action: (NSManagedObjectContext, NSPersistentContainer) throws -> T
  ) throws -> T {
    try action(modelContext, modelContainer)
  }

  /// Runs a closure with the actor's context, within its isolation, from another isolation. For tests and
  /// look-ups.
  ///
  /// The closure belongs to no actor, even if its caller does. It may capture values that its caller gives
  /// away.
  ///
  /// - Throws: the errors of the closure.
  public func withContext<T: Sendable>(
    _ action: sending (NSManagedObjectContext) throws -> T
  ) async throws -> T {
    try action(modelContext)
  }

  /// Runs a closure with the actor's context and container, within its isolation, from another isolation.
  public func withContext<T: Sendable>(
    _ action: sending (NSManagedObjectContext, NSPersistentContainer) throws -> T
  ) async throws -> T {
    try action(modelContext, modelContainer)
  }
}

/// The executor of a context. An actor that returns it as its own shares the context's isolation.
public final class NSModelObjectContextExecutor: @unchecked Sendable, SerialExecutor {
  // Guard: all properties are immutable. The context checks each use.

  /// The executor's context. Its objects may be used on that executor only.
  public final let context: NSManagedObjectContext
  // Stored here, so that an actor call reaches it with one load.
  @usableFromInline let _executor: ContextExecutor
  /// Values of the observation layer that are retained with the executor.
  @_spi(CDE) public let attachments = Attachments()

  /// Makes an executor that runs jobs on the same executor as the context's own blocks.
  ///
  /// An actor that returns it from `unownedExecutor` shares the context's isolation. No job of the actor runs
  /// at the same time as a block of the context.
  public init(context: NSManagedObjectContext) {
    self.context = context
    _executor = context.executor
    _executor.share()
  }

  /// Runs a job on the context's executor, later. It never runs inside the call.
  ///
  /// Jobs of actors on this executor do not call this function. They enter the executor directly.
  public func enqueue(_ job: UnownedJob) {
    let executor = asUnownedSerialExecutor()
    context.executor.enqueue { job.runSynchronously(on: executor) }
  }

  /// Runs a job on the context's executor, later. It never runs inside the call.
  public func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  /// The reference to the context's executor that Swift's runtime compares. It is the same for all executors
  /// of one context.
  @inlinable
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { _executor.unownedExecutor }

  /// Whether jobs of the other executor run under the same isolation, because both belong to one context.
  public func isSameExclusiveExecutionContext(other: NSModelObjectContextExecutor) -> Bool {
    context === other.context
  }
}

/// A class on the main actor that uses its container's `viewContext`.
///
/// Made by ``NSMainModelActor(disableGenerateInit:)``. Mark the class `@MainActor`.
@MainActor public protocol NSMainModelActor: AnyObject {
  /// The container whose `viewContext` the class works with.
  var modelContainer: NSPersistentContainer { get }
}

extension NSMainModelActor {
  /// The container's `viewContext`. Its objects may be used on the main actor only.
  public var modelContext: NSManagedObjectContext { modelContainer.viewContext }

  /// The object with an ID, or nil when it does not exist, can't be read, or is of another class.
  public subscript<T>(id: NSManagedObjectID, as _: T.Type) -> T? where T: NSManagedObject {
    (try? modelContext.existingObject(with: id)) as? T
  }

  /// Runs a closure with `viewContext`, on the main actor.
  public func withContext<T: Sendable>(_ action: (NSManagedObjectContext) throws -> T) throws -> T {
    try action(modelContext)
  }

  /// Runs a closure with `viewContext` and the container, on the main actor.
  public func withContext<T: Sendable>(
    _ action: (NSManagedObjectContext, NSPersistentContainer) throws -> T
  ) throws -> T {
    try action(modelContext, modelContainer)
  }
}
