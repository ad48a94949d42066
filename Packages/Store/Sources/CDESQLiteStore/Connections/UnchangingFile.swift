import CDESQLite
import CDEStore

/// A file that is read without locks, because nothing should write to it, and its state when it was opened.
///
/// SQLite does not notice when such a file changes. It would then mix pages of several commits.
struct UnchangingFile: Sendable {
  let path: String
  private let files: FileSystem
  private let size: Int64
  private let seconds: Int64
  private let nanoseconds: Int64
  private let changes: UInt32

  /// Notes the state of a file.
  init(_ path: String, in files: FileSystem) throws(StoreError) {
    self.path = path
    self.files = files
    let status = try Self.status(of: path)
    (size, seconds, nanoseconds) = (status.size, status.seconds, status.nanoseconds)
    changes = try Self.changes(of: path, in: files)
  }

  private static func status(of path: String) throws(StoreError) -> cde_file_status {
    var status = cde_file_status()
    guard cde_file_status_at(path, &status) == 0 else {
      throw StoreError(.fileMoved, "The store's file \(path) is gone. Put it back, and open the store again.")
    }
    return status
  }

  /// SQLite's count of changes. It differs after a commit, also if size and time do not.
  private static func changes(of path: String, in files: FileSystem) throws(StoreError) -> UInt32 {
    let task = "Reading the head of \(path)"
    let head = try files.open(path, for: .database, while: task).read(28, at: 0, while: task)
    return head.word(24)
  }

  /// Checks size and time. Costs one system call.
  ///
  /// - Throws: `.fileChanged`, or `.fileMoved` if the file is gone.
  func check() throws(StoreError) {
    let status = try Self.status(of: path)
    guard status.size == size, status.seconds == seconds, status.nanoseconds == nanoseconds else {
      throw changed()
    }
  }

  /// Checks the count of changes as well, before the store is closed.
  func checkAtEnd() throws(StoreError) {
    try check()
    if try Self.changes(of: path, in: files) != changes { throw changed() }
  }

  /// Checks the file after a read. A change also explains a read that failed.
  func checking<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let result: R
    do throws(StoreError) { result = try body() } catch {
      try check()
      throw error
    }
    try check()
    return result
  }

  private func changed() -> StoreError {
    StoreError(
      .fileChanged,
      "\(path) was changed by another program after it was opened for reading only. No program used it then, so it was "
        + "read without locks. Close the store and open it again.")
  }
}

extension [UInt8] {
  /// Four bytes, in big-endian order.
  func word(_ offset: Int) -> UInt32 {
    self[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
