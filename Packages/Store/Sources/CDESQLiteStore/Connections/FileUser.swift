import CDESQLite
@_spi(CDE) internal import CDEExecutors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A store's use of its file, from its opening until its last connection is closed.
///
/// A process loses all its locks on a file when it closes any descriptor of it. So the descriptor of a log's index is one for all stores of
/// the process that use the file, and is closed with the last of them.
final class FileUser: Sendable {
  private struct Users {
    var count = 0
    /// The index of the log; below zero without one.
    var index: Int32 = -1
  }

  private static let users = Lock<[FileIdentity.Key: Users]>([:])

  private let key: FileIdentity.Key

  init(_ key: FileIdentity.Key) {
    self.key = key
    Self.users.withLock { $0[key, default: Users()].count += 1 }
  }

  /// The descriptor of the log's index, opened at the first call; below zero without one. Open as long as this object exists, or until
  /// the log is another file.
  func index(at path: String) -> Int32 {
    Self.users.withLock { users in
      let known = users[key]?.index ?? -1
      if known >= 0, cde_is_at(known, path) != 0 { return known }
      // All connections were closed meanwhile, and a new log was begun.
      if known >= 0 { close(known) }
      let index = cde_open_for_looking(path)
      users[key]?.index = index
      return index
    }
  }

  deinit {
    Self.users.withLock { users in
      guard var left = users[key] else { return }
      left.count -= 1
      users[key] = left.count > 0 ? left : nil
      // Under the lock, so that no other store begins to use the descriptor.
      if left.count == 0, left.index >= 0 { close(left.index) }
    }
  }
}
