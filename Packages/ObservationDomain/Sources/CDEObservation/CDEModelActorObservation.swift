@_spi(CDE) public import CDEModelRuntime
internal import CDEExecutors

/// Wakes the readers of a model actor's objects when saves and merges reach its context: what
/// ``CDEObservationDomain`` is for the main actor, for code that has none to spare.
///
/// Reads of observed models inside the actor, under `withObservationTracking` or `Observations`, subscribe.
/// The rules of waking are those of ``CDEObservationDomain``; readers wake on the actor. Keep the
/// observation for as long as readers should be woken; its last reference may be dropped on any thread. It keeps
/// the actor's context alive, but not the actor.
public final class CDEModelActorObservation: Sendable {
  /// The container whose changes are observed.
  public let modelContainer: NSPersistentContainer
  let router: ObservationRouter
  private let context: NSManagedObjectContext
  private let producers = ProducerBook()

  /// Observes the actor's context from here on.
  ///
  /// - Parameters:
  ///   - actor: Whose objects are to be observed.
  ///   - mergesAutomatically: Whether saves of other contexts are merged into the actor's by themselves, which
  ///     contexts of model actors do not do otherwise.
  ///   - preciseRouteEchoSuppression: What a repeated merge of one commit does.
  ///   - precision: Whose saves wake exactly the readers of what changed.
  public init(
    of actor: some NSModelActor, mergesAutomatically: Bool = true,
    preciseRouteEchoSuppression: CDEPreciseRouteEchoSuppression = .auto,
    precision: CDEObservationPrecision = .registeredProducers
  ) async {
    modelContainer = actor.modelContainer
    context = actor.modelExecutor.context
    router = ObservationRouter(
      precision: precision,
      swallowsEchoes: preciseRouteEchoSuppression.swallowsEchoes(in: actor.modelContainer),
      log: ObservationLog(isEnabled: ObservationLog.isEnabledByEnvironment))
    let (router, context) = (router, context)
    await context.perform {
      if mergesAutomatically { context.automaticallyMergesChangesFromParent = true }
      router.attach(to: context)
    }
  }

  deinit { invalidate() }

  /// Whether notes are written about what is woken, and why; see
  /// ``CDEObservationDomain/isDebugLoggingEnabled``.
  public var isDebugLoggingEnabled: Bool {
    get { router.log.isEnabled }
    set { router.log.isEnabled = newValue }
  }

  /// Ends the observation early: no reader wakes any more, registrations end. From any thread.
  public func invalidate() {
    producers.close()
    router.end(in: context)
  }

  /// Makes plain saves of a context exact; see ``CDEObservationDomain/registerChangeProducer(context:)``.
  @discardableResult
  public func registerChangeProducer(
    context: NSManagedObjectContext
  ) -> CDEObservationProducerRegistration {
    producers.register(context, router.listener)
  }

  /// A new background context of the container, registered as by ``registerChangeProducer(context:)``.
  public func newObservedBackgroundContext() -> NSManagedObjectContext {
    let context = modelContainer.newBackgroundContext()
    registerChangeProducer(context: context)
    return context
  }

  /// Saves any context of the container, on the context's isolation, so that readers wake exactly.
  ///
  /// - Throws: what `save()` throws, after rolling the context back.
  public func saveObservedChanges(in context: NSManagedObjectContext) async throws {
    try await context.performObservedSave(for: router)
  }
}

extension NSModelActor {
  /// Saves the actor's context so that the readers of another actor's objects wake exactly, once the save is
  /// merged there. Runs without suspending.
  ///
  /// - Throws: what `save()` throws; the context keeps its changes.
  public func saveObservedChanges(in observation: CDEModelActorObservation) async throws {
    try modelContext.save(for: observation.router)
  }
}
