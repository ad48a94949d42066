import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
import Foundation
import Testing

@Suite("A commit under faults")
struct FaultTests {
  static let modes: [FaultRig.Mode] = [.wal, .delete]
  static let transient = StoreFault.allCases.filter { ![.crash, .crashInWrite].contains($0) }

  /// The steps of the transaction, as one undisturbed commit takes them.
  func steps(_ rig: FaultRig) throws -> [StoreStep] {
    let scratch = try rig.fresh()
    let faults = StoreFaults()
    let store = try rig.open(scratch.file(), faults)
    let transaction = FaultRig.change(of: store)
    faults.begin()
    _ = try store.commit(transaction)
    let steps = faults.end()
    try store.close()
    #expect(try rig.contents(of: scratch) == rig.after)
    return steps
  }

  @Test("The steps of a commit are those that its journal mode takes, the same each time", arguments: modes)
  func steps(mode: FaultRig.Mode) throws {
    let rig = try FaultRig(mode)
    let steps = try steps(rig)
    #expect(try self.steps(rig) == steps)
    #expect(steps.map(\.number) == Array(1...steps.count))
    let kinds = Set(steps.map { "\($0.operation) \($0.file)" })
    #expect(
      kinds.isSuperset(of: [
        "open externalValue", "write externalValue", "sync externalValue", "delete externalValue",
      ]))
    #expect(
      kinds.isSuperset(
        of: mode == .wal
          ? ["lockIndex database", "write log", "sync log"]
          : [
            "lock database", "write journal", "sync journal", "write database", "sync database",
            "delete journal",
          ]))
    #expect(kinds.contains("write database") == (mode == .delete))
  }

  @Test(
    "With any fault at any step it succeeds or throws a typed error, all or nothing, and can be tried again",
    arguments: modes, transient)
  func everyStep(mode: FaultRig.Mode, fault: StoreFault) throws {
    let rig = try FaultRig(mode)
    var failures = 0
    for step in try steps(rig) where fault.concerns(step.operation) {
      let scratch = try rig.fresh()
      let faults = StoreFaults()
      let store = try rig.open(scratch.file(), faults)
      let transaction = FaultRig.change(of: store)
      // A lock that is refused once is asked for again, and given.
      faults.begin(fault == .busy ? .always(.busy, from: step.number) : .at(step.number, fault))
      var failure: (any Error)?
      do { _ = try store.commit(transaction) } catch { failure = error }
      #expect(faults.events.first?.step.number == step.number)
      faults.end()
      let note = Comment(rawValue: "\(fault) at \(step): \(failure.map { "\($0)" } ?? "saved")")
      if let failure {
        failures += 1
        let codes: Set<StoreError.Code> =
          switch fault {
          case .diskFull: [.full]
          case .busy: [.busy]
          default: [.io, .cannotOpen]
          }
        #expect((failure as? StoreError).map { codes.contains($0.code) } == true, note)
        #expect(try rig.contents(of: scratch) == rig.before, note)
        #expect(transaction.inserted[0].key(0) == -1, note)
        _ = try store.commit(transaction)
      }
      try store.close()
      #expect(try rig.contents(of: scratch) == rig.after, note)
    }
    #expect(failures > 0)
  }

  @Test(
    "The process that dies at any step leaves all of a commit or nothing, and all if it was acknowledged",
    arguments: modes, [StoreFault.crash, .crashInWrite])
  func crash(mode: FaultRig.Mode, fault: StoreFault) throws {
    let rig = try FaultRig(mode)
    var found: Set<[String]> = []
    let steps = try steps(rig)
    // And once after the last step.
    let numbers = steps.filter { fault.concerns($0.operation) }.map(\.number) + [steps.count + 1]
    for number in numbers {
      let scratch = try rig.fresh()
      let faults = StoreFaults()
      let store = try rig.open(scratch.file(), faults)
      faults.begin(.at(number, fault))
      let isAcknowledged = (try? store.commit(FaultRig.change(of: store))) != nil
      // A dead process does nothing any more, whatever it tries.
      if !faults.events.isEmpty {
        #expect(throws: StoreError.self) { try store.commit(FaultRig.change(of: store)) }
        #expect(throws: StoreError.self) { try store.metadata() }
      }
      try store.close()
      faults.end()
      let note = Comment(rawValue: "\(fault) at \(number) of \(steps), acknowledged: \(isAcknowledged)")
      let reopened = try rig.open(scratch.file(), faults)
      let contents = try rig.contents(of: scratch)
      #expect(contents == rig.after || !isAcknowledged && contents == rig.before, note)
      found.insert(contents)
      if contents == rig.before { _ = try reopened.commit(FaultRig.change(of: reopened)) }
      try reopened.close()
      #expect(try rig.contents(of: scratch) == rig.after, note)
    }
    #expect(found.contains(rig.before))
    #expect(fault == .crashInWrite || found.contains(rig.after))
  }
}
