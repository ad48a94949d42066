@_spi(CDE) public import CDEModelRuntime
internal import Synchronization

extension NSModelActor {
  /// Saves the actor's context so that readers wake exactly, once the save is merged into the domain's view
  /// context.
  ///
  /// Runs without suspending: no other job of the actor can slip a change into this save.
  ///
  /// - Throws: what `save()` throws; the context keeps its changes.
  public func saveObservedChanges(in observation: CDEObservationDomain) async throws {
    try modelContext.save(for: observation.router)
  }
}

extension NSMainModelActor {
  /// Saves `viewContext`. The domain observes that context's own saves anyway; this is for symmetry with
  /// model actors.
  ///
  /// - Throws: what `save()` throws; the context keeps its changes.
  public func saveObservedChanges(in observation: CDEObservationDomain) throws {
    try modelContext.save()
  }
}

extension _NSModelActorInitializable {
  /// Makes the actor over the domain's container, with a background context whose saves wake readers exactly.
  ///
  /// The actor keeps the domain, and its registration with it, until its own end, on whatever thread that
  /// comes. If the domain is invalidated before, the actor goes on as one of an unregistered context.
  @MainActor
  public init(observationDomain: CDEObservationDomain) {
    self.init(container: observationDomain.modelContainer)
    modelExecutor.attachments.attach(
      DomainBond(
        domain: observationDomain,
        registration: observationDomain.registerChangeProducer(context: modelExecutor.context)))
  }

  /// Saves the actor's context; readers wake exactly if the actor was made with `init(observationDomain:)`.
  ///
  /// For an actor made otherwise it is a plain save, with a warning once in the process.
  ///
  /// - Throws: what `save()` throws; the context keeps its changes.
  public func saveObservedChanges() async throws {
    if modelExecutor.attachments.attached(DomainBond.self) == nil {
      UnboundSaveWarning.report(Self.self)
    }
    try modelContext.save()
  }
}

/// Keeps a domain, and an actor's registration with it, as long as the actor.
private final class DomainBond: Sendable {
  let domain: CDEObservationDomain
  let registration: CDEObservationProducerRegistration

  init(domain: CDEObservationDomain, registration: CDEObservationProducerRegistration) {
    self.domain = domain
    self.registration = registration
  }

  deinit { registration.invalidate() }
}

private enum UnboundSaveWarning {
  private static let wasReported = Atomic(false)

  static func report(_ type: any NSModelActor.Type) {
    if wasReported.exchange(true, ordering: .relaxed) { return }
    Diagnostics.report(
      "saveObservedChanges() was called on \(type), which was made without an observation domain: the save "
        + "wakes readers of all properties. Make the actor with init(observationDomain:), or call "
        + "saveObservedChanges(in:).")
  }
}
