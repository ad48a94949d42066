import CDESQLiteFaults
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("Files of external values that no row names")
struct ExternalSweepTests {
  static let folder = ".Test_SUPPORT/_EXTERNAL_DATA"

  func files(_ scratch: Scratch) -> Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: scratch.file(Self.folder))) ?? [])
  }

  func plant(_ scratch: Scratch, _ name: String = UUID().uuidString) -> String {
    _ = FileManager.default.createFile(
      atPath: scratch.file(Self.folder + "/" + name), contents: Data(count: 9))
    return name
  }

  @Test(
    "Wherever a process dies, the next opening leaves the files that rows name and no others",
    arguments: [StoreFault.crash, .crashInWrite])
  func deaths(fault: StoreFault) throws {
    let rig = try FaultRig(.wal)
    var orphans = 0
    for step in try FaultTests().steps(rig) where fault.concerns(step.operation) {
      let scratch = try rig.fresh()
      // Some commit before the one that dies, as the log's file is what tells of a death.
      let faults = StoreFaults()
      let store = try rig.open(scratch.file(), faults)
      try store.insert("Tag", [Draft(key: -1)])
      faults.begin(.at(step.number, fault))
      _ = try? store.commit(FaultRig.change(of: store))
      try? store.close()
      faults.end()
      let left = files(scratch)
      let reopened = try rig.open(scratch.file())
      let named = Set(
        sql(scratch.file(), "SELECT substr(ZPHOTO, 2, 36) FROM ZITEM WHERE length(ZPHOTO) = 38").map { $0[0] }
      )
      #expect(files(scratch) == named, "\(fault) at \(step)")
      #expect(reopened.notes.isEmpty)
      #expect(left.isSuperset(of: named))
      if left != named { orphans += 1 }
      try reopened.close()
    }
    // All pages of the commit are one write of the log, so there are fewer torn writes than steps at which a process can die.
    #expect(fault == .crash ? orphans > 2 : orphans == 2)
  }

  @Test("A call removes them, and nothing else in the folder")
  func call() throws {
    let rig = try FaultRig(.delete)
    let scratch = try rig.fresh()
    let kept = files(scratch)
    let store = try rig.open(scratch.file())
    #expect(try store.removeUnneededExternalValues() == 0)
    let other = plant(scratch, "notes.txt")
    _ = plant(scratch)
    _ = plant(scratch, UUID().uuidString.lowercased())
    #expect(try store.removeUnneededExternalValues() == 2)
    #expect(files(scratch) == kept.union([other]))
    #expect(try rig.contents(of: scratch) == rig.before)
    try store.close()
    let reader = try SQLiteStore.file(scratch.file(), FaultRig.schema) { $0.isReadOnly = true }
    _ = plant(scratch)
    #expect { try reader.removeUnneededExternalValues() } throws: { ($0 as? StoreError)?.code == .readOnly }
    #expect(files(scratch).count == kept.count + 2)
  }

  @Test("Names in tables and columns that the schema does not have count")
  func unknownColumns() throws {
    let rig = try FaultRig(.delete)
    let scratch = try rig.fresh()
    let inColumn = plant(scratch)
    let inTable = plant(scratch)
    _ = sql(
      scratch.file(),
      """
      ALTER TABLE ZTAG ADD COLUMN ZSOUND BLOB; UPDATE ZTAG SET ZSOUND = x'02' || '\(inColumn)';
      CREATE TABLE ZNEWER (ZPICTURE BLOB);
      INSERT INTO ZNEWER VALUES (CAST(x'02' || '\(inTable)' || x'00' AS BLOB));
      """)
    let before = files(scratch)
    let unneeded = plant(scratch)
    let store = try rig.open(scratch.file())
    #expect(try store.removeUnneededExternalValues() == 1)
    #expect(files(scratch) == before)
    #expect(!before.contains(unneeded))
    try store.close()
  }

  @Test(
    "A cell names its file as Core Data's does, with a zero at the end; cells without it stay readable and keep their files"
  )
  func cells() throws {
    let rig = try FaultRig(.delete)
    let scratch = try rig.fresh()
    let store = try rig.open(scratch.file())
    let value = [1] + [UInt8](repeating: 7, count: 140_000)
    try store.insert("Item", [Draft(key: -1, values: ["photo": .bytes(value)])])
    let name = "hex(ZPHOTO) GLOB '02*00' AND length(ZPHOTO) = 38"
    let written = sql(scratch.file(), "SELECT Z_PK, substr(ZPHOTO, 2, 36) FROM ZITEM WHERE \(name)")
    #expect(written.count == 2 && written.allSatisfy { UUID(uuidString: $0[1]) != nil })
    try store.close()
    _ = sql(scratch.file(), "UPDATE ZITEM SET ZPHOTO = substr(ZPHOTO, 1, 37) WHERE \(name)")
    let before = files(scratch)
    let reopened = try rig.open(scratch.file())
    #expect(try reopened.removeUnneededExternalValues() == 0)
    #expect(files(scratch) == before)
    let cell = RowMaker(reopened, "Item").cell("photo")
    for key in written.compactMap({ Int64($0[0]) }) {
      let row = try #require(try reopened.row(entity: reopened.index("Item"), key: key))
      let stored = try #require(ExternalValue(cell: row.batch.bytes(row.row, cell)))
      #expect(try reopened.externalValue(stored).count >= 131_072)
    }
    try reopened.close()
  }

  @Test("Two stores in one folder of files leave each other's alone")
  func neighbours() throws {
    let rig = try FaultRig(.delete)
    let scratch = try rig.fresh()
    let store = try rig.open(scratch.file())
    try rig.open(scratch.file("Test.backup")).close()
    let file = plant(scratch)
    #expect(try store.removeUnneededExternalValues() == 0)
    #expect(files(scratch).contains(file))
    try FileManager.default.removeItem(atPath: scratch.file("Test.backup"))
    #expect(try store.removeUnneededExternalValues() == 1)
  }

  @Test("A sweep and writers of another store object at once lose no value", arguments: FaultTests.modes)
  func concurrency(mode: FaultRig.Mode) throws {
    let rig = try FaultRig(mode)
    let scratch = try rig.fresh()
    let writer = try rig.open(scratch.file())
    let sweeper = try rig.open(scratch.file())
    DispatchQueue.concurrentPerform(iterations: 2) { thread in
      for round in 0..<30 {
        do {
          if thread == 0 {
            try writer.insert(
              "Item",
              [
                Draft(
                  key: -1, values: ["photo": .bytes([1] + [UInt8](repeating: UInt8(round), count: 140_000))])
              ])
          } else {
            _ = plant(scratch)
            try sweeper.removeUnneededExternalValues()
          }
        } catch { Issue.record(error) }
      }
    }
    try sweeper.removeUnneededExternalValues()
    #expect(files(scratch).count == 31)
    let cell = RowMaker(writer, "Item").cell("photo")
    for key in Int64(3)..<33 {
      let row = try #require(try writer.row(entity: writer.index("Item"), key: key))
      let value = try #require(ExternalValue(cell: row.batch.bytes(row.row, cell)))
      #expect(try writer.externalValue(value).count == 140_000)
    }
  }

  @Test("A commit that failed at its last step keeps its files until its place in the log is overwritten")
  func halfCommitted() throws {
    let rig = try FaultRig(.wal)
    let scratch = try rig.fresh()
    let faults = StoreFaults()
    let store = try rig.open(scratch.file(), faults)
    let sync = try #require(FaultTests().steps(rig).last { $0.operation == .sync && $0.file == .log })
    faults.begin(.at(sync.number, .ioError))
    #expect(throws: StoreError.self) { try store.commit(FaultRig.change(of: store)) }
    faults.end()
    let other = try rig.open(scratch.file())
    // The opening has swept, as there is a log.
    #expect(files(scratch).count == 1)
    faults.begin(.always(.crash))
    try store.close()
    faults.end()
    try other.close()
    let reopened = try rig.open(scratch.file())
    #expect(try rig.contents(of: scratch) == rig.before)
    try reopened.close()
  }
}
