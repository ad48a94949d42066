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
    /// Whose descriptor of the log's index is looked at; nil without a log.
    var log: FileUser?
    var look: (@Sendable () -> Bool)?
  }

  /// What was seen last. Guard: used by the borrower of the writing connection alone.
  final class Seen: @unchecked Sendable {
    // Guard: the lock of the pool's writer.
    var version = Version()
    var transaction: Int64 = 0
    /// Later transactions of this store itself.
    var own: Set<Int64> = []
    var isObserved = false
  }

  /// Differs after commits of others.
  struct Version: Equatable {
    /// SQLite's number, which counts for one connection.
    var number: Int64 = 0
    /// How often the connection was opened anew.
    var renewals = 0
  }

  private typealias Observer = (file: FileIdentity.Key, owner: ObjectIdentifier, notice: @Sendable () -> Void)

  /// Stores that notice commits.
  private static let observers = Lock<[Observer]>([])

  let seen = Seen()
  let file: FileIdentity?
  private let state = Lock(State())
  private let queue = DispatchQueue(label: "CDEStore.OtherWriters", qos: .userInitiated)

  // A commit of another process takes at least as long; a long one is looked at twenty times a second.
  private static let (firstDelay, lastDelay): (Int, Int) = (1, 50)

  init(file: FileIdentity?) { self.file = file }

  deinit { stop() }

  /// Starts to look. Called once.
  ///
  /// - Parameters:
  ///   - log: the use of a file with a log.
  ///   - isUnlocked: whether the file is read without locks, so that a log may be made later.
  ///   - look: looks at the file; true if there were commits of others.
  /// - Returns: why commits may not be noticed.
  func start(log: FileUser?, isUnlocked: Bool, _ look: @escaping @Sendable () -> Bool) -> String? {
    guard let file else { return nil }
    state.withLock { state in
      state.phase = .idle
      state.look = look
      state.log = log
    }
    Self.observers.withLock {
      $0.append((file.key, ObjectIdentifier(self), { [weak self] in self?.notice() }))
    }
    var reason: String?
    let watched =
      isUnlocked
      ? [(file.path as NSString).deletingLastPathComponent]
      : [file.path] + (log == nil ? [] : [file.path + "-wal"])
    for path in watched {
      let registration = FileEvents.shared.observe(path, reason: &reason) { [weak self] in self?.notice() }
      if let registration { state.withLock { $0.registrations.append(registration) } }
    }
    if reason == nil, cde_is_in_remote_file_system(file.path) != 0 {
      reason = "The file system reports no changes that other machines make."
    }
    return reason
  }

  /// Ends the observation, before the connections are closed.
  func stop() {
    let registrations = state.withLock { state in
      defer {
        state.registrations = []
        state.look = nil
        state.log = nil
        state.phase = .stopped
      }
      return state.registrations
    }
    for registration in registrations { FileEvents.shared.remove(registration) }
    Self.observers.withLock { observers in observers.removeAll { $0.owner == ObjectIdentifier(self) } }
  }

  // MARK: Commits

  /// Notes a commit of this store, under the lock of the writing connection.
  func noteOwn(_ number: Int64?) {
    if let number, seen.isObserved { seen.own.insert(number) }
    guard let key = file?.key else { return }
    let others = Self.observers.withLock { observers in
      observers.isEmpty
        ? [] : observers.filter { $0.file == key && $0.owner != ObjectIdentifier(self) }.map(\.notice)
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
    guard let (look, log) = state.withLock({ state in state.look.map { ($0, state.log) } }) else {
      return
    }
    let index = log?.index(at: (file?.path ?? "") + "-shm") ?? -1
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
