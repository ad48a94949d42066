import CDESQLite
import CDEStore
import Foundation

/// The identity of a connection's open file, by device and inode, to detect that its path leads to another
/// file.
///
/// A process that writes to a deleted file loses all data when it ends. If the file was replaced, later
/// openings do not see what the process writes. The inode of an open file is not used again, so equal numbers
/// mean the same file.
struct FileIdentity: Sendable, Equatable {
  let path: String
  /// Equal for two paths of the same file.
  struct Key: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  var key: Key { Key(device: device, inode: inode) }
  private let device: UInt64
  private let inode: UInt64

  /// - Returns: nil for memory, and for file systems that can't detect whether their files have moved.
  init?(of connection: Connection) {
    guard let name = sqlite3_db_filename(connection.handle, "main"), name.pointee != 0 else { return nil }
    var status = cde_file_status()
    // Checked before and after, so that the path led to the open file when its numbers were read.
    guard cde_sqlite3_file_has_moved(connection.handle) == 0, cde_file_status_at(name, &status) == 0,
      cde_sqlite3_file_has_moved(connection.handle) == 0
    else { return nil }
    path = String(cString: name)
    (device, inode) = (status.device, status.inode)
  }

  /// The file at a path that a connection reads, maybe through a copy.
  ///
  /// - Returns: nil if there is no file.
  init?(at path: String) {
    var status = cde_file_status()
    guard cde_file_status_at(path, &status) == 0 else { return nil }
    self.path = path
    (device, inode) = (status.device, status.inode)
  }

  /// Checks the path. Costs one system call, one or two microseconds.
  ///
  /// - Throws: `.fileMoved` if the path leads to no file or to another one.
  func check() throws(StoreError) {
    var status = cde_file_status()
    let code = cde_file_status_at(path, &status)
    guard code == 0, status.device == device, status.inode == inode else { throw moved(code) }
  }

  @inline(never)
  private func moved(_ code: Int32) -> StoreError {
    let reason =
      switch code {
      case 0: "is another file than the one that was opened"
      case ENOENT, ENOTDIR: "is gone"
      default: "can't be found any more (\(String(cString: strerror(code))))"
      }
    return StoreError(
      .fileMoved,
      "The store's file \(path) \(reason): it was deleted, renamed or replaced while the store was open. "
        + "Nothing was saved. Put the file back, or close the store and open it again.")
  }

  /// Opens a connection and checks that its file is the same.
  func checked(_ open: () throws(StoreError) -> Connection) throws(StoreError) -> Connection {
    let connection: Connection
    do throws(StoreError) {
      connection = try open()
    } catch {
      try check()
      throw error
    }
    if let other = FileIdentity(of: connection), other == self { return connection }
    throw moved(0)
  }
}
