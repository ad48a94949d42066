import CDESQLite
import CDEStore
import Dispatch
import Foundation
@_spi(CDE) internal import CDEExecutors

/// Copies the write-ahead log into the file, outside of saves.
///
/// After a commit that leaves a long log, a passive checkpoint runs on a background queue over its own
/// connection. Commits continue meanwhile, so the checkpoint does not copy the whole log. The writer copies
/// the rest after its next commit and waits briefly for running reads, so that the log can start again. A
/// long log would make all reads slower. If a read runs too long for that, the writer waits longer when the
/// log has reached the hard limit.
///
/// The copy runs in the background only while a processor is free. If the number of running reads equals the
/// number of other processors, the background copy would make the reads slower, and concurrent commits would
/// also invalidate their pages. In this case the writer makes the copy.
final class Checkpointer: Sendable {
  /// Milliseconds that a commit waits for running reads at the soft and at the hard limit.
  private static let (softPatience, hardPatience): (Int32, Int32) = (3, 100)

  /// The lengths of the log, in pages, at which it is copied, and the number of processors.
  struct Limits: Sendable, Hashable {
    var soft: Int32 = 4_000
    var hard: Int32 = 16_000
    /// The number of processors that writer, readers and the copy share.
    var processors = ProcessInfo.processInfo.activeProcessorCount
  }

  private enum Phase {
    case idle
    /// The background queue copies the log.
    case copying
    /// The background queue has copied the log. The writer copies the rest.
    case copied
  }

  private struct State {
    var phase = Phase.idle
    var isStopped = false
    /// Whether the reported commit is this object's own.
    var isMarking = false
    var nextSoftLimit: Int32
    var nextHardLimit: Int32
  }

  private let uri: String
  private let busyTimeout: Int32
  private let limits: Limits
  private let pool: ConnectionPool
  private let file: FileIdentity?
  private let firstPage: FirstPage
  private let state: Lock<State>
  private let running = DispatchGroup()

  init(
    uri: String, busyTimeout: Int32, limits: Limits, pool: ConnectionPool, file: FileIdentity?,
    firstPage: FirstPage
  ) {
    self.uri = uri
    self.busyTimeout = busyTimeout
    self.limits = limits
    self.pool = pool
    self.file = file
    self.firstPage = firstPage
    state = Lock(State(nextSoftLimit: limits.soft, nextHardLimit: limits.hard))
  }

  /// Makes the writing connection report the log's length after each commit.
  func watch(_ writer: OpaquePointer) {
    sqlite3_wal_hook(
      writer,
      { context, handle, _, pages in
        Unmanaged<Checkpointer>.fromOpaque(context!).takeUnretainedValue().notice(pages, on: handle!)
        // A failed checkpoint is no failed commit. The next checkpoint tries again.
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private enum Step { case nothing, copy, copyHere, restart }

  private func notice(_ pages: Int32, on writer: OpaquePointer) {
    let step: Step = state.withLock { state in
      if state.isMarking { return .nothing }
      if pages < limits.soft {
        // The log started again, so there is no rest to copy.
        if state.phase == .copied { state.phase = .idle }
        state.nextSoftLimit = limits.soft
        state.nextHardLimit = limits.hard
        return .nothing
      }
      if state.isStopped { return .nothing }
      // A long read may prevent the log from starting again. A try at each commit would make all commits
      // slower.
      if pages >= state.nextHardLimit {
        state.nextHardLimit = pages &+ limits.hard
        return .restart
      }
      switch state.phase {
      case .idle where pages >= state.nextSoftLimit:
        state.nextSoftLimit = pages &+ limits.soft
        if pool.readCount >= limits.processors - 1 { return .copyHere }
        state.phase = .copying
        return .copy
      case .copied:
        state.phase = .idle
        return .copyHere
      case .idle, .copying: return .nothing
      }
    }
    if step != .nothing { mark(writer) }
    switch step {
    case .nothing: break
    case .copy: DispatchQueue.global(qos: .utility).async(group: running) { self.run() }
    case .copyHere: restart(writer, patience: Self.softPatience)
    case .restart: restart(writer, patience: Self.hardPatience)
    }
  }

  /// Writes the first page before a copy.
  ///
  /// A copy in the background may begin some commits later. The writer's own copy follows at once.
  func mark(_ writer: OpaquePointer) {
    state.withLock { $0.isMarking = true }
    sqlite3_busy_timeout(writer, 0)
    firstPage.commit(on: writer)
    sqlite3_busy_timeout(writer, busyTimeout)
    state.withLock { $0.isMarking = false }
  }

  private func restart(_ writer: OpaquePointer, patience: Int32) {
    // Two checkpoints at the same time disturb each other. The one in the background needs no lock held here.
    running.wait()
    pool.withoutHeldSnapshots {
      sqlite3_busy_timeout(writer, patience)
      sqlite3_wal_checkpoint_v2(writer, nil, SQLITE_CHECKPOINT_RESTART, nil, nil)
      sqlite3_busy_timeout(writer, busyTimeout)
    }
  }

  private func run() {
    if let connection = try? open() {
      sqlite3_exec(connection.handle, "PRAGMA synchronous = NORMAL", nil, nil, nil)
      sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
    state.withLock { $0.phase = .copied }
  }

  /// - Throws: also if the path now leads to another store, whose log must not be copied here.
  private func open() throws(StoreError) -> Connection {
    func connect() throws(StoreError) -> Connection {
      try Connection(uri: uri, flags: SQLITE_OPEN_READWRITE, busyTimeout: busyTimeout)
    }
    guard let file else { return try connect() }
    return try file.checked(connect)
  }

  /// Waits until no copy runs in the background. Not for a borrower of the writer.
  func waitForCopy() { running.wait() }

  /// Prevents further checkpoints and waits for a running one, because its connection would keep the log's
  /// file open.
  func stop() {
    state.withLock { $0.isStopped = true }
    running.wait()
  }
}
