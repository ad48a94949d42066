import CDESQLiteFaults
import CDESQLiteStore
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("A full disk")
struct FullDiskTests {
  /// What is done with a store, on a copy of its own for each step.
  static let works:
    [(name: String, work: @Sendable (String, FaultRig, StoreFaults, FaultPlan) throws -> Void)] = [
      (
        "creating",
        { path, rig, faults, plan in
          for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
          }
          faults.begin(plan)
          try rig.open(path, faults).close()
        }
      ),
      (
        "opening and committing",
        { path, rig, faults, plan in
          faults.begin(plan)
          let store = try rig.open(path, faults)
          _ = try store.commit(FaultRig.change(of: store))
          try store.setMetadata(StoreMetadata(values: ["mine": .string("x")]))
          _ = try store.allocateKeys([store.root("Item"): 5])
          _ = try store.commit(.delete(store.deletion(of: "Item")))
          try store.close()
        }
      ),
      (
        "recovering",
        { path, rig, faults, plan in
          let dying = StoreFaults()
          let first = try rig.open(path, dying)
          if rig.mode == .wal {
            _ = try first.commit(FaultRig.change(of: first))
          } else {
            let step = try FaultTests().steps(rig).last { $0.operation == .write && $0.file == .database }!
            dying.begin(.at(step.number, .crash))
            _ = try? first.commit(FaultRig.change(of: first))
          }
          dying.begin(.always(.crash))
          try first.close()
          faults.begin(plan)
          let store = try rig.open(path, faults)
          // Each commit is one write of the log.
          for _ in 0..<4 { try store.insert("Tag", [Draft(key: -1)]) }
          try store.close()
        }
      ),
    ]

  @Test("is said to be full, whatever finds no room", arguments: FaultTests.modes, works.indices)
  func everyStep(mode: FaultRig.Mode, work: Int) throws {
    let rig = try FaultRig(mode)
    let (name, work) = Self.works[work]
    let undisturbed = StoreFaults()
    let fresh = try rig.fresh()
    try work(fresh.file(), rig, undisturbed, .none)
    var failures = 0
    for step in undisturbed.steps where StoreFault.diskFull.concerns(step.operation) {
      // A disk that stays full is the same in most places; some do.
      let plans = [FaultPlan.at(step.number, .diskFull), .always(.diskFull, from: step.number)]
      for plan in plans.prefix(step.number % 4 == 0 ? 2 : 1) {
        let scratch = try rig.fresh()
        let faults = StoreFaults()
        do { try work(scratch.file(), rig, faults, plan) } catch {
          failures += 1
          #expect((error as? StoreError)?.code == .full, "\(name), \(mode), \(plan), \(step): \(error)")
        }
        faults.end()
      }
    }
    #expect(failures > 3)
  }
}
