/// What may go wrong with one step.
public enum StoreFault: String, Sendable, Hashable, CaseIterable {
  /// A write finds no room; nothing of it is written.
  case diskFull
  /// Any step fails as it does when a disk or a network drive is broken.
  case ioError
  /// A write ends after half of its bytes, with an I/O error. A write of at most 512 bytes at the head of
  /// a file is not cut in two: nothing of it is written.
  case tornWrite
  /// A lock is refused, as if another process had it. The call does not wait: SQLite's busy
  /// timeout passes at once.
  case busy
  /// The process dies before the step. Nothing gets into the store's files any more, and every call fails: that
  /// of connections that were open for good, that of new ones until ``StoreFaults/end()`` or
  /// ``StoreFaults/begin(_:)``.
  case crash
  /// The process dies in the midst of a write, half of whose bytes are written; nothing of one of at most
  /// 512 bytes at the head of a file.
  case crashInWrite

  /// Whether the fault can happen to such a step; plans leave out steps that it can't happen to.
  public func concerns(_ operation: StoreStep.Operation) -> Bool {
    switch self {
    case .diskFull, .tornWrite, .crashInWrite: operation == .write
    case .busy: operation == .lock || operation == .lockIndex
    case .ioError, .crash: true
    }
  }

  var isCrash: Bool { self == .crash || self == .crashInWrite }
}
