import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("The file system of a store")
struct FileSystemTests {
  let scratch = Scratch()

  @Test("All connections of a store use the one that is named")
  func named() throws {
    // With this one locks are files of their own, and no log's index can be shared.
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.vfs = "unix-dotfile"
      $0.journalMode = .delete
    }
    try store.insert("Tag", [Draft(key: -1, values: ["name": .text("kept")])])
    #expect(try store.row(entity: store.index("Tag"), key: 1) != nil)
    try FileManager.default.createDirectory(
      atPath: scratch.file("Test.sqlite.lock"), withIntermediateDirectories: false)
    let error = #expect(throws: StoreError.self) {
      try SQLiteStore.file(scratch.file(), Shop.schema) {
        $0.vfs = "unix-dotfile"
        $0.busyTimeout = .zero
      }
    }
    #expect(error?.code == .busy)
    try SQLiteStore.file(scratch.file(), Shop.schema).close()
  }

  @Test("Alone in its process, a log needs no shared file, and readers see what is committed")
  func exclusive() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.vfs = "unix-excl" }
    for number in Int64(1)...20 {
      try store.insert("Tag", [Draft(key: -1)])
      #expect(try store.row(entity: store.index("Tag"), key: number) != nil)
    }
    #expect(scratch.bytes("Test.sqlite-wal") != nil)
    #expect(scratch.bytes("Test.sqlite-shm") == nil)
    try store.close()
    try SQLiteStore.file(scratch.file(), Shop.schema).close()
  }

  @Test("A name that SQLite does not know is an error that names it, and no file is made")
  func unknown() throws {
    let error = #expect(throws: StoreError.self) {
      try SQLiteStore.file(scratch.file(), Shop.schema) { $0.vfs = "no such & thing" }
    }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("no such & thing") == true)
    #expect(scratch.bytes() == nil)
  }

  @Test("A store that can't be written is read with a named one, too")
  func immutable() throws {
    try SQLiteStore.file(scratch.file(), Shop.schema).close()
    // No index can be made here, so only the immutable form opens.
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: scratch.file() + suffix) }
    try FileManager.default.createDirectory(
      atPath: scratch.file("Test.sqlite-shm"), withIntermediateDirectories: false)
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.vfs = "unix"
      $0.isReadOnly = true
    }
    #expect(try store.row(entity: store.index("Tag"), key: 1) == nil)
    try store.close()
  }

  #if os(Linux)
    @Test("Opening a store a second time leaves the first one's locks in place")
    func locks() throws {
      let first = try SQLiteStore.file(scratch.file(), Shop.schema)
      try first.insert("Tag", [Draft(key: -1)])
      let file = open(scratch.file(), O_RDWR)
      defer { close(file) }
      // What another process would be told that asks for the bytes which SQLite locks to keep a file in use.
      func isInUse() -> Bool {
        let queryForOpenFiles: CInt = 36  // F_OFD_GETLK
        var lock = flock(
          l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0x4000_0002, l_len: 510, l_pid: 0)
        #expect(fcntl(file, queryForOpenFiles, &lock) == 0)
        return lock.l_type != Int16(F_UNLCK)
      }
      #expect(isInUse())
      let second = try SQLiteStore.file(scratch.file(), Shop.schema)
      #expect(isInUse())
      try second.close()
      #expect(isInUse())
      try first.close()
      #expect(!isInUse())
    }
  #endif
}
