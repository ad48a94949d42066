import CDESQLite
import CDEStore

/// The fields of a write-ahead log that describe it, in the layout of https://sqlite.org/walformat.html.
enum WriteAheadLog {
  struct Header: Equatable {
    var pageSize: Int
    /// Two numbers that each frame of the log repeats.
    var salt: [UInt8]
  }

  static let headerSize = 32

  /// Reads the header of a log and checks it, as SQLite does when it recovers a log.
  ///
  /// SQLite writes the 32 bytes by one call, before anything else, and the death of a process does not split
  /// a call. A log that was left is therefore empty or has a complete header. A power failure may split the
  /// header, but only of logs without a commit, because the header is on the disk before the first commit.
  ///
  /// - Returns: nil when there is no log, or an empty one.
  /// - Throws: `.unreadable` for a header that SQLite would skip, together with all commits of the log.
  static func header(at path: String, in files: FileSystem) throws(StoreError) -> Header? {
    var reason = ""
    // Another process may be writing a new header, and reading is not synchronised with writing.
    for attempt in 1...5 {
      guard try StoreFile.size(path) > 0 else { return nil }
      if attempt > 1 { files.pause() }
      let task = "Reading the head of \(path)"
      let head: [UInt8]
      do throws(StoreError) {
        head = try files.open(path, for: .reading, while: task).read(upTo: headerSize, while: task)
      } catch {
        // Another process has closed the store, and the file contains the log.
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
      // The lowest bit of the first word gives the byte order of the checksum.
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

  /// Checks that the log continues the file, by their counts of changes to the first page.
  ///
  /// The count never decreases from one commit to the next. If the file's count is greater than the log's
  /// last one, the file was copied from a longer log. If the file's count is more than one below the log's
  /// first one, an earlier log was not copied into the file. Both are errors, because with such a log SQLite
  /// would mix pages of several moments.
  ///
  /// - Parameters:
  ///   - found: the file's header, read after the log's header and before the connection began to read.
  ///   - path: the path of the file.
  ///   - connection: the connection to the file and to its log after SQLite's recovery.
  static func check(
    fits found: StoreFile, _ path: String, on connection: Connection, in files: FileSystem
  ) throws(StoreError) {
    guard let header = found.log else { return }
    try connection.execute("BEGIN", while: "Opening the store")
    defer { connection.rollBack() }
    _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master", while: "Opening the store")
    guard let region = cde_wal_index_header(connection.handle) else { return }
    var index = cde_read_wal_header(region)
    // In the layout of https://sqlite.org/walformat.html. The salt has the same bytes as in the file. If
    // another process has started the log again meanwhile, it is alive, and nothing is damaged.
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

  /// The counts of changes in the first and the last version of the first page in a log.
  ///
  /// - Returns: nil when the log contains none.
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
