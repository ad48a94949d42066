@_spi(CDE) import CDEManagedModel
import CDEModelFiles
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Model files of every kind, damaged at random: bytes of the files, words, attributes and elements of the XML,
/// lengths, offsets and references of binary property lists, and values of archives.
///
/// Whatever they then hold, reading them, using the model and compiling it again ends in a model or in a typed
/// error that says where, soon, and never in the end of the process or in much memory.
@Suite("Mutated models")
struct MutatedModelTests {
  /// 1,000,000 is the long run.
  private static let rounds =
    ProcessInfo.processInfo.environment["CDE_MUTATED_MODELS"].flatMap(Int.init) ?? 300
  private static let seed =
    ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? 1
  private static let groupSize = 5000

  @Test("Damaged model files are read, used and compiled without ending the process")
  func mutations() async throws {
    let log = ProcessFolder.newURL("log")
    defer { try? FileManager.default.removeItem(at: log) }
    for first in stride(from: 0, to: Self.rounds, by: Self.groupSize) {
      let last = min(first + Self.groupSize, Self.rounds)
      let result = await #expect(processExitsWith: .success) {
        [seed = Self.seed as UInt64, first = first as Int, last = last as Int, log = log.path as String] in
        // The backtrace of a trap comes from the process itself, and goes where it says its errors.
        dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC, 0o600), 2)
        try MutatedModelTests.run(seed, first, last)
      }
      if result == nil {
        let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
        Issue.record("CDE_SEED=\(Self.seed), the last round begun of: \(text.prefix(12_000))")
      }
    }
  }

  private static func run(_ seed: UInt64, _ first: Int, _ last: Int) throws {
    var files = MutatedFiles()
    try files.prepare()
    let before = residentPeak()
    var loaded = 0
    for round in first..<last {
      // The log holds the last round only.
      ftruncate(2, 0)
      lseek(2, 0, SEEK_SET)
      FileHandle.standardError.write(Data("round \(round)\n".utf8))
      var random = RoundRandom(state: seed &+ UInt64(round) &* 0x9E37_79B9_7F4A_7C15)
      let start = ContinuousClock.now
      if try files.round(&random) { loaded += 1 }
      let time = ContinuousClock.now - start
      precondition(time < .seconds(10), "round \(round) took \(time)")
    }
    try files.remove()
    precondition(loaded > (last - first) / 20, "only \(loaded) of \(last - first) damaged models were read")
    let growth = residentPeak() - before
    precondition(growth < 100_000, "the memory grew by \(growth) kB")
  }

  /// The most memory that the process has had, in kilobytes.
  private static func residentPeak() -> Int {
    var usage = rusage()
    // The number of RUSAGE_SELF, whose type differs between C libraries.
    getrusage(0, &usage)
    return usage.ru_maxrss
  }
}
