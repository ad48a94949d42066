import CDESQLite
import CDEStore
import Foundation
@_spi(CDE) internal import CDEExecutors

/// Calls blocks when files change. One thread of the process waits for the system's events.
///
/// Only Linux has such events.
final class FileEvents: Sendable {
  static let shared = FileEvents()

  private struct State {
    /// The descriptor of the system's events; below zero before the first use, and if there are none.
    var watch: Int32 = -1
    /// For each file's number the blocks.
    var listeners: [Int32: [UInt64: @Sendable () -> Void]] = [:]
    var nextListener: UInt64 = 0
  }

  private let state = Lock(State())

  // Without the pause each write of a file would wake this thread, and the thread that writes would wait for it where processors are few.
  // The first event after a pause is noticed at once.
  private static let pause = 0.001

  /// The registration of a block.
  struct Registration: Sendable {
    fileprivate let file: Int32
    fileprivate let listener: UInt64
  }

  /// Calls a block, on the thread of the events, when a file's content changes.
  ///
  /// - Returns: nil with the reason in `reason` if there are no events for the file.
  func observe(
    _ path: String, reason: inout String?, _ block: @escaping @Sendable () -> Void
  ) -> Registration? {
    state.withLock { state in
      if state.watch < 0 {
        state.watch = cde_watch_open()
        guard state.watch >= 0 else {
          reason = "This system reports no events of files: \(String(cString: strerror(errno)))."
          return nil
        }
        let watch = state.watch
        Thread.detachNewThread { self.run(watch) }
      }
      let file = cde_watch_add(state.watch, path)
      guard file >= 0 else {
        reason =
          errno == ENOSPC
          ? "The limit of watched files is reached (fs.inotify.max_user_watches). Raise it."
          : "\(path) can't be watched: \(String(cString: strerror(errno)))."
        return nil
      }
      state.nextListener += 1
      state.listeners[file, default: [:]][state.nextListener] = block
      return Registration(file: file, listener: state.nextListener)
    }
  }

  func remove(_ registration: Registration) {
    state.withLock { state in
      state.listeners[registration.file]?[registration.listener] = nil
      guard state.listeners[registration.file]?.isEmpty == true else { return }
      state.listeners[registration.file] = nil
      cde_watch_remove(state.watch, registration.file)
    }
  }

  private func run(_ watch: Int32) {
    var files = [Int32](repeating: 0, count: 256)
    while true {
      let count = cde_watch_read(watch, &files, Int32(files.count))
      if count < 0 { return }
      let changed = Set(files[..<Int(count)])
      let blocks = state.withLock { state in
        // Events were lost, so any file may have changed.
        let affected = changed.contains(-1) ? Set(state.listeners.keys) : changed
        return affected.flatMap { state.listeners[$0].map { Array($0.values) } ?? [] }
      }
      for block in blocks { block() }
      // Writes to the same file that follow each other are one event of the next read.
      Thread.sleep(forTimeInterval: Self.pause)
    }
  }
}
