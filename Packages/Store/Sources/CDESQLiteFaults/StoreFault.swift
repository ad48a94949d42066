/// A fault of one step.
public enum StoreFault: String, Sendable, Hashable, CaseIterable {
  /// There is no space for a write. Nothing of it is written.
  case diskFull
  /// A step fails with an I/O error, as with a broken disk or network drive.
  case ioError
  /// A write ends after half of its bytes, with an I/O error. A write of at most 512 bytes at the start of a
  /// file is not split: nothing of it is written.
  case tornWrite
  /// A lock is refused, as if another process held it. The call does not wait: SQLite's busy timeout ends at
  /// once.
  case busy
  /// The process dies before the step. Nothing more is written to the store's files, and all calls fail.
  /// Connections open at that time fail permanently. New connections fail until ``StoreFaults/end()`` or
  /// ``StoreFaults/begin(_:)``.
  case crash
  /// The process dies during a write, after half of its bytes. Nothing is written if the write has at most
  /// 512 bytes at the start of a file.
  case crashInWrite

  /// Whether the fault is possible for an operation. Plans skip steps for which it is not.
  public func concerns(_ operation: StoreStep.Operation) -> Bool {
    switch self {
    case .diskFull, .tornWrite, .crashInWrite: operation == .write
    case .busy: operation == .lock || operation == .lockIndex
    case .ioError, .crash: true
    }
  }

  var isCrash: Bool { self == .crash || self == .crashInWrite }
}
