import CDESQLite
import CDEStore
import Dispatch
import Foundation
@_spi(CDE) internal import CDEExecutors

/// Notices commits that other connections make to a store's file.
///
/// The system's events start a look: SQLite's `data_version` of the writing connection differs after commits of others.
/// The last write to a log precedes the publication of its commit, and both happen under the lock of the log's writer. So
/// when another process has that lock before a look, the look is repeated until the lock is free.
///
/// States: idle; looking, on a queue of its own; looking with events since, which looks once more; stopped. Events of own
/// commits start a look, too, which finds nothing.
final class OtherWriters: Sendable {
  private enum Phase { case idle, looking, lookingAgain, stopped }

  private struct State {
    var phase = Phase.stopped
    var registrations: [FileEvents.Registration] = []
    /// The index of the log; below zero without one.
    var index: Int32 = -1
    var look: (@Sendable () -> Bool)?
    /// Whether the store counts as a user of its file.
    var isOpen = true
  }

  /// What was seen last. Guard: used by the borrower of the writing connection alone.
  final class Seen: @unchecked Sendable {
    // Guard: the lock of the pool's writer.
    var version: Int64 = 0
    var transaction: Int64 = 0
    /// Later transactions of this store itself.
    var own: Set<Int64> = []
    var isObserved = false
  }

  private struct Files {
    /// The number of open stores for each file.
    var stores: [FileIdentity.Key: Int] = [:]
    /// Stores that notice commits.
    var observers: [(file: FileIdentity.Key, owner: ObjectIdentifier, notice: @Sendable () -> Void)] = []
  }

  private static let files = Lock(Files())

  let seen = Seen()
  let file: FileIdentity?
  private let state = Lock(State())
  private let queue = DispatchQueue(label: "CDEStore.OtherWriters", qos: .userInitiated)

  // A commit of another process takes at least as long; a long one is looked at twenty times a second.
  private static let (firstDelay, lastDelay): (Int, Int) = (1, 50)

  init(file: FileIdentity?) {
    self.file = file
    if let key = file?.key { Self.files.withLock { $0.stores[key, default: 0] += 1 } }
  }

  deinit {
    // Connections of a store that was not closed may be freed later.
    stop(readsRun: true)
    didClose()
  }

  /// Starts to look. Called once.
  ///
  /// - Parameter look: looks at the file; true if there were commits of others.
  /// - Returns: why commits may not be noticed.
  func start(usesLog: Bool, _ look: @escaping @Sendable () -> Bool) -> String? {
    guard let file else { return nil }
    state.withLock { state in
      state.phase = .idle
      state.look = look
      if usesLog { state.index = cde_open_for_looking(file.path + "-shm") }
    }
    Self.files.withLock {
      $0.observers.append((file.key, ObjectIdentifier(self), { [weak self] in self?.notice() }))
    }
    var reason: String?
    for path in [file.path] + (usesLog ? [file.path + "-wal"] : []) {
      let registration = FileEvents.shared.observe(path, reason: &reason) { [weak self] in self?.notice() }
      if let registration { state.withLock { $0.registrations.append(registration) } }
    }
    if reason == nil, cde_is_in_remote_file_system(file.path) != 0 {
      reason = "The file system reports no changes that other machines make."
    }
    return reason
  }

  /// Ends the observation, before the connections are closed.
  ///
  /// - Parameter readsRun: whether connections are still in use. Their locks would be lost if a descriptor of the log's index
  ///   was closed, so it stays open then.
  func stop(readsRun: Bool) {
    let registrations = state.withLock { state in
      defer {
        state.registrations = []
        state.look = nil
        state.phase = .stopped
        if readsRun { state.index = -1 }
      }
      return state.registrations
    }
    for registration in registrations { FileEvents.shared.remove(registration) }
    Self.files.withLock { files in files.observers.removeAll { $0.owner == ObjectIdentifier(self) } }
  }

  /// Called after the connections were closed. While another store of the process uses the file, the descriptor of the log's
  /// index stays open.
  func didClose() {
    guard let key = file?.key else { return }
    let (index, wasOpen) = state.withLock { state in
      defer {
        state.index = -1
        state.isOpen = false
      }
      return (state.index, state.isOpen)
    }
    guard wasOpen else { return }
    let left = Self.files.withLock { files in
      let left = (files.stores[key] ?? 1) - 1
      files.stores[key] = left > 0 ? left : nil
      return left
    }
    if left == 0, index >= 0 { close(index) }
  }

  // MARK: Commits

  /// Notes a commit of this store, under the lock of the writing connection.
  func noteOwn(_ number: Int64?) {
    if let number, seen.isObserved { seen.own.insert(number) }
    guard let key = file?.key else { return }
    let others = Self.files.withLock { files in
      files.observers.isEmpty
        ? [] : files.observers.filter { $0.file == key && $0.owner != ObjectIdentifier(self) }.map(\.notice)
    }
    // The lock of the log does not tell stores of one process apart.
    for notice in others { notice() }
  }

  /// Starts a look, or another one after the current one.
  private func notice() {
    let starts = state.withLock { state in
      switch state.phase {
      case .stopped, .lookingAgain: return false
      case .looking:
        state.phase = .lookingAgain
        return false
      case .idle:
        state.phase = .looking
        return true
      }
    }
    if starts { queue.async { self.look(delay: Self.firstDelay) } }
  }

  private func look(delay: Int) {
    guard let (look, index) = state.withLock({ state in state.look.map { ($0, state.index) } }) else {
      return
    }
    let wasLocked = index >= 0 && cde_log_is_locked_by_others(index) != 0
    let found = look()
    // What was found may be an earlier commit than the one that is under way.
    if wasLocked {
      let next = found ? Self.firstDelay : min(delay * 2, Self.lastDelay)
      queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { self.look(delay: next) }
      return
    }
    let again = state.withLock { state in
      switch state.phase {
      case .stopped: return false
      case .lookingAgain:
        state.phase = .looking
        return true
      case .looking, .idle:
        state.phase = .idle
        return false
      }
    }
    if again { queue.async { self.look(delay: Self.firstDelay) } }
  }
}
