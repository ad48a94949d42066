import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("A log that is missing, cut or damaged")
struct LostLogTests {
  let scratch = Scratch()
  static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// The files of a store whose process was killed before its first checkpoint.
  func killed(rows: Int64 = 73) throws -> (files: [String: Data], identifier: String) {
    let store = try SQLiteStore.file(scratch.file("Live.sqlite"), Shop.schema)
    for key in 1...rows { try store.insert("Tag", [Draft(key: -key, values: ["name": .text("tag \(key)")])]) }
    var files: [String: Data] = [:]
    for suffix in Self.suffixes { files[suffix] = scratch.bytes("Live.sqlite\(suffix)") }
    let identifier = store.identifier
    try store.close()
    return (files, identifier)
  }

  func put(_ files: [String: Data]) {
    for suffix in Self.suffixes {
      try? FileManager.default.removeItem(atPath: scratch.file("Test.sqlite\(suffix)"))
      guard let bytes = files[suffix] else { continue }
      _ = FileManager.default.createFile(atPath: scratch.file("Test.sqlite\(suffix)"), contents: bytes)
    }
  }

  func found() -> [String: Data] {
    var files: [String: Data] = [:]
    for suffix in Self.suffixes { files[suffix] = scratch.bytes("Test.sqlite\(suffix)") }
    return files
  }

  /// Opens the files, and expects an error that names the log and leaves every byte.
  func expectRefusal(_ files: [String: Data], _ note: Comment) {
    for isReadOnly in [false, true] {
      put(files)
      let error = #expect(throws: StoreError.self, note) {
        try SQLiteStore.file(scratch.file(), Shop.schema) { $0.isReadOnly = isReadOnly }.close()
      }
      #expect(error?.code == .unreadable, note)
      #expect(error?.message.contains(scratch.file()) == true, note)
      #expect(found() == files, note)
    }
  }

  @Test("Tables and metadata are in the file itself before the store that made them is open")
  func created() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    let main = try #require(scratch.bytes())
    let identifier = store.identifier
    try store.close()
    put(["": main])
    let reopened = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.createsIfMissing = false }
    #expect(reopened.identifier == identifier)
    try reopened.insert("Tag", [Draft(key: -1)])
    try reopened.close()
    #expect(
      sql(scratch.file(), "PRAGMA auto_vacuum; PRAGMA page_size; PRAGMA journal_mode")
        == [["2"], ["4096"], ["wal"]])
  }

  @Test("Without its log, or with one cut behind its header, a store is the one it was at an earlier commit")
  func missing() throws {
    let (files, identifier) = try killed()
    let log = try #require(files["-wal"])
    for (length, rows) in [(nil, 0), (0, 0), (32, 0), (40, 0), (log.count - 1, 72), (log.count, 73)] {
      var damaged = files
      damaged["-wal"] = length.map { log.prefix($0) }
      put(damaged)
      let store = try SQLiteStore.file(scratch.file(), Shop.schema)
      #expect(store.identifier == identifier, "\(length.map(String.init) ?? "none")")
      #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == rows)
      try store.close()
    }
  }

  @Test("A log with a header that SQLite would skip is refused, and everything stays as it is")
  func damagedHeader() throws {
    let (files, identifier) = try killed()
    let log = try #require(files["-wal"])
    for offset in 0..<32 {
      var damaged = files
      var bytes = log
      bytes[offset] ^= 0x10
      damaged["-wal"] = bytes
      expectRefusal(damaged, "byte \(offset)")
    }
    for length in [1, 8, 20, 31] {
      var damaged = files
      damaged["-wal"] = log.prefix(length)
      expectRefusal(damaged, "\(length) bytes")
    }
    var zeros = files
    zeros["-wal"] = Data(count: log.count)
    expectRefusal(zeros, "zeros")
    // The right log makes it whole again.
    put(files)
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    #expect(store.identifier == identifier)
    #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 73)
    try store.close()
  }

  @Test("A log of a file with other pages is refused")
  func otherPages() throws {
    var (files, _) = try killed(rows: 1)
    let other = scratch.file("Other.sqlite")
    _ = sql(other, "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
    let holder = Holder(other)
    holder.run("INSERT INTO t VALUES (1); SELECT * FROM t")
    files["-wal"] = scratch.bytes("Other.sqlite-wal")
    withExtendedLifetime(holder) { expectRefusal(files, "1024 bytes a page") }
  }

  @Test("A log or journal without its file is refused, not taken for something left over")
  func orphans() throws {
    let (files, _) = try killed()
    for main in [nil, Data()] {
      var orphan = files
      orphan[""] = main
      if main == nil { orphan["-shm"] = nil }
      expectRefusal(orphan, "\(main == nil ? "missing" : "empty")")
    }
    // A journal with the pages of a file that is gone.
    let path = scratch.file("Plain.sqlite")
    _ = sql(path, "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(9000))")
    let holder = Holder(path)
    holder.run("PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN; UPDATE t SET x = randomblob(900000)")
    let journal = try #require(scratch.bytes("Plain.sqlite-journal"))
    #expect(journal.count > 4_096)
    for main in [nil, Data()] {
      expectRefusal(["": main, "-journal": journal].compactMapValues(\.self), "journal")
    }
    holder.run("ROLLBACK")
  }

  @Test(
    "A file that is not empty and has no tables is never taken for a new one", arguments: [true, false])
  func withoutTables(usesLog: Bool) throws {
    _ = sql(
      scratch.file(), "PRAGMA journal_mode = \(usesLog ? "WAL" : "DELETE"); CREATE TABLE t (x); DROP TABLE t")
    let main = try #require(scratch.bytes())
    for isReadOnly in [false, true] {
      let error = #expect(throws: StoreError.self) {
        try SQLiteStore.file(scratch.file(), Shop.schema) { $0.isReadOnly = isReadOnly }.close()
      }
      #expect(error?.code == .unreadable)
      #expect(error?.message.contains(scratch.file()) == true)
      #expect(scratch.bytes() == main)
    }
  }

  @Test("A file of one byte is no empty one")
  func oneByte() throws {
    expectRefusal(["": Data([65])], "one byte")
  }

  @Test("A creation that died halfway is undone and repeated")
  func halfCreated() throws {
    // What SQLite left in the file before its journal was deleted.
    try SQLiteStore.file(scratch.file("Whole.sqlite"), Shop.schema) { $0.journalMode = .delete }.close()
    let main = try #require(scratch.bytes("Whole.sqlite"))
    // A journal whose file had no page yet: magic, no records, nonce, no pages, sector and page size.
    var journal = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
    for word: UInt32 in [0, 0x1234_5678, 0, 512, 4096] {
      journal.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) })
    }
    journal.append(Data(count: 512 - journal.count))
    put(["": main.prefix(3 * 4096), "-journal": journal])
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try store.insert("Tag", [Draft(key: -1)])
    try store.close()
    #expect(
      sql(scratch.file(), "PRAGMA integrity_check; PRAGMA auto_vacuum; SELECT Z_PK FROM ZTAG") == [
        ["ok"], ["2"], ["1"],
      ])
  }
}
