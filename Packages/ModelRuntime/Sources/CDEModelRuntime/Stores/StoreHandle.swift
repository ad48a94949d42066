@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEStore
internal import Dispatch
internal import Synchronization

/// One loaded store in the form that IDs and contexts use.
///
/// States: alone (no other store of its coordinator has held its entities; keys are the store's own) -> sharing (another one holds
/// or held some of them; keys are shifted, see `KeyShift`). A store that is added beside others is sharing from the start.
final class StoreHandle: @unchecked Sendable {
  // Guard: immutable except for the atomic flag, what locks protect, and the weak reference, which is set once, before the handle is
  // shared.

  /// The store with its own keys.
  let engine: any Store
  let identifier: String
  let observer: (any StoreActivityObserver)?
  /// Whether the coordinator posts a notification for each commit.
  let announcesChanges: Bool
  /// What is added to the store's own keys; nothing for the first store of its entities.
  let shift: KeyShift
  /// The store object that was made with this handle.
  weak var made: NSPersistentStore?
  /// The handle of the same store after it was removed and added again, which IDs of this handle name from then on.
  private let successor = Lock<StoreHandle?>(nil)
  private let shifted: ShiftedStore
  private let isSharing: Atomic<Bool>
  private let isObserved = Lock(false)
  private let isClosing = Lock(false)
  /// The reads for announcements of commits.
  private let announcements = DispatchGroup()

  init(
    _ store: any Store, observer: (any StoreActivityObserver)?, announcesChanges: Bool = false,
    shift: KeyShift = KeyShift(ordinal: 0)
  ) {
    engine = store
    self.announcesChanges = announcesChanges
    self.observer = observer
    self.shift = shift
    shifted = ShiftedStore(store, by: shift)
    isSharing = Atomic(shift.offset > 0)
    identifier = store.identifier
  }

  /// The store object of the coordinator; nil if it is freed.
  var persistentStore: NSPersistentStore? {
    guard let successor = successor.withLock({ $0 }) else { return made }
    return successor.persistentStore
  }

  /// Called after the same store was added again.
  func give(to successor: StoreHandle) { self.successor.withLock { $0 = successor } }

  /// The store in the keys that contexts use.
  var store: any Store { isSharing.load(ordering: .relaxed) ? shifted : engine }

  /// The place after a transaction, for an announcement. Without its time once the store is being closed.
  func announcedPlace(_ number: Int64) -> HistoryPlace {
    let isOpen = isClosing.withLock { isClosing in
      if !isClosing { announcements.enter() }
      return !isClosing
    }
    guard isOpen else { return HistoryPlace(number: number, time: nil) }
    defer { announcements.leave() }
    return historyPlace(number)
  }

  /// Closes the store. No announcement uses a connection afterwards, so that the file may be moved or opened exclusively.
  func close() throws(StoreError) {
    isClosing.withLock { $0 = true }
    // An observer of the store's requests may close it while such a read runs.
    if !Announcements.isCurrent { announcements.wait() }
    try store.close()
  }

  /// Called before another store gets some of the entities. Keys do not change, but those beyond the range are refused.
  func share() { isSharing.store(true, ordering: .relaxed) }

  /// Whether a key names a row of this store, if it names one of its entities.
  @inline(__always)
  func holds(_ key: Int64) -> Bool { !isSharing.load(ordering: .relaxed) || shift.contains(key) }

  /// The store's own key for a key of its coordinator.
  @inline(__always)
  func ownKey(_ key: Int64) -> Int64 { key > 0 ? key &- shift.offset : key }

  /// The key in the coordinator for one of the store's own; nil for one beyond the range.
  func key(_ own: Int64) -> Int64? {
    if own <= 0 { return own }
    let (key, overflows) = own.addingReportingOverflow(shift.offset)
    return !overflows && holds(key) ? key : nil
  }

  /// Whether the caller is the first to observe commits of other processes to the store.
  func beginObserving() -> Bool {
    isObserved.withLock { isObserved in
      defer { isObserved = true }
      return !isObserved
    }
  }
}
