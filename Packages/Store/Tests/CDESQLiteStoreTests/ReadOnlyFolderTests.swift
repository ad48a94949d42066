import CDESQLite
import CDESQLiteFaults
@testable @_spi(CDE) import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Synchronization
import Testing

/// What a folder contains: names, sizes, times and bytes.
private struct FolderState: Equatable {
  struct Entry: Equatable {
    var size: Int64
    var seconds: Int64
    var nanoseconds: Int64
    var bytes: Data?
  }

  var entries: [String: Entry] = [:]

  init(_ folder: String) {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    for name in names + ["."] {
      var status = cde_file_status()
      guard cde_file_status_at(folder + "/" + name, &status) == 0 else { continue }
      entries[name] = Entry(
        size: status.size, seconds: status.seconds, nanoseconds: status.nanoseconds,
        bytes: FileManager.default.contents(atPath: folder + "/" + name))
    }
  }
}

@Suite("Reading leaves the folder as it was")
struct ReadOnlyFolderTests {
  typealias Mode = SQLiteStore.Configuration.JournalMode

  private func reading(_ path: String, vfs: String? = nil) throws -> SQLiteStore {
    try SQLiteStore.file(path, FaultRig.schema) {
      $0.isReadOnly = true
      $0.vfs = vfs
    }
  }

  private func titles(_ store: SQLiteStore) throws -> Int {
    try store.count(StoreQuery(entity: store.index("Item")))
  }

  @Test(
    "A store without a log", arguments: [Mode.wal, .delete], ["Test.sqlite", "Büro & 事務 %20?.storedata"])
  func closed(mode: Mode, name: String) throws {
    let rig = try FaultRig(mode)
    let scratch = try rig.fresh()
    if name != "Test.sqlite" {
      try FileManager.default.moveItem(atPath: scratch.file(), toPath: scratch.file(name))
    }
    let before = FolderState(scratch.path)
    let store = try reading(scratch.file(name))
    #expect(store.isReadOnly)
    #expect(try titles(store) == 2)
    _ = try SQLiteStore.inspection(ofFileAt: scratch.file(name))
    _ = try SQLiteStore.metadata(ofFileAt: scratch.file(name))
    #expect(FolderState(scratch.path) == before)
    try store.close()
    #expect(FolderState(scratch.path) == before)
  }

  @Test(
    "The list of all locks is read only where a log or its index could have users",
    arguments: [Mode.wal, .delete])
  func looks(mode: Mode) throws {
    let rig = try FaultRig(mode)
    let scratch = try rig.fresh()
    let files = try FileSystem(named: nil)
    /// How often opening the file looks for users, and whether it reads the file without locks.
    func looks() throws -> (count: Int, isUnlocked: Bool) {
      let count = Mutex(0)
      var source = ReadOnlySource(path: scratch.file(), files: files, vfs: nil, busyTimeout: 0)
      source.isInUse = { _ in
        count.withLock { $0 += 1 }
        return false
      }
      let opened = try source.connect(try StoreFile(at: scratch.file(), in: files))
      return (count.withLock { $0 }, opened.connection.unchanging != nil)
    }
    #expect(try looks() == (0, mode == .wal))
    for suffix in ["-shm", "-wal"] {
      let file = scratch.file("Test.sqlite\(suffix)")
      #expect(FileManager.default.createFile(atPath: file, contents: nil))
      #expect(try looks() == (mode == .wal ? 1 : 0, mode == .wal), "\(suffix)")
      try FileManager.default.removeItem(atPath: file)
    }
  }

  /// A copy of a store that is in use: its last commits are in the log, or its journal holds what to undo.
  private func left(_ rig: FaultRig, _ mode: Mode) throws -> Scratch {
    let (live, dead) = (try rig.fresh(), Scratch())
    let holder = Holder(live.file())
    if mode == .wal {
      holder.run("PRAGMA wal_autocheckpoint = 0; INSERT INTO ZITEM (Z_ENT, Z_OPT) VALUES (2, 1)")
    } else {
      holder.run(
        "PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN; DELETE FROM ZITEM; "
          + "INSERT INTO ZITEM (Z_ENT, ZPHOTO) VALUES (2, randomblob(900000))")
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: live.path) where !name.hasSuffix("-shm") {
      try FileManager.default.copyItem(atPath: live.file(name), toPath: dead.file(name))
    }
    if mode == .delete { holder.run("ROLLBACK") }
    return dead
  }

  @Test("A log or a journal that a dead process left", arguments: [Mode.wal, .delete])
  func left(mode: Mode) throws {
    let scratch = try left(FaultRig(mode), mode)
    let before = FolderState(scratch.path)
    #expect(before.entries.keys.contains { $0.hasSuffix(mode == .wal ? "-wal" : "-journal") })
    let store = try reading(scratch.file())
    #expect(try titles(store) == (mode == .wal ? 3 : 2))
    let facts = try SQLiteStore.inspection(ofFileAt: scratch.file())
    #expect(facts.identifier == store.identifier)
    #expect(FolderState(scratch.path) == before)
    try store.close()
    #expect(FolderState(scratch.path) == before)
  }

  @Test("The private copy has no name, so that it can't outlive the process")
  func copies() async throws {
    let scratch = try left(FaultRig(.wal), .wal)
    await #expect(processExitsWith: .success) { [path = scratch.file() as String] in
      let store = try SQLiteStore.file(path, FaultRig.schema) { $0.isReadOnly = true }
      let names = try FileManager.default.contentsOfDirectory(
        atPath: FileManager.default.temporaryDirectory.path)
      try #require(try store.count(StoreQuery(entity: store.index("Item"))) == 3)
      try #require(!names.contains { $0.hasPrefix("cde-reading-\(getpid())-") })
    }
  }

  @Test("Nothing in the folder is opened for writing", arguments: [Mode.wal, .delete])
  func steps(mode: Mode) throws {
    let rig = try FaultRig(mode)
    for scratch in [try rig.fresh(), try left(rig, mode)] {
      let faults = StoreFaults()
      faults.begin()
      let store = try reading(scratch.file(), vfs: faults.vfs)
      _ = try titles(store)
      try store.close()
      let writing: Set<StoreStep.Operation> = [.write, .truncate, .sync, .delete, .mapIndex, .lockIndex]
      let steps = faults.end()
      #expect(!steps.isEmpty)
      #expect(steps.filter { writing.contains($0.operation) }.isEmpty)
    }
  }

  #if os(Linux)
    @Test("A store in use is read together with its users, and shows their commits")
    func live() throws {
      let rig = try FaultRig(.wal)
      let scratch = try rig.fresh()
      let writer = try rig.open(scratch.file())
      try writer.insert("Item", [Draft(key: -1)])
      // Reading the files here would release the store's locks on them.
      func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: scratch.path))
      }
      let before = try names()
      let reader = try reading(scratch.file())
      #expect(try titles(reader) == 3)
      try writer.insert("Item", [Draft(key: -1)])
      #expect(try titles(reader) == 4)
      #expect(try names() == before)
      try reader.close()
      try writer.close()
    }
  #endif

  private let insertion = "INSERT INTO ZITEM (Z_ENT, Z_OPT) VALUES (2, 1)"

  @Test("Commits that reach the file after it was opened without locks are read")
  func changed() throws {
    let rig = try FaultRig(.wal)
    let scratch = try rig.fresh()
    let reader = try reading(scratch.file())
    for expected in 2...4 {
      #expect(try titles(reader) == expected)
      _ = sql(scratch.file(), "\(insertion); PRAGMA wal_checkpoint(TRUNCATE)")
    }
    #expect(try titles(reader) == 5)
    try reader.close()
    #expect { try reader.close() } throws: { ($0 as? StoreError)?.code == .closed }
  }

  @Test("Commits are read also while they are in a log alone, that began after the opening")
  func logs() throws {
    let rig = try FaultRig(.wal)
    let scratch = try rig.fresh()
    let reader = try reading(scratch.file())
    #expect(try titles(reader) == 2)
    let holder = Holder(scratch.file())
    holder.run("PRAGMA wal_autocheckpoint = 0; \(insertion)")
    #expect(try titles(reader) == 3)
    holder.run(insertion)
    #expect(try titles(reader) == 4)
    try reader.close()
  }

  @Test(
    "Commits that follow the copy of a dead process's log or journal are read",
    arguments: [Mode.wal, .delete])
  func copied(mode: Mode) throws {
    let scratch = try left(FaultRig(mode), mode)
    let reader = try reading(scratch.file())
    let before = try titles(reader)
    #expect(sql(scratch.file(), insertion).isEmpty)
    #expect(try titles(reader) == before + 1)
    try reader.close()
  }

  @Test("What reads one state of files without locks ends with an error when they change")
  func pinned() throws {
    let rig = try FaultRig(.wal)
    let scratch = try rig.fresh()
    let reader = try reading(scratch.file())
    let state = try #require(try reader.pinned() as? SQLiteStore)
    #expect(try titles(state) == 2)
    let holder = Holder(scratch.file())
    holder.run("PRAGMA wal_autocheckpoint = 0; \(insertion)")
    #expect { try titles(state) } throws: { ($0 as? StoreError)?.code == .fileChanged }
    // The file is in use now, so its log keeps the state.
    let shared = try #require(try reader.pinned() as? SQLiteStore)
    #expect(try titles(shared) == 3)
    holder.run(insertion)
    #expect(try titles(shared) == 3)
    #expect(try titles(reader) == 4)
    try shared.close()
    try reader.close()
  }

  @Test("A copy of files that a dead process left keeps its state")
  func pinnedCopy() throws {
    let scratch = try left(FaultRig(.wal), .wal)
    let reader = try reading(scratch.file())
    let state = try #require(try reader.pinned() as? SQLiteStore)
    #expect(sql(scratch.file(), insertion).isEmpty)
    #expect(try titles(state) == 3)
    #expect(try titles(reader) == 4)
    try state.close()
    try reader.close()
  }

  @Test("Another store in the place of the file is an error")
  func replaced() throws {
    let rig = try FaultRig(.wal)
    let (scratch, other) = (try rig.fresh(), try FaultRig(.wal).fresh())
    let reader = try reading(scratch.file())
    #expect(try titles(reader) == 2)
    #expect(sql(other.file(), "UPDATE Z_METADATA SET Z_UUID = 'another'").isEmpty)
    try FileManager.default.removeItem(atPath: scratch.file())
    try FileManager.default.copyItem(atPath: other.file(), toPath: scratch.file())
    #expect { try titles(reader) } throws: { ($0 as? StoreError)?.code == .fileChanged }
    try FileManager.default.removeItem(atPath: scratch.file())
    #expect { try titles(reader) } throws: { ($0 as? StoreError)?.code == .fileMoved }
    #expect { try reader.close() } throws: { ($0 as? StoreError)?.code == .fileMoved }
  }

  @Test("A change during a read that left sizes and times as they were is an error at the end")
  func unseen() throws {
    let rig = try FaultRig(.wal)
    let scratch = try rig.fresh()
    let reader = try reading(scratch.file())
    #expect(try titles(reader) == 2)
    var status = cde_file_status()
    #expect(cde_file_status_at(scratch.file(), &status) == 0)
    let handle = try #require(FileHandle(forUpdatingAtPath: scratch.file()))
    try handle.seek(toOffset: 24)
    try handle.write(contentsOf: Data([9, 9, 9, 9]))
    try handle.close()
    var times = [timespec(), timespec(tv_sec: Int(status.seconds), tv_nsec: Int(status.nanoseconds))]
    #expect(utimensat(AT_FDCWD, scratch.file(), &times, 0) == 0)
    #expect(try titles(reader) == 2)
    #expect { try reader.close() } throws: { ($0 as? StoreError)?.code == .fileChanged }
  }
}
