internal import CDEStore

// How an object comes out of a save.
extension NSManagedObject {
  /// The object's changes were saved; `row` is its new row, if one was written.
  final func settle(_ row: RowReference?) {
    _flags.remove(.updated)
    if let row {
      _batch = row.batch
      _row = Int32(truncatingIfNeeded: row.row)
      _flags.remove(.fault)
    }
    let transient = withBinding(\.savedSlots.transient)
    if withOverlay({ $0.settle(but: transient) }) == true { dropOverlay() }
  }
}

extension Overlay {
  /// The changes were saved.
  ///
  /// - Returns: whether nothing is left that the row does not say.
  fileprivate func settle(but transient: PropertySet) -> Bool {
    if isCopy(but: transient) { return true }
    changed = PropertySet()
    for slot in 0..<count {
      switch values[slot] {
      case .unset, .object: continue
      case .toMany(let members): members.settle()
      default:
        if !transient.contains(slot) { values[slot] = .unset }
      }
    }
    return false
  }

  /// Whether every value is one that the row says as well, or will say.
  fileprivate func isCopy(but transient: PropertySet) -> Bool {
    for slot in 0..<count {
      switch values[slot] {
      case .unset: continue
      case .toMany, .object: return false
      default: if transient.contains(slot) { return false }
      }
    }
    return true
  }
}
