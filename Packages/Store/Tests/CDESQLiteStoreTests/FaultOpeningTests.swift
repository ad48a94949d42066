@_spi(CDE) import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Opening and reading under faults")
struct FaultOpeningTests {
  /// Tries something with each fault at each of its steps.
  ///
  /// - Parameters:
  ///   - kinds: the faults. A full disk and a torn write fail as an I/O error does, in another place.
  ///   - work: gets a plan to follow from its own moment on, and says what it failed with.
  static func atEveryStep(
    _ kinds: [StoreFault] = [.ioError, .busy, .crash, .crashInWrite],
    _ work: (StoreFaults, FaultPlan, Comment) throws -> Void
  ) throws -> Int {
    let undisturbed = StoreFaults()
    try work(undisturbed, .none, "undisturbed")
    let steps = undisturbed.steps
    for fault in kinds {
      for step in steps.filter({ fault.concerns($0.operation) }).drawn(oneOf: 3) {
        let faults = StoreFaults()
        let plan = fault == .busy ? FaultPlan.always(.busy, from: step.number) : .at(step.number, fault)
        try work(faults, plan, Comment(rawValue: "\(fault) at \(step)"))
        #expect(faults.events.first?.step.number == step.number)
      }
    }
    return steps.count
  }

  static func expectTyped(_ error: any Error, _ note: Comment) {
    let codes: [StoreError.Code] = [.full, .io, .busy, .cannotOpen]
    #expect((error as? StoreError).map { codes.contains($0.code) } == true, "\(note): \(error)")
  }

  @Test(
    "Creating a store fails with a typed error at any step, and the next attempt makes a whole one",
    arguments: FaultTests.modes)
  func creating(mode: FaultRig.Mode) throws {
    let rig = try FaultRig(mode)
    let steps = try Self.atEveryStep { faults, plan, note in
      let scratch = Scratch()
      faults.begin(plan)
      do {
        try rig.open(scratch.file(), faults).close()
      } catch { Self.expectTyped(error, note) }
      faults.end()
      let store: SQLiteStore
      do { store = try rig.open(scratch.file()) } catch {
        Issue.record(error, note)
        return
      }
      _ = try store.insert("Tag", [Draft(key: -1, values: ["name": .text("first")])])
      try store.close()
      #expect(
        sql(scratch.file(), "PRAGMA integrity_check; SELECT ZNAME FROM ZTAG") == [["ok"], ["first"]], note)
    }
    #expect(steps > 20)
  }

  @Test(
    "Opening a store fails with a typed error at any step and changes nothing in it",
    arguments: FaultTests.modes)
  func opening(mode: FaultRig.Mode) throws {
    let rig = try FaultRig(mode)
    let steps = try Self.atEveryStep { faults, plan, note in
      let scratch = try rig.fresh()
      faults.begin(plan)
      do {
        let store = try rig.open(scratch.file(), faults)
        _ = try? store.row(entity: store.index("Tag"), key: 1)
        try store.close()
      } catch { Self.expectTyped(error, note) }
      faults.end()
      #expect(try rig.contents(of: scratch) == rig.before, note)
      let store = try rig.open(scratch.file())
      _ = try store.commit(FaultRig.change(of: store))
      try store.close()
      #expect(try rig.contents(of: scratch) == rig.after, note)
    }
    #expect(steps > 5)
  }

  @Test(
    "Opening a store whose log was left by a dead process may fail at any step, and loses nothing of the log")
  func recovering() throws {
    let rig = try FaultRig(.wal)
    let left = try rig.fresh()
    let dying = StoreFaults()
    let first = try rig.open(left.file(), dying)
    _ = try first.commit(FaultRig.change(of: first))
    dying.begin(.always(.crash))
    try first.close()
    #expect(!(left.bytes("Test.sqlite-wal") ?? Data()).isEmpty)
    let steps = try Self.atEveryStep { faults, plan, note in
      let scratch = try FaultRig.copy(left)
      faults.begin(plan)
      do {
        let store = try rig.open(scratch.file(), faults)
        _ = try? store.row(entity: store.index("Tag"), key: 1)
        try store.close()
      } catch { Self.expectTyped(error, note) }
      faults.end()
      #expect(try rig.contents(of: scratch) == rig.after, note)
    }
    #expect(steps > 20)
  }

  @Test(
    "A read fails with a typed error at any step, and the same store reads on", arguments: FaultTests.modes)
  func reading(mode: FaultRig.Mode) throws {
    let rig = try FaultRig(mode)
    let steps = try Self.atEveryStep([.ioError, .busy]) { faults, plan, note in
      let scratch = try rig.fresh()
      let store = try rig.open(scratch.file(), faults)
      func photo() throws -> [UInt8] {
        let row = try #require(try store.row(entity: store.index("Item"), key: 2))
        let cell = RowMaker(store, "Item").cell("photo")
        return try store.externalValue(try #require(ExternalValue(cell: row.batch.bytes(row.row, cell))))
      }
      faults.begin(plan)
      do { #expect(try photo().count == 140_000, note) } catch { Self.expectTyped(error, note) }
      faults.end()
      #expect(try photo() == [UInt8](repeating: 3, count: 140_000), note)
      _ = try store.commit(FaultRig.change(of: store))
      try store.close()
      #expect(try rig.contents(of: scratch) == rig.after, note)
    }
    #expect(steps > 5)
  }

  @Test(
    "A commit that its process did not live to finish is undone by its journal, though the header is ahead")
  func hotJournal() throws {
    let rig = try FaultRig(.delete)
    let scratch = try rig.fresh()
    let faults = StoreFaults()
    let store = try rig.open(scratch.file(), faults)
    let first = try #require(
      FaultTests().steps(rig).first { $0.operation == .write && $0.file == .database })
    faults.begin(.at(first.number + 1, .crash))
    #expect(throws: StoreError.self) { try store.commit(FaultRig.change(of: store)) }
    try store.close()
    #expect(scratch.bytes("Test.sqlite-journal") != nil)
    try rig.open(scratch.file()).close()
    #expect(try rig.contents(of: scratch) == rig.before)
  }

  @Test("External values outlive a commit that failed halfway, which the log may still hold")
  func halfCommitted() throws {
    let rig = try FaultRig(.wal)
    let scratch = try rig.fresh()
    let faults = StoreFaults()
    let store = try rig.open(scratch.file(), faults)
    let sync = try #require(FaultTests().steps(rig).last { $0.operation == .sync && $0.file == .log })
    faults.begin(.at(sync.number, .ioError))
    #expect(throws: StoreError.self) { try store.commit(FaultRig.change(of: store)) }
    #expect(try rig.contents(of: scratch) == rig.before)
    faults.begin(.always(.crash))
    try store.close()
    try rig.open(scratch.file()).close()
    #expect(try rig.contents(of: scratch) == rig.after)
  }
}
