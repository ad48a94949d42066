public import Foundation

/// The folder for all files of this process's tests, so that no files are left behind.
///
/// It is in the temporary folder. The process removes it when it ends normally. The folder of a process that
/// dies is removed by the next process that ends. As a rule this is its parent, such as the parent of an exit
/// test.
@_spi(CDE) public enum ProcessFolder {
  private static let prefix = "cde-process-"
  private static let owner = getpid()

  /// The folder's URL. The folder is made at the first use.
  public static let url: URL = {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(prefix)\(owner)-\(UUID().uuidString)", isDirectory: true)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      fatalError("The folder for the files of tests can't be made: \(error)")
    }
    atexit { ProcessFolder.remove() }
    return folder
  }()

  /// The URL of a file in the folder that does not exist.
  ///
  /// - Parameter kind: the beginning of the name.
  public static func newURL(_ kind: String = "cde") -> URL {
    url.appendingPathComponent("\(kind)-\(UUID().uuidString)")
  }

  private static func remove() {
    // The child of a fork runs its parent's exit handlers.
    guard owner == getpid() else { return }
    try? FileManager.default.removeItem(at: url)
    let parent = url.deletingLastPathComponent()
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? [] {
      guard name.hasPrefix(prefix), let number = name.dropFirst(prefix.count).split(separator: "-").first,
        let process = pid_t(number), kill(process, 0) == -1, errno == ESRCH
      else { continue }
      try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
    }
  }
}
