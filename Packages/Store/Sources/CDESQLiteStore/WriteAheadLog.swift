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
}
