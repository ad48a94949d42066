import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Random migrations whose process dies before each step, and whose disk is full or fails at each one.
@Suite("Migrations that end early")
struct MigrationDeathTests {
  @Test("Whichever step of a migration fails, and how, the old store is whole, or the new one", .onSQLite)
  func deaths() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
    let count = environment["CDE_MIGRATION_DEATHS"].flatMap(Int.init) ?? 1
    var (round, done, faults) = (UInt64(0), 0, 0)
    while done < count {
      if let number = try run(seed: seed &+ round) { (done, faults) = (done + 1, faults + number) }
      round += 1
    }
    print("\(done) migrations, \(faults) faults")
  }

  /// - Returns: the number of faults; nil if the random change needs no migration.
  private func run(seed: UInt64) throws -> Int? {
    print("Migrations that end early, seed \(seed)")
    var random = MigrationRandom(seed: seed)
    var spec = MigrationSpec(&random)
    let before = spec
    let template = try OldStore(spec.model()) { try before.fill($0) }
    spec.change(&random)
    let after = spec.model()
    let mode = seed.isMultiple(of: 2) ? "WAL" : "DELETE"
    let (old, hashes) = (try template.contents(), before.model().entityVersionHashesByName)
    if hashes == after.entityVersionHashesByName { return nil }

    // One file, because no connection is open.
    _ = try template.sql("PRAGMA journal_mode = \(mode)")
    func copy() throws -> OldStore {
      let file = Library.place()
      try FileManager.default.copyItem(at: template.file, to: file)
      return OldStore(at: file)
    }
    func open(_ store: OldStore, _ faults: StoreFaults) throws {
      try store.open(after, with: faults, journal: mode)
    }

    let counting = StoreFaults()
    let whole = try copy()
    counting.begin()
    try open(whole, counting)
    // What fails between two of these steps leaves the same files.
    let steps = counting.end().filter { [.write, .truncate, .sync, .delete].contains($0.operation) }.drawn(
      oneOf: 6)
    let new = try whole.contents()
    var number = 0
    for step in steps {
      for fault in [StoreFault.crash, .crashInWrite, .ioError, .tornWrite, .diskFull]
      where fault.concerns(step.operation) {
        number += 1
        let place = Comment("seed \(seed), \(fault) at \(step)")
        let store = try copy()
        let faults = StoreFaults()
        faults.begin(.at(step.number, fault))
        _ = try? open(store, faults)
        faults.end()
        let found = try store.contents()
        #expect(found == old || found == new, place)
        #expect(try store.sql("PRAGMA integrity_check") == [["ok"]], place)
        try open(store, StoreFaults())
        #expect(try store.contents() == new, place)
        try? FileManager.default.removeItem(at: store.file)
      }
    }
    return number
  }
}
