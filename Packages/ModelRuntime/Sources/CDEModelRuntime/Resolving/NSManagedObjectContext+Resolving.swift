internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  /// How often a save is tried again. Several rounds are needed when other writers commit in between, or when
  /// an object of a conflict takes values that another row has.
  private static let resolutionRounds = 10

  /// Continues a save that the store refused because of other writers.
  func resolveAndSave(_ first: [StoreSave], _ refusal: Refusal) throws {
    let resolution = ConflictResolution(in: self)
    var (saves, refusal) = (first, refusal)
    // Retained meanwhile, so that no other object gets the same address.
    let hooked = changed
    var called = Set(hooked.map(ObjectIdentifier.init))
    // No commit names the objects whose changes the policy dropped.
    defer { if !children.isEmpty { tellChildren(of: hooked) } }
    do {
      for _ in 0..<Self.resolutionRounds {
        try resolution.resolve(refusal, of: saves)
        try callWillSaveHooks(but: &called)
        // Resolved values must also be valid, and validation may change more objects.
        let objects = try collectValidated()
        if objects.isEmpty {
          // The store already has all values, or another writer's values stay.
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
        case .refused(let further, let reason): (saves, refusal) = (further, reason)
        }
      }
      throw ManagedObjectError.store(refusal.error)
    } catch {
      // The policy's changes stay in the objects.
      resolution.announceAlone()
      throw error
    }
  }
}
