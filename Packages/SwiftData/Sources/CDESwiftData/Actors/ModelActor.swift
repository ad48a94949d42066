@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEModelRuntime

/// An actor that works with a model context of its own. ``ModelActor()`` makes one.
public nonisolated protocol ModelActor: Actor {
  /// The container of the actor's stores.
  nonisolated var modelContainer: ModelContainer { get }
  /// The executor of the actor's context, on which the actor's code runs.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

/// An executor that has a model context.
public nonisolated protocol ModelExecutor: Executor {
  /// The context of the jobs.
  var modelContext: ModelContext { get }
}

/// An executor that has a model context and runs one job at a time.
public nonisolated protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

extension ModelActor {
  /// The executor of the context.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    if let known = modelExecutor as? DefaultSerialModelExecutor { return known.asUnownedSerialExecutor() }
    guard let serial = modelExecutor as? any SerialExecutor else {
      failPrecondition(
        "The modelExecutor of \(Self.self) is no SerialExecutor. Conform it to SerialModelExecutor, or use "
          + "DefaultSerialModelExecutor.")
    }
    return serial.asUnownedSerialExecutor()
  }

  /// The context of the actor's work.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The model with an identifier, if its row exists and is of the class.
  public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
    modelContext.existingModel(id, as: type)
  }
}

/// Runs the jobs of an actor on the executor of a context, never on the main actor unless the context is the main one.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
  // Guard: immutable. The context is used by jobs of the executor alone.
  /// The context of the jobs.
  public let modelContext: ModelContext
  private let executor: ContextExecutor

  /// Gives a context to an executor of its own.
  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    executor = modelContext.context.executor
    executor.share()
    modelContext.useExecutor()
  }

  /// Runs a job on the context's executor, later.
  public func enqueue(_ job: consuming ExecutorJob) {
    let (job, unowned) = (UnownedJob(job), asUnownedSerialExecutor())
    executor.enqueue { job.runSynchronously(on: unowned) }
  }

  /// The reference to the context's executor that Swift's runtime compares.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { executor.unownedExecutor }
}
