@_spi(CDE) internal import CDEExecutors
internal import Foundation

/// The folders of test stores in the temporary folder. Stores have the same names in each run, so a folder belongs to one process at a
/// time.
enum TestFolder {
  private static let chosen = Lock<[String: URL]>([:])

  /// The folder of that name. If another process uses it, or another user made it, one beside it, whose name ends with the number of this
  /// process.
  static func url(_ name: String) -> URL {
    let wanted = FileManager.default.temporaryDirectory.appendingPathComponent(name, isDirectory: true)
    return chosen.withLock { chosen in
      if let url = chosen[wanted.path] { return url }
      let url = isFree(wanted) ? wanted : ownFolder(beside: wanted)
      chosen[wanted.path] = url
      return url
    }
  }

  /// Takes a folder for this process, until that ends. A folder that can't be made counts as free: the store in it says why.
  private static func isFree(_ folder: URL) -> Bool {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      return true
    }
    let file = open(folder.appendingPathComponent(".lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if file < 0 { return false }
    // The system ends the lock with the process.
    if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
    close(file)
    return false
  }

  private static func ownFolder(beside folder: URL) -> URL {
    let prefix = folder.lastPathComponent + "-"
    let parent = folder.deletingLastPathComponent()
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    where name.hasPrefix(prefix) {
      // What processes left that have ended.
      guard let process = pid_t(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
        continue
      }
      try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
    }
    return parent.appendingPathComponent("\(prefix)\(getpid())", isDirectory: true)
  }
}
