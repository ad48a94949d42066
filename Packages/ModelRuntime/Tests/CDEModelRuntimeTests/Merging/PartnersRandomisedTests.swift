import Foundation
import Testing

@Suite("One-to-one relationships and other processes, randomised")
struct PartnersRandomisedTests {
  @Test("Both rows of each pair agree after every save, and no value of a save is lost")
  func agreement() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? 1
    let runs = environment["CDE_MERGE_RUNS"].flatMap(Int.init) ?? 4
    let steps = environment["CDE_MERGE_STEPS"].flatMap(Int.init) ?? 400
    print("Partners, seed \(seed)")
    var (saves, refusals) = (0, 0)
    for run in seed..<seed + UInt64(runs) {
      var random = SplitMix(state: run)
      let numbers = (0..<steps).map { _ in random.next() }
      let program = try PartnersProgram.run(numbers)
      saves += program.saves
      refusals += program.refusals
      if program.faults.isEmpty { continue }
      let shortest = try PartnersProgram.shortest(numbers)
      Issue.record(
        """
        Seed \(run)
        \(shortest.log.joined(separator: "\n"))
        \(shortest.faults.joined(separator: "\n"))
        """)
    }
    print("\(saves) saves, \(refusals) refused")
    #expect(saves > 0 && refusals > 0)
  }
}
