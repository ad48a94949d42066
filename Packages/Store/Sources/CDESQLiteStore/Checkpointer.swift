import CDESQLite
import CDEStore
import Dispatch
import Foundation
import Synchronization

/// Moves the write-ahead log into the file, off the path of saves.
///
/// After a commit that leaves the log long, a passive checkpoint runs on a background queue over a connection of its
/// own. A log that grows faster than that is checkpointed by the writer itself.
final class Checkpointer: Sendable {
  // Pages of the log: 16 MB call for a checkpoint, at 256 MB saves have to wait for one.
  static let softLimit: Int32 = 4_000
  static let hardLimit: Int32 = 64_000

  private enum State { case idle, running, stopped }

  private let uri: String
  private let busyTimeout: Duration
  private let state = Mutex(State.idle)
  private let running = DispatchGroup()

  init(uri: String, busyTimeout: Duration) {
    self.uri = uri
    self.busyTimeout = busyTimeout
  }

  /// Asks the writing connection to report each commit's log.
  func watch(_ writer: OpaquePointer) {
    sqlite3_wal_hook(
      writer,
      { context, handle, _, pages in
        guard pages >= Checkpointer.softLimit else { return SQLITE_OK }
        if pages >= Checkpointer.hardLimit {
          sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        }
        Unmanaged<Checkpointer>.fromOpaque(context!).takeUnretainedValue().start()
        // A failed checkpoint is no failed commit; the next one tries again.
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func start() {
    let isFirst = state.withLock { state in
      guard state == .idle else { return false }
      state = .running
      return true
    }
    guard isFirst else { return }
    DispatchQueue.global(qos: .utility).async(group: running) { self.run() }
  }

  private func run() {
    if let connection = try? Connection(
      uri: uri, flags: SQLITE_OPEN_READWRITE, busyTimeout: busyTimeout)
    {
      sqlite3_exec(connection.handle, "PRAGMA synchronous = NORMAL", nil, nil, nil)
      sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
    state.withLock { if $0 == .running { $0 = .idle } }
  }

  /// Lets no further checkpoint start, and waits for one under way: its connection would keep the log's file.
  func stop() {
    state.withLock { $0 = .stopped }
    running.wait()
  }
}
