public import CDEStore

/// What an object knows beyond its row: unsaved values, and values kept after a costly read.
///
/// Most objects never have one. Slots whose bit is set in `changed` are unsaved; others are copies
/// of what the row says and may be dropped at any time.
@usableFromInline
final class Overlay {
  @usableFromInline @exclusivity(unchecked) var changed: PropertySet = PropertySet()
  @usableFromInline let values: UnsafeMutablePointer<_PropertyValue>
  let count: Int
  /// Values decoded from what is stored, by slot.
  @exclusivity(unchecked) var decoded: [Int: DecodedValue] = [:]

  init(count: Int) {
    self.count = count
    values = .allocate(capacity: max(count, 1))
    values.initialize(repeating: .unset, count: count)
  }

  deinit {
    values.deinitialize(count: count)
    values.deallocate()
  }

  /// The members of a to-many relationship, if they are here.
  func members(_ slot: Int) -> ToManyMembers? {
    if case .toMany(let members) = values[slot] { return members }
    return nil
  }

  func dropKept() {
    decoded = [:]
    for slot in 0..<count where !changed.contains(slot) { values[slot] = .unset }
  }
}
