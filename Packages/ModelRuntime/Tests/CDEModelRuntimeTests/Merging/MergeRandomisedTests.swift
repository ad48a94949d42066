import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Merges, randomised")
struct MergeRandomisedTests {
  @Test(
    "Both sides of every relationship agree after merges, and memory is as stored after a save",
    arguments: NSMergePolicy.settling + [.errorMergePolicyType])
  func agreement(_ policy: NSMergePolicyType) throws {
    let environment = ProcessInfo.processInfo.environment
    if let only = environment["CDE_MERGE_POLICY"], only != "\(policy.rawValue)" { return }
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? 1
    let runs = environment["CDE_MERGE_RUNS"].flatMap(Int.init) ?? 3
    let steps = environment["CDE_MERGE_STEPS"].flatMap(Int.init) ?? 20
    print("Merges, \(policy.rawValue), seed \(seed)")
    var failures = 0
    for run in seed..<seed + UInt64(runs) {
      var options = MergeProgram.Options(policy: policy)
      options.reads = run % 2 == 1
      options.delays = run / 2 % 2 == 1
      options.hasOthers = environment["CDE_MERGE_OTHERS"] != nil || run % 3 == 2
      options.deletes = environment["CDE_MERGE_KEEPS"] == nil
      if environment["CDE_MERGE_ALONE"] != nil { options.hasOthers = false }
      var random = SplitMix(state: run)
      let program = (0..<steps).map { _ in random.next() }
      if try MergeProgram.run(program, options).faults.isEmpty { continue }
      failures += 1
      let shortest = try MergeProgram.shortest(program, options)
      Issue.record(
        """
        Seed \(run), \(options)
        \(shortest.log.joined(separator: "\n"))
        \(shortest.faults.joined(separator: "\n"))
        """)
    }
    print("policy \(policy.rawValue): \(failures) of \(runs) failed")
  }
}
