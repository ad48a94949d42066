import Foundation

/// Copies of a store, made before it is written.
enum Backup {
  /// Copies a store with its log and its external values into a new folder beside it.
  ///
  /// - Returns: the copy of the store's file.
  static func make(of url: URL) throws(ToolError) -> URL {
    let stamp = DateText.text(Date()).prefix(19).replacingOccurrences(of: ":", with: "-")
    let folder = url.deletingLastPathComponent()
      .appendingPathComponent("\(url.lastPathComponent) \(stamp) \(UUID().uuidString.prefix(4)).backup")
    try copy(url, to: folder)
    return folder.appendingPathComponent(url.lastPathComponent)
  }

  /// Copies a store into a folder that does not exist yet. Unlike a copy by SQLite, it makes no files beside the store.
  ///
  /// - Throws: ``ToolError`` if an app keeps writing while the files are copied.
  static func copy(_ url: URL, to folder: URL) throws(ToolError) {
    let destination = folder.appendingPathComponent(url.lastPathComponent)
    for _ in 1...5 {
      let before = state(of: url)
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for suffix in suffixes where FileManager.default.fileExists(atPath: url.path + suffix) {
          try FileManager.default.copyItem(atPath: url.path + suffix, toPath: destination.path + suffix)
        }
        let support = ExternalFiles.folder(of: url).deletingLastPathComponent()
        if FileManager.default.fileExists(atPath: support.path) {
          try FileManager.default.copyItem(
            at: support, to: folder.appendingPathComponent(support.lastPathComponent))
        }
      } catch {
        try? FileManager.default.removeItem(at: folder)
        throw ToolError(
          "The store can't be copied to \(folder.path): \(error.localizedDescription). Make room, or change the folder's permissions."
        )
      }
      if state(of: url) == before { return }
      try? FileManager.default.removeItem(at: folder)
    }
    throw ToolError("\(url.path) changes while it is copied. Close the app, or try again later.")
  }

  private static let suffixes = ["", "-wal", "-journal"]

  private static func state(of url: URL) -> [String] {
    suffixes.map { suffix in
      let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
      return "\(attributes?[.size] ?? 0) \(attributes?[.modificationDate] as? Date ?? .distantPast)"
    }
  }
}
