public import Foundation

/// The folder for all files that the tests of this process make, so that they leave nothing behind.
///
/// It is in the temporary folder. The process removes it when it ends. A process that dies cannot: what it left is
/// removed by the next one that ends, which is as a rule the one that started it, such as the parent of an exit test.
@_spi(CDE) public enum ProcessFolder {
  private static let prefix = "cde-process-"
  private static let owner = getpid()

  /// Made at the first use.
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

  /// A name in the folder that no file has.
  ///
  /// - Parameter kind: how the name begins.
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
