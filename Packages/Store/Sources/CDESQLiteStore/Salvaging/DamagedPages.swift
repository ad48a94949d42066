import CDEStore
import Foundation

/// The pages of a file that SQLite may refuse, read without SQLite, in the layout of https://sqlite.org/fileformat2.html.
///
/// Pages in the log replace those of the file, up to the log's last whole commit.
struct DamagedPages {
  /// How a page belongs to others, from the page map of a file with automatic vacuuming.
  enum Place: Hashable {
    case root
    case free
    /// Part of a long value.
    case overflow
    /// A page of a tree below another one.
    case child(of: Int)
  }

  let path: String
  let pageSize: Int
  /// The bytes of a page that are used.
  let usable: Int
  let count: Int
  let textEncoding: String.Encoding
  /// Whether the header on the first page can be read. Otherwise what it says is assumed to be as in all stores.
  let hasHeader: Bool
  let hasPageMap: Bool
  /// What is wrong with the file as a whole.
  private(set) var notes: [String] = []
  /// Pages on the list of free pages. Empty for a file with a page map, which says so itself.
  private(set) var listedFree: Set<Int> = []
  private let file: FileSystem.File
  private let log: DamagedLog?

  /// - Parameter trustsHeader: whether what the header says is used. Otherwise it counts as damaged.
  init(at path: String, in files: FileSystem, trustsHeader: Bool = true) throws(StoreError) {
    self.path = path
    let task = "Reading \(path)"
    let size = try StoreFile.size(path)
    guard size > 0 else {
      throw StoreError(
        .cannotOpen, "There is no store at \(path), or an empty one. Check the path.",
        cause: CocoaError(.fileReadNoSuchFile))
    }
    file = try files.open(path, for: .database, while: task)
    log = try DamagedLog(at: path + "-wal", in: files)
    var head = try file.read(upTo: 100, while: task)
    if let frame = log?.first { head = Array(frame.prefix(100)) }
    let raw = head.count == 100 ? Int(head[16]) << 8 | Int(head[17]) : 0
    let claimed = raw == 1 ? 65536 : raw
    hasHeader =
      trustsHeader && head.starts(with: Array("SQLite format 3\u{0}".utf8)) && claimed >= 512
      && claimed & (claimed - 1) == 0
    pageSize = hasHeader ? claimed : log?.pageSize ?? 4096
    if let log, log.pageSize != pageSize {
      throw StoreError(
        .unreadable,
        "The log \(path)-wal belongs to another file than \(path): its pages have another size. Move the log away to read the "
          + "file alone.")
    }
    let reserved = hasHeader ? Int(head[20]) : 0
    usable = pageSize - reserved >= 480 ? pageSize - reserved : pageSize
    textEncoding =
      switch hasHeader ? head.word(56) : 1 {
      case 2: .utf16LittleEndian
      case 3: .utf16BigEndian
      default: .utf8
      }
    hasPageMap = !hasHeader || head.word(52) > 0
    count = log?.pageCount ?? (size + pageSize - 1) / pageSize
    if !hasHeader {
      notes.append("The header of \(path) is damaged. Pages of \(pageSize) bytes and UTF-8 are assumed.")
    }
    if let log, log.isCut { notes.append("The log \(path)-wal ends early. Its whole commits are read.") }
    if try StoreFile.size(path + "-journal") > 0 {
      notes.append(
        "A journal \(path)-journal was left. The file may hold parts of a commit that was not completed.")
    }
    if hasHeader, !hasPageMap { readFreeList(from: Int(head.word(32))) }
  }

  /// Whether the header says something else than those of other stores do.
  var isUnusual: Bool {
    hasHeader
      && (pageSize != log?.pageSize ?? 4096 || usable != pageSize || textEncoding != .utf8 || !hasPageMap)
  }

  /// The bytes of a page; nil if the system can't read them.
  func page(_ number: Int) -> [UInt8]? {
    guard number > 0, number <= count else { return nil }
    if let log, let page = log.page(number) { return page }
    return try? file.read(pageSize, at: (number - 1) * pageSize, while: "Reading page \(number) of \(path)")
  }

  // MARK: The page map

  /// The page of the map with the entry of a page.
  private func mapPage(of number: Int) -> Int {
    let group = usable / 5 + 1
    let page = (number - 2) / group * group + 2
    return page == pendingPage ? page + 1 : page
  }

  /// The page with the bytes that SQLite locks. It has no content.
  private var pendingPage: Int { 0x4000_0000 / pageSize + 1 }

  /// Whether a page has content of its own: it is not part of the map, and not the page of the locks.
  func hasContent(_ number: Int) -> Bool {
    number == 1 || number != pendingPage && !(hasPageMap && mapPage(of: number) == number)
  }

  /// What the map says of a page; nil without a map, and for an entry that can't be true.
  func place(of number: Int, _ maps: inout [Int: [UInt8]]) -> Place? {
    guard hasPageMap, number > 2, number <= count else { return nil }
    let map = mapPage(of: number)
    let offset = 5 * (number - map - 1)
    if maps[map] == nil { maps[map] = page(map) ?? [] }
    guard let bytes = maps[map], offset >= 0, offset + 5 <= bytes.count else { return nil }
    let parent = Int(bytes.word(offset + 1))
    guard parent <= count else { return nil }
    switch bytes[offset] {
    case 1: return .root
    case 2: return .free
    case 3, 4: return .overflow
    case 5 where parent > 0 && parent != number: return .child(of: parent)
    default: return nil
    }
  }

  private mutating func readFreeList(from first: Int) {
    var (trunk, found) = (first, Set<Int>())
    while trunk > 0, found.insert(trunk).inserted, let bytes = page(trunk) {
      let leaves = min(Int(bytes.word(4)), usable / 4 - 2)
      for index in 0..<max(leaves, 0) { found.insert(Int(bytes.word(8 + 4 * index))) }
      trunk = Int(bytes.word(0))
    }
    listedFree = found
  }
}

/// The whole commits of a log, by the checksums of its frames.
struct DamagedLog {
  let pageSize: Int
  /// The number of the database's pages after the last commit.
  let pageCount: Int
  /// Whether frames follow that belong to no whole commit.
  let isCut: Bool
  private let file: FileSystem.File
  private let offsets: [Int: Int]

  /// - Returns: nil without a log, and for one without a whole commit.
  init?(at path: String, in files: FileSystem) throws(StoreError) {
    let size = try StoreFile.size(path)
    guard size >= WriteAheadLog.headerSize else { return nil }
    let task = "Reading the log \(path)"
    file = try files.open(path, for: .reading, while: task)
    let head = try file.read(WriteAheadLog.headerSize, at: 0, while: task)
    let bytesOfPage = Int(head.word(8))
    guard head.word(0) & ~1 == 0x377F_0682, bytesOfPage >= 512, bytesOfPage <= 65536,
      bytesOfPage & (bytesOfPage - 1) == 0
    else { return nil }
    var sums = LogChecksum(isBigEndian: head.word(0) & 1 == 1)
    sums.add(head[..<24])
    guard sums.words == [head.word(24), head.word(28)] else { return nil }
    var offset = WriteAheadLog.headerSize
    var (pending, committed) = ([Int: Int](), [Int: Int]())
    var lastCount = 0
    while offset + 24 + bytesOfPage <= size {
      let frame = try file.read(24 + bytesOfPage, at: offset, while: task)
      guard frame[8..<16] == head[16..<24] else { break }
      sums.add(frame[..<8])
      sums.add(frame[24...])
      guard sums.words == [frame.word(16), frame.word(20)] else { break }
      pending[Int(frame.word(0))] = offset + 24
      if frame.word(4) > 0 {
        committed.merge(pending) { $1 }
        pending = [:]
        lastCount = Int(frame.word(4))
      }
      offset += 24 + bytesOfPage
    }
    guard lastCount > 0 else { return nil }
    pageSize = bytesOfPage
    pageCount = lastCount
    offsets = committed
    // Frames of an earlier use of the log may follow, so only an unfinished commit tells.
    isCut = !pending.isEmpty
  }

  func page(_ number: Int) -> [UInt8]? {
    offsets[number].flatMap { try? file.read(pageSize, at: $0, while: "Reading the log") }
  }

  var first: [UInt8]? { page(1) }
}

/// The running checksum of a log.
private struct LogChecksum {
  let isBigEndian: Bool
  private(set) var words: [UInt32] = [0, 0]

  init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { buffer in
      var (first, second) = (words[0], words[1])
      for offset in stride(from: 0, to: buffer.count - 7, by: 8) {
        let (one, two) = (
          buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self),
          buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        )
        first &+= (isBigEndian ? UInt32(bigEndian: one) : UInt32(littleEndian: one)) &+ second
        second &+= (isBigEndian ? UInt32(bigEndian: two) : UInt32(littleEndian: two)) &+ first
      }
      words = [first, second]
    }
  }
}
