internal import CDEPredicates
internal import CDEStore

/// The unsaved values of an object at one moment, to compare later ones with.
struct FormerValues {
  enum Value {
    case single(_PropertyValue)
    /// What a to-many relationship gained and lost against the store.
    case members(added: [NSManagedObject], removed: [NSManagedObject])
  }

  private(set) var values: [SlotIndex: Value] = [:]

  init(_ overlay: Overlay) {
    for slot in overlay.changed {
      if let members = overlay.members(slot) {
        values[slot] = .members(added: members.added.objects, removed: members.removed.objects)
      } else {
        values[slot] = .single(overlay.values[slot])
      }
    }
  }
}

extension _PropertyValue {
  /// Whether another value is equal for code that sets it again.
  func isSame(as other: _PropertyValue) -> Bool {
    switch (self, other) {
    case (.unset, .unset), (.null, .null): true
    case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
    case (.object(let one), .object(let other)):
      one === other
        || (one.value as? AnyHashable).flatMap { one in (other.value as? AnyHashable).map { one == $0 } }
          == true
    case (.toOne(let one), .toOne(let other)): one === other
    default: constant(as: .undefined).map { $0 == other.constant(as: .undefined) } ?? false
    }
  }
}
