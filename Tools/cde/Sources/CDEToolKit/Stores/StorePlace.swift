import CDESQLiteStore
import Foundation

/// Where a store is: a file, or a PostgreSQL server.
public enum StorePlace: Hashable, Sendable {
  case file(URL)
  case server(URL)

  /// Reads the place from a command line.
  ///
  /// - Throws: ``ToolError`` for another URL than a server's.
  public init(_ text: String) throws(ToolError) {
    if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
      guard let url = URL(string: text) else {
        throw ToolError("\(text) is no URL. Write postgresql://ROLE@HOST/DATABASE.", .usage)
      }
      self = .server(url)
      return
    }
    if text.hasPrefix("file://"), let url = URL(string: text) {
      self = .file(url)
      return
    }
    guard !text.contains("://") else {
      throw ToolError(
        "\(text) is no store. Name a file, or a server by postgresql://ROLE@HOST/DATABASE.", .usage)
    }
    self = .file(URL(fileURLWithPath: text))
  }

  /// The place as people read it. A password is left out.
  public var text: String {
    switch self {
    case .file(let url): return url.path
    case .server(let url):
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
      parts?.password = nil
      return parts?.string ?? "the server"
    }
  }

  /// How long the command waits while another program has a file locked, in seconds.
  static let timeout: TimeInterval = 2

  /// Reads what a file says of itself. It stays as it is.
  static func inspection(of url: URL) throws(ToolError) -> StoreInspection {
    do {
      return try SQLiteStore.inspection(
        SQLiteStore.Configuration(location: .file(path: url.path), busyTimeout: .seconds(timeout)))
    } catch {
      throw ToolError(error)
    }
  }

  /// What differs after a commit: numbers, times and sizes of the file and its log. The same for ever for a server.
  var stamp: [String] {
    guard case .file(let url) = self else { return [] }
    return ["", "-wal"].map { suffix in
      guard let facts = try? FileManager.default.attributesOfItem(atPath: url.path + suffix) else {
        return ""
      }
      let time = (facts[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
      return "\(facts[.systemFileNumber] ?? "") \(facts[.size] ?? "") \(time)"
    }
  }

  /// Refuses a file that this user may not read, which SQLite would call damaged.
  static func requireReadable(_ url: URL) throws(ToolError) {
    guard FileManager.default.isReadableFile(atPath: url.path) else {
      throw ToolError("\(url.path) may not be read. Change its permissions, or run the command as its owner.")
    }
  }

  /// Refuses what is no file with contents, before it is read.
  func check() throws(ToolError) {
    guard case .file(let url) = self else { return }
    var isFolder = ObjCBool(false)
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw ToolError("There is no store at \(url.path). Check the path.")
    }
    guard !isFolder.boolValue else {
      throw ToolError("\(url.path) is a folder. Name the store's file in it.")
    }
    try Self.requireReadable(url)
    let size = (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber)?.intValue
    if size == 0 {
      throw ToolError("\(url.path) is empty, so it is no store. An app fills it when it opens it.")
    }
  }
}
