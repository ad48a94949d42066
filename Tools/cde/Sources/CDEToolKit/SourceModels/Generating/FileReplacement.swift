import Foundation

/// Replaces the contents of files in one step, so that a reader sees the old text or the new one.
enum FileReplacement {
  /// - Throws: ``ToolError``.
  static func write(_ bytes: [UInt8], to url: URL) throws {
    // A link stays a link.
    let file = url.resolvingSymlinksInPath()
    let folder = file.deletingLastPathComponent()
    let temporary = folder.appendingPathComponent(".\(file.lastPathComponent).\(UUID().uuidString)")
    do {
      try Data(bytes).write(to: temporary)
      if let mode = try? FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: temporary.path)
      }
      guard rename(temporary.path, file.path) == 0 else {
        throw CocoaError(.fileWriteUnknown)
      }
    } catch {
      try? FileManager.default.removeItem(at: temporary)
      throw ToolError("\(url.path) can't be written. Check the permissions of its folder, and the space.")
    }
  }
}
