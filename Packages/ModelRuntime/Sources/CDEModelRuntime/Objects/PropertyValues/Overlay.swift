@_spi(CDE) internal import CDEExecutors
public import CDEStore
internal import Foundation

/// The values of an object outside its row: unsaved values, and values kept after a costly read.
///
/// Most objects have no overlay. Slots whose bit is set in `changed` are unsaved. Other slots are copies of
/// the row's values and may be dropped at any time. The values follow the header in one piece of memory,
/// because each new object has an overlay and drops it at the save.
@usableFromInline
final class Overlay: ManagedBuffer<OverlayHead, _PropertyValue> {
  static func make(count: Int) -> Overlay {
    let made = unsafeDowncast(
      Overlay.create(minimumCapacity: count) { _ in OverlayHead(count: count) }, to: Overlay.self)
    made.values.initialize(repeating: .unset, count: count)
    return made
  }

  deinit {
    if holdsObjects { ReleaseChain.release(values, count) } else { values.deinitialize(count: count) }
  }

  private var holdsObjects: Bool {
    for index in 0..<count {
      switch values[index] {
      case .toOne, .toMany: return true
      default: continue
      }
    }
    return false
  }

  // Guard of the referenced state: the executor of the object's context. The object retains the overlay
  // meanwhile.
  @inlinable @inline(__always)
  var head: UnsafeMutablePointer<OverlayHead> { withUnsafeMutablePointerToHeader { $0 } }

  @inlinable @inline(__always)
  var values: UnsafeMutablePointer<_PropertyValue> { withUnsafeMutablePointerToElements { $0 } }

  var count: Int { head.pointee.count }

  var slots: Range<SlotIndex> { SlotIndex(0)..<SlotIndex(count) }

  @inlinable var changed: PropertySet {
    @inline(__always) get { head.pointee.changed }
    @inline(__always) _modify { yield &head.pointee.changed }
  }

  /// Values decoded from stored ones, by slot.
  var decoded: [SlotIndex: DecodedValue] {
    get { head.pointee.decoded }
    _modify { yield &head.pointee.decoded }
  }

  /// External values whose files the object has read.
  var loadedFiles: PropertySet {
    get { head.pointee.loadedFiles }
    _modify { yield &head.pointee.loadedFiles }
  }

  /// Problems of the object's values; nil while there are none.
  var problems: ObjectProblems? {
    get { head.pointee.problems }
    set { head.pointee.problems = newValue }
  }

  /// Passes a value to a closure without a copy, which would retain its contents.
  ///
  /// - Precondition: the body does not use this slot, which is empty during the call.
  @inline(__always)
  func withValue<Result>(_ slot: SlotIndex, _ body: (borrowing _PropertyValue) -> Result) -> Result {
    let place = values + slot.rawValue
    let taken = place.move()
    defer { place.initialize(to: taken) }
    return body(taken)
  }

  /// The members of a to-many relationship, if the overlay has them.
  func members(_ slot: SlotIndex) -> ToManyMembers? {
    if case .toMany(let members) = values[slot] { return members }
    return nil
  }

  /// Slots whose value differs from the row's: the changed ones, and those that were set without a change.
  var unsaved: PropertySet { problems.map { changed.union($0.silent) } ?? changed }

  func dropKept() {
    decoded = [:]
    loadedFiles = PropertySet()
    let unsaved = unsaved
    for slot in slots where !unsaved.contains(slot) { values[slot] = .unset }
  }
}

extension UnsafeMutablePointer<_PropertyValue> {
  /// The value in a slot, without a copy.
  @inlinable
  subscript(slot: SlotIndex) -> _PropertyValue {
    @inline(__always) unsafeAddress { UnsafePointer(self + slot.rawValue) }
    @inline(__always) nonmutating unsafeMutableAddress { self + slot.rawValue }
  }
}

/// Releases the values of objects that are related to each other without a recursion as deep as their chain is long.
private struct ReleaseChain {
  private static let key = makeThreadSpecificKey()
  private static let limit = 100
  private var depth = 0
  /// Values that are released when the stack is short again.
  private var pending: [[_PropertyValue]] = []

  static func release(_ values: UnsafeMutablePointer<_PropertyValue>, _ count: Int) {
    if let outer = pthread_getspecific(key)?.assumingMemoryBound(to: ReleaseChain.self) {
      if outer.pointee.depth == limit {
        let moved = [_PropertyValue](unsafeUninitializedCapacity: count) { buffer, initialized in
          buffer.baseAddress?.moveInitialize(from: values, count: count)
          initialized = count
        }
        outer.pointee.pending.append(moved)
      } else {
        outer.pointee.depth += 1
        values.deinitialize(count: count)
        outer.pointee.depth -= 1
      }
      return
    }
    var chain = ReleaseChain()
    withUnsafeMutablePointer(to: &chain) { chain in
      pthread_setspecific(key, chain)
      values.deinitialize(count: count)
      while var next = chain.pointee.pending.popLast() { next.removeAll() }
      pthread_setspecific(key, nil)
    }
  }
}

@usableFromInline
struct OverlayHead {
  @usableFromInline var changed = PropertySet()
  let count: Int
  var decoded: [SlotIndex: DecodedValue] = [:]
  var loadedFiles = PropertySet()
  var problems: ObjectProblems?

  init(count: Int) { self.count = count }
}
