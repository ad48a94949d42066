@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation
import Testing

/// `CDE_BESIDE_SECONDS` sets how long the two processes work: a second by default, a minute for a long run.
@Suite("A process of Core Data's and one of SwiftData's, on one store", .onSQLite, .timeLimit(.minutes(30)))
struct BesideProcessesTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
  private static let seconds = environment["CDE_BESIDE_SECONDS"].flatMap(Double.init) ?? 1

  @Test("Both end with the graph of the file, and have heard each commit once, in order")
  func graphs() async throws {
    let folder = ProcessFolder.newURL("beside")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (seed, seconds) = (Self.seed, Self.seconds)
    print("Core Data beside SwiftData: seed \(seed), \(seconds) s")
    let store = folder.appendingPathComponent("Beside.store")
    // Made before, so that no process waits for another that makes it.
    _ = try ModelContainer(
      for: Binder.self, Participant.self, configurations: ModelConfiguration(url: store))
    async let first: Void = Self.swiftData(folder.path, seconds, seed)
    async let second: Void = Self.coreData(folder.path, seconds, seed)
    _ = await (first, second)
    func report(_ name: String) throws -> BesideReport {
      try JSONDecoder().decode(
        BesideReport.self, from: Data(contentsOf: folder.appendingPathComponent("\(name).json")))
    }
    let (swiftData, coreData) = (try report(SwiftDataProcess.name), try report(CoreDataProcess.name))
    let context = ModelContext(
      try ModelContainer(
        for: Binder.self, Participant.self, configurations: ModelConfiguration(url: store)))
    let stored = try BinderGraph(context)
    print(
      "\(swiftData.saves) and \(coreData.saves) saves, \(swiftData.refusals) and \(coreData.refusals) refusals, "
        + "\(stored.lines.count) objects")
    #expect(swiftData.graph == stored && coreData.graph == stored, "seed \(seed)")
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let numbers = history.map(\.transactionIdentifier)
    #expect(swiftData.heard == numbers, "seed \(seed)")
    #expect(coreData.heard == numbers, "seed \(seed)")
    #expect(Set(history.map(\.author)) == [SwiftDataProcess.name, CoreDataProcess.name])
    #expect(swiftData.saves > 0 && coreData.saves > 0)
    #expect(try StoreFile(url: store).rows("PRAGMA integrity_check") == [["ok"]])
  }

  private static func swiftData(_ folder: String, _ seconds: Double, _ seed: UInt64) async {
    await #expect(processExitsWith: .success, "seed \(seed)") {
      [folder = folder as String, seconds = seconds as Double, seed = seed as UInt64] in
      let url = URL(fileURLWithPath: folder)
      let report = try await SwiftDataProcess(url.appendingPathComponent("Beside.store"), seed: seed)
        .run(seconds: seconds)
      try JSONEncoder().encode(report).write(
        to: url.appendingPathComponent("\(SwiftDataProcess.name).json"))
    }
  }

  private static func coreData(_ folder: String, _ seconds: Double, _ seed: UInt64) async {
    await #expect(processExitsWith: .success, "seed \(seed)") {
      [folder = folder as String, seconds = seconds as Double, seed = seed as UInt64] in
      let url = URL(fileURLWithPath: folder)
      let store = url.appendingPathComponent("Beside.store")
      let report = try await CoreDataProcess(store).run(store, seconds: seconds, seed: seed &+ 1)
      try JSONEncoder().encode(report).write(
        to: url.appendingPathComponent("\(CoreDataProcess.name).json"))
    }
  }
}
