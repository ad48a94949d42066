import CDESQLite
import CDEStore

/// What a write-ahead log says of itself, laid out as https://sqlite.org/walformat.html has it.
enum WriteAheadLog {
  struct Header: Equatable {
    var pageSize: Int
    /// Two numbers that each frame of the log repeats.
    var salt: [UInt8]
  }

  static let headerSize = 32

  /// Reads the header of a log and checks it as SQLite does when it recovers a log.
  ///
  /// SQLite writes the 32 bytes by one call, before anything else, and a call is not cut in two by the death of
  /// its process: a log that was left is empty or has a whole header. The loss of power may cut it, but only in
  /// logs that hold no commit yet, as the header is on the disk before the first one counts.
  ///
  /// - Returns: nil when there is no log, or an empty one.
  /// - Throws: `.unreadable` for a header that SQLite would skip, together with all commits behind it.
  static func header(at path: String, in files: FileSystem) throws(StoreError) -> Header? {
    var reason = ""
    // Another process may be writing the header anew, and reading is not kept apart from writing.
    for attempt in 1...5 {
      guard try StoreFile.size(path) > 0 else { return nil }
      if attempt > 1 { files.pause() }
      let task = "Reading the head of \(path)"
      let head: [UInt8]
      do throws(StoreError) {
        head = try files.open(path, for: .reading, while: task).read(upTo: headerSize, while: task)
      } catch {
        // Another process has closed the store, and its log is in the file.
        if try StoreFile.size(path) == 0 { return nil }
        throw error
      }
      switch parse(head) {
      case .success(let header): return header
      case .failure(let flaw): reason = flaw.reason
      }
    }
    throw StoreError(
      .unreadable,
      "The log \(path) \(reason), so what was committed last can't be read. Restore the log together with its "
        + "file from a backup; without the log the store is the one of an earlier commit.")
  }

  private struct Flaw: Error { var reason: String }

  private static func parse(_ head: [UInt8]) -> Result<Header, Flaw> {
    guard head.count == headerSize else { return .failure(Flaw(reason: "is cut off in its header")) }
    guard head.word(0) & ~1 == 0x377F_0682 else { return .failure(Flaw(reason: "is no log of SQLite's")) }
    let pageSize = Int(head.word(8))
    var sums = (UInt32(0), UInt32(0))
    for offset in stride(from: 0, to: 24, by: 8) {
      // The lowest bit of the first word says in which order bytes were added up.
      let isBig = head.word(0) & 1 == 1
      sums.0 &+= (isBig ? head.word(offset) : head.word(offset).byteSwapped) &+ sums.1
      sums.1 &+= (isBig ? head.word(offset + 4) : head.word(offset + 4).byteSwapped) &+ sums.0
    }
    guard pageSize >= 512, pageSize <= 65536, pageSize & (pageSize - 1) == 0,
      sums.0 == head.word(24), sums.1 == head.word(28)
    else { return .failure(Flaw(reason: "has a damaged header")) }
    guard head.word(4) == 3_007_000 else {
      return .failure(Flaw(reason: "was written by another version of SQLite"))
    }
    return .success(Header(pageSize: pageSize, salt: Array(head[16..<24])))
  }

  // MARK: The log and its file

  /// Checks that the file is one that the log can continue, by their counts of changes to the first page.
  ///
  /// The count never falls from commit to commit. A file that has a greater one than its log's last was copied
  /// from more of the log than is left. A file that lacks more than one change before the log's first has not
  /// had a log before this one copied into it. Both are refused: with such a log SQLite would mix pages of
  /// several moments.
  ///
  /// - Parameters:
  ///   - found: the file's head, read after the log's header and before the connection began to read.
  ///   - path: the file's.
  ///   - connection: to the file, and to its log as SQLite has recovered it.
  static func check(
    fits found: StoreFile, _ path: String, on connection: Connection, in files: FileSystem
  ) throws(StoreError) {
    guard let header = found.log else { return }
    try connection.execute("BEGIN", while: "Opening the store")
    defer { connection.rollBack() }
    _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master", while: "Opening the store")
    guard let region = cde_wal_index_header(connection.handle) else { return }
    var index = cde_read_wal_header(region)
    // As https://sqlite.org/walformat.html lays it out; the salt is there as it is in the file. Another process
    // that has begun the log anew meanwhile is alive, and nothing is damaged.
    let (count, salt) = withUnsafeBytes(of: &index) {
      (Int($0.load(fromByteOffset: 16, as: UInt32.self)), Array($0[32..<40]))
    }
    guard count > 0, salt == header.salt else { return }
    let log = path + "-wal"
    guard let changes = try changes(in: log, header, frames: count, files) else { return }
    let reason: String
    if changes.last < found.changes {
      reason = "ends before what \(path) has of it already: it was cut or damaged, or is older than its file"
    } else if changes.first > UInt64(found.changes) + 1 {
      reason = "continues a newer file than \(path)"
    } else {
      return
    }
    throw StoreError(
      .unreadable,
      "The log \(log) \(reason). Opened together, they would mix rows of several commits. Restore both files from "
        + "the same backup.")
  }

  /// The counts of changes in the first and the last version of the first page that a log has.
  ///
  /// - Returns: nil when the log has none.
  private static func changes(
    in path: String, _ header: Header, frames: Int, _ files: FileSystem
  ) throws(StoreError) -> (first: UInt64, last: UInt64)? {
    let task = "Reading the log \(path)"
    let file = try files.open(path, for: .reading, while: task)
    func count(of frame: Int) throws(StoreError) -> UInt64? {
      let offset = headerSize + frame * (24 + header.pageSize)
      let head = try file.read(24, at: offset, while: task)
      guard head.word(0) == 1, Array(head[8..<16]) == header.salt else { return nil }
      return UInt64(try file.read(4, at: offset + 24 + 24, while: task).word(0))
    }
    for first in 0..<frames {
      guard let firstCount = try count(of: first) else { continue }
      for last in (first..<frames).reversed() {
        if let lastCount = try count(of: last) { return (firstCount, lastCount) }
      }
    }
    return nil
  }
}
