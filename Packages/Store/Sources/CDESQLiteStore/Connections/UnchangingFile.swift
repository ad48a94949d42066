import CDESQLite
import CDEStore

/// The files of a store that is read without locks, as they were when its connection was opened.
///
/// SQLite does not notice when such files change. It would mix pages of several commits, or miss those in a log.
struct UnchangingFile: Sendable {
  private struct State: Equatable {
    var inode: UInt64
    var size: Int64
    var seconds: Int64
    var nanoseconds: Int64
  }

  let path: String
  private let files: FileSystem
  /// The file, its log and its journal; nil for those that are missing.
  private let states: [State?]
  /// SQLite's count of changes in the file; nil for a copy, which no other program changes.
  private let changes: UInt32?

  private static let suffixes = ["", "-wal", "-journal"]

  /// Notes the state of the files. Called before the connection is opened, so that no change is missed.
  init(_ path: String, in files: FileSystem, isCopied: Bool = false) throws(StoreError) {
    self.path = path
    self.files = files
    states = try Self.states(of: path)
    changes = isCopied ? nil : try Self.changes(of: path, in: files)
  }

  private static func states(of path: String) throws(StoreError) -> [State?] {
    let states = suffixes.map { suffix in
      var status = cde_file_status()
      return cde_file_status_at(path + suffix, &status) != 0
        ? nil
        : State(
          inode: status.inode, size: status.size, seconds: status.seconds, nanoseconds: status.nanoseconds)
    }
    guard states[0] != nil else {
      throw StoreError(.fileMoved, "The store's file \(path) is gone. Put it back, and open the store again.")
    }
    return states
  }

  /// Whether a private copy of the files is read, which does not change with them.
  var isCopied: Bool { changes == nil }

  /// SQLite's count of changes. It differs after a commit, also if size and time do not.
  private static func changes(of path: String, in files: FileSystem) throws(StoreError) -> UInt32 {
    let task = "Reading the head of \(path)"
    let head = try files.open(path, for: .database, while: task).read(28, at: 0, while: task)
    return head.word(24)
  }

  /// Whether the files are the same, with the same sizes and times. Costs three system calls.
  ///
  /// - Throws: `.fileMoved` if the file is gone.
  func isCurrent() throws(StoreError) -> Bool { try Self.states(of: path) == states }

  /// Looks for a change that left sizes and times as they were, before the store is closed.
  ///
  /// - Throws: `.fileChanged`; `.fileMoved` if the file is gone.
  func checkAtEnd() throws(StoreError) {
    guard let changes, try isCurrent() else { return }
    if try Self.changes(of: path, in: files) != changes { throw changed() }
  }

  /// Checks the files after a read. A change also explains a read that failed.
  func checking<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let result: R
    do throws(StoreError) { result = try body() } catch {
      guard try isCurrent() else { throw changed() }
      throw error
    }
    guard try isCurrent() else { throw changed() }
    return result
  }

  private func changed() -> StoreError {
    StoreError(
      .fileChanged,
      "\(path) was changed by another program while it was read. No program was seen to use it, so it was read without "
        + "locks. Try again, or open the store for writing.")
  }
}

extension [UInt8] {
  /// Four bytes, in big-endian order.
  func word(_ offset: Int) -> UInt32 {
    self[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
