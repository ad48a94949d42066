public import Foundation

/// Names folders for copies of stores. A process that dies leaves its folder, and the next one removes it.
@_spi(CDE) public enum TemporaryFolder {
  /// The place of a new folder, which the caller makes and removes. Its name begins with the prefix and the number of the process.
  ///
  /// Folders with the prefix of processes that are gone are removed.
  ///
  /// - Parameter prefix: what the folder is for; it ends with a hyphen.
  public static func newURL(prefix: String) -> URL {
    sweep(prefix)
    return FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(prefix)\(getpid())-\(UUID().uuidString)")
  }

  private static func sweep(_ prefix: String) {
    let parent = FileManager.default.temporaryDirectory
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? [] {
      guard name.hasPrefix(prefix), let number = name.dropFirst(prefix.count).split(separator: "-").first,
        let process = pid_t(number), kill(process, 0) == -1, errno == ESRCH
      else { continue }
      try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
    }
  }
}
