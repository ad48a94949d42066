@_spi(CDE) internal import CDEExecutors
internal import CDEStore

// The state that a context keeps between two calls, grouped by task. Only the functions of a task use its
// state, on the context's executor.

/// What happened since the last "objects did change" notification.
struct PendingChanges {
  var objects: [NSManagedObject] = []
  var refreshed: [NSManagedObject] = []
  var deletedByMerge: [NSManagedObject] = []
  /// Objects named as inserted that are not new: other writers inserted them, or their deletion was undone.
  var appeared: [NSManagedObject] = []
  /// New objects that were announced, and then deleted before they were saved.
  var forgotten: [NSManagedObject] = []
  var isMerge = false

  var isEmpty: Bool {
    objects.isEmpty && refreshed.isEmpty && deletedByMerge.isEmpty && appeared.isEmpty
      && forgotten.isEmpty
  }
}

/// The state of announcements: when the next "objects did change" notification is posted.
struct Announcing {
  /// Whether a block that announces the changes waits in the executor's queue.
  var isScheduled = false
  /// The executor of the code that the context belongs to, if that is another one than the context's.
  var elsewhere: ContextExecutor?
  /// The number of announcements so far.
  var count = 0
  /// How many blocks of `perform` and its variants are running, one inside the other.
  var blockDepth = 0
}

/// Reads that failed where no error could be thrown.
struct FailedReads {
  /// The error of the last one since the current save began.
  var last: StoreError?
  /// Whether the current save or deletion repeats reads that fail.
  var areRepeated = false
  /// Whether any object may remember one.
  var areRemembered = false
  /// Deleted objects with delete rules that wait for a read.
  var unfinishedDeletions: [NSManagedObject] = []
}

/// The state of the hooks that a save calls before it writes.
struct SaveHooks {
  /// Whether the hooks are running. Objects that change meanwhile are then noted.
  var areRunning = false
  /// Objects that changed since their hook was called.
  var changed: [NSManagedObject] = []
  /// Properties of these objects that were set without a change while the hooks ran.
  var silenced: [ObjectIdentifier: PropertySet] = [:]
}

/// The state of merging other contexts' commits.
struct Merging {
  var isRunning = false
  /// The commits that an observed context has merged. A block at the end of the executor's queue drops them.
  var traces: [CommitTrace] = []
  /// Whether this block waits in the executor's queue.
  var isEndScheduled = false
  /// Whether a one-to-one relationship was changed since the last save. Rows that are read or merged may contradict it.
  var hasUnsavedPartners = false
  /// Objects with a new row that may contradict one, for the end of the current merge.
  var rivals: [NSManagedObject] = []
  /// Objects whose last unsaved change ended without a save, in a context with children.
  var ended: [NSManagedObject] = []
  /// Objects with other values whose hooks the end of the current merge calls.
  var awakened: [NSManagedObject] = []
  /// What the current merge brings to trackers; nil without trackers, and after they were told.
  var news: MergedNews?
}

/// Retains the last faults made for a while. Without it, a loop over to-one relationships would make and free
/// the same object repeatedly.
struct RecentFaults {
  private var ring: [NSManagedObject?] = []
  private var next = 0
  static let capacity = 1024

  mutating func keep(_ object: NSManagedObject) {
    if ring.count < Self.capacity {
      ring.append(object)
    } else {
      ring[next] = object
      next = (next + 1) % Self.capacity
    }
  }

  mutating func clear() {
    ring = []
    next = 0
  }
}

/// What a context has written, and whether it may.
struct ContextWrites {
  var count = 0
  var areRefused = false
  /// Whether a save writes earlier values of the store.
  var areRestored = false
}
