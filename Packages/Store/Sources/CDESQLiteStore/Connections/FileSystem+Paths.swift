import CDESQLite
import CDEStore
import Foundation

extension FileSystem {
  /// The path under which SQLite opens a store's file: absolute, with all symbolic links followed. The file need not exist.
  ///
  /// SQLite keeps the log and the journal beside the file that links lead to, and opens that file only under this path. All that
  /// looks at a store's files therefore has to use it. The file system finds the path itself, as for SQLite.
  ///
  /// - Throws: `.cannotOpen` for links that lead to themselves, a path that leads through a file, and one that is too long for SQLite.
  func resolved(_ path: String) throws(StoreError) -> String {
    var code = SQLITE_OK
    let bytes = [CChar](unsafeUninitializedCapacity: Self.longestPath) { buffer, count in
      // A path that stays incomplete ends here.
      buffer.initialize(repeating: 0)
      count = buffer.count
      code = methods.pointee.xFullPathname(methods, path, Int32(buffer.count), buffer.baseAddress)
    }
    guard code == SQLITE_OK || code == Self.okWithLinks else { throw unresolved(path, code) }
    guard let result = bytes.withUnsafeBufferPointer({ String(validatingCString: $0.baseAddress!) }) else {
      throw StoreError(
        .cannotOpen, "\(path) leads to a name that is no UTF-8. Rename the file or folder that has it.",
        engineCode: SQLITE_CANTOPEN)
    }
    if result.utf8.count > limit { throw tooLong(result, of: path) }
    return result
  }

  /// The bytes that a path may have: SQLite appends `-journal` to it.
  private var limit: Int { Int(methods.pointee.mxPathname) - "-journal".utf8.count }

  // More than the system's longest path, so that the length of a path is known that SQLite refuses.
  private static let longestPath = 8_192
  // SQLITE_OK_SYMLINK, which only newer headers declare.
  private static let okWithLinks: Int32 = SQLITE_OK | 2 << 8

  private func tooLong(_ real: String, of path: String) -> StoreError {
    let count = real.utf8.count
    let place = real == path ? "" : " It leads to \(real)."
    return StoreError(
      .cannotOpen,
      "The path is too long: it has \(count) bytes, \(count - limit) more than the \(limit) that SQLite opens. Name a place with a "
        + "shorter path.\(place)",
      cause: CocoaError(.fileReadInvalidFileName), engineCode: SQLITE_CANTOPEN)
  }

  /// Why a path leads to no place where a file could be.
  private func unresolved(_ path: String, _ code: Int32) -> StoreError {
    // Asked anew: what the file system did after its failure may have changed the system's number.
    var status = cde_file_status()
    let system = cde_file_status_at(path, &status)
    func error(_ reason: String, cause: CocoaError.Code? = nil) -> StoreError {
      StoreError(
        .cannotOpen, reason, cause: cause.map { CocoaError($0) }, engineCode: SQLITE_CANTOPEN)
    }
    switch system {
    case ELOOP:
      return error(
        "The symbolic links at \(path) lead back to themselves, so there is no file. Make the link lead to a file, or name the "
          + "file itself.")
    case ENOTDIR:
      return error(
        "\(Self.file(on: path)) is a file and no folder. Name another place, or move that file away.")
    case EACCES, EPERM:
      return error(
        "\(path) can't be looked at: \(String(cString: strerror(system))). Change the permissions of the folders that lead to it.",
        cause: .fileReadNoPermission)
    case ENAMETOOLONG:
      let absolute =
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
      if absolute.utf8.count > limit { return tooLong(absolute, of: path) }
      return error(
        "\(path) has a name that is too long for the file system, which takes 255 bytes as a rule. Use a shorter name.",
        cause: .fileReadInvalidFileName)
    default:
      return EngineError.make(
        code, system: system, detail: String(cString: sqlite3_errstr(code)), while: "Looking for \(path)")
    }
  }

  /// The file that a path leads through as if it were a folder.
  private static func file(on path: String) -> String {
    var place = path as NSString
    while place.length > 1, !FileManager.default.fileExists(atPath: place as String) {
      place = place.deletingLastPathComponent as NSString
    }
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: place as String, isDirectory: &isFolder)
    // Where a link leads through a file, the link's own folder is one.
    return exists && !isFolder.boolValue ? place as String : "A part of the path \(path)"
  }
}
