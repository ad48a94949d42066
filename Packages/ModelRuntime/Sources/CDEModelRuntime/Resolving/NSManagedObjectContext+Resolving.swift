internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  /// How often a save is tried again. More than once is needed when other writers commit in between, or when
  /// an object in the way of one row takes values that another row has.
  private static let resolutionRounds = 10

  /// Continues a save that the store refused because of other writers.
  func resolveAndSave(_ first: BuiltSave, _ refusal: StoreError) throws {
    let resolution = ConflictResolution(in: self)
    var (save, refusal) = (first, refusal)
    // Retained meanwhile, so that no other object gets the identity of one of them.
    let hooked = changed
    var called = Set(hooked.map(ObjectIdentifier.init))
    defer { withExtendedLifetime(hooked) {} }
    do {
      for _ in 0..<Self.resolutionRounds {
        try resolution.resolve(refusal, of: save)
        try callWillSaveHooks(but: &called)
        // What was settled has to be valid, too, and validation may change more.
        let objects = try collectValidated()
        if objects.isEmpty {
          // The store has all values already, or another writer's values stay.
          forgetChanges()
          isSaving = false
          resolution.announceAlone()
          return
        }
        switch try commit(objects, completing: { resolution.mark(&$0) }) {
        case .committed(let committed):
          forgetChanges()
          isSaving = false
          announce(committed, Announced(), taken: resolution.announce())
          return
        case .refused(let further, let reason): (save, refusal) = (further, reason)
        }
      }
      throw ManagedObjectError.store(refusal)
    } catch {
      // What the policy settled before stays settled.
      resolution.announceAlone()
      throw error
    }
  }
}
