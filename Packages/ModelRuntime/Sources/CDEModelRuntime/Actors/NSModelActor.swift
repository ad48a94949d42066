public import CDEExecutors
internal import Foundation

/// An actor whose isolation is a background context: everything it does runs where its objects may be used.
///
/// Made by ``NSModelActor(disableGenerateInit:)``. A call costs what any actor call costs.
public nonisolated protocol NSModelActor: Actor {
  /// The container whose stores the actor works with. It may be read from any isolation.
  nonisolated var modelContainer: NSPersistentContainer { get }
  /// The executor of the actor's context, on which all of the actor's code runs. It may be read from any
  /// isolation.
  nonisolated var modelExecutor: NSModelObjectContextExecutor { get }
}

/// What the actor macro adds when it generates initialisers; layers above add theirs through it.
public nonisolated protocol _NSModelActorInitializable: NSModelActor {
  /// Makes an actor with a new background context of the container.
  init(container: NSPersistentContainer)
}

extension NSModelActor {
  /// The context's own executor.
  @inlinable
  public nonisolated var unownedExecutor: UnownedSerialExecutor { modelExecutor.asUnownedSerialExecutor() }

  /// The context that everything in the actor goes through; never the container's `viewContext`.
  public var modelContext: NSManagedObjectContext { modelExecutor.context }

  /// The object with an ID, or nil when it does not exist, can't be read, or is of another class.
  public subscript<T>(id: NSManagedObjectID, as _: T.Type) -> T? where T: NSManagedObject {
    (try? modelContext.existingObject(with: id)) as? T
  }

  /// Runs a closure with the actor's context, within its isolation; for tests and look-ups.
  ///
  /// - Throws: what the closure throws.
  public func withContext<T: Sendable>(_ action: (NSManagedObjectContext) throws -> T) throws -> T {
    try action(modelContext)
  }

  /// Runs a closure with the actor's context and container, within its isolation.
  public func withContext<T: Sendable>(
    _ action: (NSManagedObjectContext, NSPersistentContainer) throws -> T
  ) throws -> T {
    try action(modelContext, modelContainer)
  }

  /// Runs a closure with the actor's context, within its isolation; for tests and look-ups, from other isolations.
  ///
  /// The closure belongs to no actor, also in code that does, and takes along what its caller gives away.
  ///
  /// - Throws: what the closure throws.
  public func withContext<T: Sendable>(
    _ action: sending (NSManagedObjectContext) throws -> T
  ) async throws -> T {
    try action(modelContext)
  }

  /// Runs a closure with the actor's context and container, within its isolation, from other isolations.
  public func withContext<T: Sendable>(
    _ action: sending (NSManagedObjectContext, NSPersistentContainer) throws -> T
  ) async throws -> T {
    try action(modelContext, modelContainer)
  }
}

/// The executor of a context: an actor that returns it as its own shares the context's isolation.
public final class NSModelObjectContextExecutor: @unchecked Sendable, SerialExecutor {
  // Guard: all are immutable; the context checks who uses it.

  /// The context whose executor this is. Its objects may be used on that executor alone.
  public final let context: NSManagedObjectContext
  // Within one load of an actor call, which asks for the executor every time.
  @usableFromInline let _executor: ContextExecutor
  /// What the observation layer wants kept alive as long as the executor.
  @_spi(CDE) public let attachments = Attachments()

  /// Makes an executor that runs jobs where the context's own blocks run.
  ///
  /// An actor that returns it from `unownedExecutor` shares the context's isolation: no job of the actor runs
  /// while a block of the context does.
  public init(context: NSManagedObjectContext) {
    self.context = context
    _executor = context.executor
  }

  /// Runs a job on the context's executor, later; never inside the call.
  ///
  /// Jobs of actors on this executor do not come this way: they enter the executor directly.
  public func enqueue(_ job: UnownedJob) {
    let executor = asUnownedSerialExecutor()
    context.executor.enqueue { job.runSynchronously(on: executor) }
  }

  /// Runs a job on the context's executor, later; never inside the call.
  public func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  /// The reference to the context's executor that Swift's runtime compares: it is the same for all executors
  /// of one context.
  @inlinable
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { _executor.unownedExecutor }

  /// Whether jobs of the other executor run under the same isolation: whether both are of one context.
  public func isSameExclusiveExecutionContext(other: NSModelObjectContextExecutor) -> Bool {
    context === other.context
  }
}

/// A class on the main actor that works with its container's `viewContext`.
///
/// Made by ``NSMainModelActor(disableGenerateInit:)``; mark the class `@MainActor`.
@MainActor public protocol NSMainModelActor: AnyObject {
  /// The container whose `viewContext` the class works with.
  var modelContainer: NSPersistentContainer { get }
}

extension NSMainModelActor {
  /// The container's `viewContext`, whose objects may be used on the main actor alone.
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
