import Foundation

/// Names folders for copies of stores. A command that is interrupted leaves its folder, and the next one removes it.
enum TemporaryFolder {
  private static let prefix = "cde-copy-"

  /// The place of a new folder, which the caller makes and removes.
  static func newURL() -> URL {
    sweep()
    return FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(prefix)\(getpid())-\(UUID().uuidString)")
  }

  /// Removes the folders of processes that are gone.
  private static func sweep() {
    let parent = FileManager.default.temporaryDirectory
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? [] {
      guard name.hasPrefix(prefix), let number = name.dropFirst(prefix.count).split(separator: "-").first,
        let process = pid_t(number), kill(process, 0) == -1, errno == ESRCH
      else { continue }
      try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
    }
  }
}
