@_spi(CDE) public import CDEModelRuntime

/// Wakes the readers of a container's objects when saves and merges reach its `viewContext`.
///
/// Keep the domain for as long as objects are to be observed. Reads of observed models on the main actor,
/// under `withObservationTracking`, subscribe. Setters wake no reader. Readers wake
///
/// - when `viewContext` has saved, before `save()` returns: those of exactly the properties that changed;
/// - when a save of a registered context, or through `saveObservedChanges`, has been merged: likewise;
/// - when anything else has been merged, refreshed or rolled back: those of all observable properties of the
///   objects concerned. With ``CDEObservationPrecision/everySave`` every save and every batch request of this
///   process counts as registered.
///
/// One domain at a time is current for a view context: a later one takes over from an earlier, and when the
/// current one ends, none is. Its last reference may be dropped on any thread.
///
/// Work grows with the changed objects that are observed; other objects cost a comparison each.
@MainActor
public final class CDEObservationDomain {
  /// The container whose saves reach the domain's readers.
  public nonisolated let modelContainer: NSPersistentContainer
  nonisolated let router: ObservationRouter
  nonisolated let producers = ProducerBook()

  /// Makes the domain and has it observe the container's `viewContext` from here on.
  ///
  /// - Parameters:
  ///   - container: Kept alive by the domain.
  ///   - preciseRouteEchoSuppression: What a repeated merge of one commit does.
  ///   - precision: Whose saves wake exactly the readers of what changed.
  public init(
    container: NSPersistentContainer,
    preciseRouteEchoSuppression: CDEPreciseRouteEchoSuppression = .auto,
    precision: CDEObservationPrecision = .registeredProducers
  ) {
    modelContainer = container
    router = ObservationRouter(
      precision: precision,
      swallowsEchoes: preciseRouteEchoSuppression.swallowsEchoes(in: container),
      log: ObservationLog(isEnabled: ObservationLog.isEnabledByEnvironment))
    router.attach(to: container.viewContext)
  }

  deinit { end() }

  /// Whether the domain writes notes about what it wakes, and why. Their wording is no part of the API.
  ///
  /// False at first unless the environment variable `CDE_OBSERVATION_DEBUG` is `1`, `true`, `yes` or `on`.
  /// Notes go to `Diagnostics.handler`, or to standard error without one.
  public var isDebugLoggingEnabled: Bool {
    get { router.log.isEnabled }
    set { router.log.isEnabled = newValue }
  }

  /// Ends the domain early: no reader wakes any more, registrations end, later ones have no effect.
  ///
  /// Contexts and actors made through the domain go on working; their saves count as unregistered ones.
  public func invalidate() { end() }

  private nonisolated func end() {
    producers.close()
    router.end(in: modelContainer.viewContext)
  }

  // MARK: Producers

  /// Makes plain saves of a context exact: once merged, they wake the readers of exactly what changed.
  ///
  /// A save that throws leaves nothing behind, whatever becomes of the context's changes.
  ///
  /// - Parameter context: Not kept alive.
  /// - Returns: what ends the registration; the domain keeps it too.
  ///
  /// May be called from any isolation: an actor's own initialiser, which is not the main actor's, registers
  /// its context.
  @discardableResult
  public nonisolated func registerChangeProducer(
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

  /// Saves any context of the container, on the context's isolation, so that its readers wake exactly.
  ///
  /// - Throws: what `save()` throws, after rolling the context back.
  public nonisolated func saveObservedChanges(in context: NSManagedObjectContext) async throws {
    try await context.performObservedSave(for: router)
  }

  /// Rolls `viewContext` back.
  ///
  /// Readers of objects with unsaved changes, deletions included, wake for all properties; objects never
  /// saved are forgotten silently.
  public func rollbackObservedChanges() { modelContainer.viewContext.rollback() }
}

extension NSManagedObjectContext {
  /// Saves with the commit expected by a router.
  func save(for router: ObservationRouter) throws {
    addCommitListener(router.listener)
    defer { removeCommitListener(router.listener) }
    try save()
  }

  /// Saves on the context's isolation, and rolls back when that fails.
  func performObservedSave(for router: ObservationRouter) async throws {
    try await perform {
      do {
        try self.save(for: router)
      } catch {
        self.rollback()
        throw error
      }
    }
  }
}
