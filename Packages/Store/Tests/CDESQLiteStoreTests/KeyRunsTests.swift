@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("Keys in runs")
struct KeyRunsTests {
  @Test("Any keys in any order come out distinct and ascending, those that follow each other as one run")
  func random() {
    let seed = ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    print("KeyRunsTests seed \(seed)")
    var generator = SplitMix(seed: seed)
    for _ in 0..<300 {
      let span = Int64.random(
        in: 1...[10, 300, 100_000, .max].randomElement(using: &generator)!, using: &generator)
      let low = Int64.random(in: 1...(.max - span + 1), using: &generator)
      let keys = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
        low + Int64.random(in: 0..<span, using: &generator)
      }
      let runs = KeyRuns(keys).ranges
      #expect(runs.flatMap { Array($0) } == Set(keys).sorted(), "seed \(seed)")
      #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound }, "seed \(seed)")
    }
  }

  @Test("The whole range of keys does not overflow")
  func extremes() {
    #expect(KeyRuns([.max, 1, .max - 1]).ranges == [1...1, (.max - 1)...(.max)])
    #expect(KeyRuns([.max, .min]).ranges.map(\.lowerBound) == [.min, .max])
  }
}
