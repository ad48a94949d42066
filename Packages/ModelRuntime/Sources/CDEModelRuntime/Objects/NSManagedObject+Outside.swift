internal import CDEStore

// Uses outside of the context's isolation, where the context answers them instead of ending the program.
//
// Nothing that the isolation changes by reference is read there: neither row, overlay, registrar nor the kept ID. What is read are
// single words: the flags, the key, and what never changes while the object is in its context, which are the binding and the
// registry. The context's stores and the coordinator have locks of their own.
extension NSManagedObject {
  /// The object that answers a read; nil if this one may.
  @inline(never)
  final func standIn() -> NSManagedObject? { idOutside().flatMap { _cdStandIn(for: $0) } }

  /// Whether a write is refused.
  @inline(never)
  final func refusesWrite() -> Bool {
    guard let id = idOutside() else { return false }
    _cdRefusedWrite(to: id)
    return true
  }

  /// The object's ID, made anew, for a caller outside of the isolation; nil for any other.
  @inline(never)
  final func idOutside() -> NSManagedObjectID? {
    guard let context = _registry?.context, context.isUsedOutside else { return nil }
    let (binding, key) = (_binding, _key)
    let handle = key > 0 ? context.storeHandle(for: binding, key: key) : nil
    return NSManagedObjectID(binding: binding, key: key, store: handle)
  }
}
