internal import CDEStore

// What a context keeps between two calls, by the work that it belongs to. Only that work's functions touch it, on the
// context's executor.

/// Announcing changes: when the next "objects did change" notification is posted.
struct Announcing {
  /// Whether a block that announces the changes waits in the executor's queue.
  var isScheduled = false
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
  /// Whether some object may remember one.
  var areRemembered = false
  /// Deleted objects with delete rules that wait for a read.
  var unfinishedDeletions: [NSManagedObject] = []
}

/// The hooks that a save calls before it writes.
struct SaveHooks {
  /// Whether they are being called, which notes what they change.
  var areRunning = false
  /// Objects that changed since their hook was called.
  var changed: [NSManagedObject] = []
  /// Properties of these objects that were set without a change meanwhile.
  var silenced: [ObjectIdentifier: PropertySet] = [:]
}

/// Merging other contexts' commits.
struct Merging {
  var isRunning = false
  /// The commits that an observed context has merged since its executor last became idle.
  var traces: [CommitTrace] = []
  /// Whether a block that forgets them waits in the executor's queue.
  var isEndScheduled = false
}
