import CDESQLite
import CDEStore
import Foundation

/// Checks a store's files before SQLite opens them.
///
/// SQLite treats an empty file as new and removes its log and journal. It skips a log with a damaged header
/// and continues as if the log were empty. In both cases commits are lost that could have been recovered.
/// Therefore both cases cause an error here, and no file changes.
struct StoreFile {
  enum State { case missing, empty, filled }

  let state: State
  /// The header of a log whose process died, never closed the store, or still uses it.
  let log: WriteAheadLog.Header?
  var hasLog: Bool { log != nil }
  /// Whether a rollback journal was left in the same way.
  let hasJournal: Bool
  /// The file's count of changes to the first page, without those in the log.
  private(set) var changes: UInt32 = 0
  /// Whether the file has a write-ahead log while it is in use.
  private(set) var usesLog = false
  private(set) var pageSize = 0

  /// Checks the headers of the file, its log and its journal.
  init(at path: String, in files: FileSystem) throws(StoreError) {
    // The log and the journal are checked first. While another process creates the store, they appear after
    // the file has content.
    log = try WriteAheadLog.header(at: path + "-wal", in: files)
    let journalled = try Self.journalledPages(at: path + "-journal", in: files)
    hasJournal = journalled != nil
    let head = try Self.head(path, in: files)
    // By the system's size, because SQLite treats a file of one byte as empty.
    let isEmpty = try Self.size(path) == 0
    state = head == nil ? .missing : isEmpty ? .empty : .filled
    guard let head, state == .filled else {
      try checkAlone(path, journalled)
      return
    }
    try check(head, path)
    if let log, log.pageSize != pageSize {
      throw StoreError(
        .unreadable,
        "The log \(path)-wal belongs to another file: its pages have \(log.pageSize) bytes, those of \(path) "
          + "\(pageSize). Restore both files from the same backup.")
    }
  }

  /// The size of a file; 0 when there is none.
  static func size(_ path: String) throws(StoreError) -> Int {
    var status = cde_file_status()
    let code = cde_file_status_at(path, &status)
    switch code {
    case 0: return Int(status.size)
    case ENOENT, ENOTDIR: return 0
    default:
      let (kind, remedy) =
        EngineError.classify(system: code)
        ?? (.cannotOpen, "Check that its folder may be read.")
      throw StoreError(kind, "\(path) can't be looked at: \(String(cString: strerror(code))). \(remedy)")
    }
  }

  /// The first bytes of the file; nil when there is none.
  private static func head(_ path: String, in files: FileSystem) throws(StoreError) -> [UInt8]? {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      let folder = (path as NSString).deletingLastPathComponent
      guard folder.isEmpty || FileManager.default.fileExists(atPath: folder) else {
        throw StoreError(
          .cannotOpen, "The folder \(folder) does not exist. Create it first.", engineCode: SQLITE_CANTOPEN)
      }
      return nil
    }
    if isFolder.boolValue {
      throw StoreError(
        .cannotOpen, "\(path) is a folder. Name a file in it.", engineCode: SQLITE_CANTOPEN)
    }
    let task = "Reading the head of \(path)"
    return try files.open(path, for: .database, while: task).read(upTo: 100, while: task)
  }

  /// The creation of a store can only leave an empty journal. SQLite makes a log when the file has content,
  /// and the journal of a creation contains no page.
  private func checkAlone(_ path: String, _ journalled: Int?) throws(StoreError) {
    guard hasLog || (journalled ?? 0) > 0 else { return }
    throw StoreError(
      .unreadable,
      "\(path) \(state == .missing ? "is missing" : "is empty"), but its "
        + "\(hasLog ? "log \(path)-wal" : "journal \(path)-journal") is there and may hold what is lost. Restore "
        + "the file from a backup; to begin anew, move both away.")
  }

  /// The number of the file's pages when its journal began.
  ///
  /// - Returns: nil when there is no journal, or an empty or finished one.
  private static func journalledPages(
    at path: String, in files: FileSystem
  ) throws(StoreError) -> Int? {
    guard try size(path) > 0 else { return nil }
    let task = "Reading the head of \(path)"
    let head: [UInt8]
    do throws(StoreError) {
      head = try files.open(path, for: .reading, while: task).read(upTo: 20, while: task)
    } catch {
      // Another process has completed its commit.
      if try size(path) == 0 { return nil }
      throw error
    }
    guard head.count == 20, head.starts(with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]) else {
      return nil
    }
    return Int(head.word(16))
  }

  private mutating func check(_ head: [UInt8], _ path: String) throws(StoreError) {
    func unreadable(_ reason: String) -> StoreError {
      StoreError(
        .unreadable, "\(path) \(reason) Restore it from a backup, or name another file.",
        engineCode: SQLITE_NOTADB)
    }
    guard head.starts(with: Array("SQLite format 3\u{0}".utf8)) else {
      throw unreadable("is no SQLite file.")
    }
    guard head.count == 100 else { throw unreadable("is cut off in its header.") }
    let raw = Int(head[16]) << 8 | Int(head[17])
    pageSize = raw == 1 ? 65536 : raw
    guard pageSize >= 512, pageSize & (pageSize - 1) == 0 else {
      throw unreadable("has a damaged header.")
    }
    guard head[19] <= 2, head.word(44) <= 4 else {
      throw unreadable("was written by a newer SQLite than this one.")
    }
    usesLog = head[19] == 2
    changes = head.word(24)
    // The size in the header is valid only if it is as new as the rest. A log may contain pages that the file
    // lacks. A journal may contain the header before a commit that its process did not complete.
    let isCurrent = changes == head.word(92)
    let size = try Self.size(path)
    if isCurrent, !hasLog, !hasJournal, size < Int(head.word(28)) * pageSize {
      throw unreadable("is cut off: \(size) bytes of \(Int(head.word(28)) * pageSize).")
    }
  }
}
