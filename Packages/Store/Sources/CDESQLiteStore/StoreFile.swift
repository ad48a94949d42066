import CDEStore
import Foundation

/// A look at a store's file before SQLite touches it.
enum StoreFile {
  enum State { case missing, empty, filled }

  static func size(_ path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }

  /// Checks the file's head. SQLite would notice most of this later; by then it might have repaired or
  /// overwritten something.
  static func inspect(_ path: String, in files: FileSystem) throws(StoreError) -> State {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      let folder = (path as NSString).deletingLastPathComponent
      guard folder.isEmpty || FileManager.default.fileExists(atPath: folder) else {
        throw StoreError(.cannotOpen, "The folder \(folder) does not exist. Create it first.")
      }
      return .missing
    }
    if isFolder.boolValue {
      throw StoreError(.cannotOpen, "\(path) is a folder. Name a file in it.")
    }
    let task = "Reading the head of \(path)"
    let head = try files.open(path, for: .database, while: task).read(upTo: 100, while: task)
    if head.isEmpty { return .empty }
    func unreadable(_ reason: String) -> StoreError {
      StoreError(.unreadable, "\(path) \(reason) Restore it from a backup, or name another file.")
    }
    guard head.starts(with: Array("SQLite format 3\u{0}".utf8)) else {
      throw unreadable("is no SQLite file.")
    }
    guard head.count == 100 else { throw unreadable("is cut off in its header.") }
    func word(_ offset: Int) -> Int {
      head[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
    let raw = Int(head[16]) << 8 | Int(head[17])
    let pageSize = raw == 1 ? 65536 : raw
    guard pageSize >= 512, pageSize & (pageSize - 1) == 0 else {
      throw unreadable("has a damaged header.")
    }
    guard head[19] <= 2, word(44) <= 4 else {
      throw unreadable("was written by a newer SQLite than this one.")
    }
    // The header's size counts only when it is as new as the rest. A log may hold what the file lacks, and a
    // journal what the header was before a commit that its process did not live to finish.
    let isCurrent = word(24) == word(92)
    let standsAlone = size(path + "-wal") == 0 && size(path + "-journal") == 0
    if isCurrent, standsAlone, size(path) < word(28) * pageSize {
      throw unreadable("is cut off: \(size(path)) bytes of \(word(28) * pageSize).")
    }
    return .filled
  }
}
