@_spi(CDE) internal import CDEExecutors

/// Files of external values that no row of the store names any more, kept for those who read a state in which one does.
///
/// A store and its pinned states share one. Readers of other processes are not known: to them the file is missing.
final class RetiredFiles: Sendable {
  private struct State {
    var readers = 0
    var names: [String] = []
  }

  private let externals: ExternalStorage
  private let state = Lock(State())

  init(_ externals: ExternalStorage) { self.externals = externals }

  /// Removes files after the commit that no longer names them, or once no state before it is read.
  func remove(_ names: [String]) {
    if names.isEmpty { return }
    let isRead = state.withLock { state in
      if state.readers > 0 { state.names += names }
      return state.readers > 0
    }
    if !isRead { externals.remove(names) }
  }

  /// The files that wait for their readers.
  var kept: [String] { state.withLock { $0.names } }

  /// Keeps the files of later commits until the result is released. It has to begin before the state that is read does.
  func reading() -> Reading {
    state.withLock { $0.readers += 1 }
    return Reading(self)
  }

  private func end() {
    let names = state.withLock { state in
      state.readers -= 1
      guard state.readers == 0 else { return [String]() }
      defer { state.names = [] }
      return state.names
    }
    externals.remove(names)
  }

  final class Reading: Sendable {
    private let files: RetiredFiles
    fileprivate init(_ files: RetiredFiles) { self.files = files }
    deinit { files.end() }
  }
}
