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
    return try copy(url, to: folder)
  }

  /// Copies a store into a folder that does not exist yet. Unlike a copy by SQLite, it makes no files beside the store.
  ///
  /// - Returns: the copy of the store's file. It has the name of the file that a symbolic link leads to.
  /// - Throws: ``ToolError`` if an app keeps writing while the files are copied.
  @discardableResult
  static func copy(_ link: URL, to folder: URL) throws(ToolError) -> URL {
    // The log and the external values are beside the file, not beside the link.
    let url = link.resolvingSymlinksInPath()
    let destination = folder.appendingPathComponent(url.lastPathComponent)
    for _ in 1...5 {
      let before = state(of: url)
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for suffix in suffixes where FileManager.default.fileExists(atPath: url.path + suffix) {
          try copyContent(of: url.path + suffix, to: destination.path + suffix)
        }
        let support = ExternalFiles.folder(of: url).deletingLastPathComponent()
        if FileManager.default.fileExists(atPath: support.path) {
          try copyFolder(support, to: folder.appendingPathComponent(support.lastPathComponent))
        }
      } catch {
        try? FileManager.default.removeItem(at: folder)
        throw ToolError(
          "The store can't be copied to \(folder.path): \(error.localizedDescription). Make room, or change the folder's permissions."
        )
      }
      if state(of: url) == before { return destination }
      try? FileManager.default.removeItem(at: folder)
    }
    throw ToolError("\(url.path) changes while it is copied. Close the app, or try again later.")
  }

  private static func copyFolder(_ folder: URL, to destination: URL) throws {
    try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let (item, copy) = (folder.appendingPathComponent(name), destination.appendingPathComponent(name))
      var isFolder = ObjCBool(false)
      _ = FileManager.default.fileExists(atPath: item.path, isDirectory: &isFolder)
      if isFolder.boolValue {
        try copyFolder(item, to: copy)
      } else {
        try copyContent(of: item.path, to: copy.path)
      }
    }
  }

  /// Copies the bytes of a file. Foundation's copy also gives the copy the owner of the file, which only that owner may do.
  private static func copyContent(of path: String, to destination: String) throws {
    let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? source.close() }
    guard
      FileManager.default.createFile(
        atPath: destination, contents: nil, attributes: [.posixPermissions: 0o600])
    else {
      throw CocoaError(.fileWriteNoPermission)
    }
    let copy = try FileHandle(forWritingTo: URL(fileURLWithPath: destination))
    while let bytes = try source.read(upToCount: 1 << 20), !bytes.isEmpty {
      try copy.write(contentsOf: bytes)
    }
    try copy.close()
  }

  private static let suffixes = ["", "-wal", "-journal"]

  private static func state(of url: URL) -> [String] {
    suffixes.map { suffix in
      let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
      return "\(attributes?[.size] ?? 0) \(attributes?[.modificationDate] as? Date ?? .distantPast)"
    }
  }
}
