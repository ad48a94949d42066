#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Eight processes that write to one store at the same time, for `CDE_PROCESS_SECONDS`.
  @Suite(.needsServer) struct EightProcessesTests {
    private static let processes = 8

    @Test(
      "Counters add up, unique values stay unique, no error is unexplained, and all processes have the same graph",
      .timeLimit(.minutes(30)))
    func contention() async throws {
      let seed = TestScale.seed
      let seconds = TestScale.number("CDE_PROCESS_SECONDS", or: 4)
      let place = TestSchema()
      var configuration = place.configuration()
      configuration.tracksHistory = true
      let store = try PostgreSQLStore(schema: Shop.resolved, configuration: configuration)
      try ProcessWriter.prepare(store)
      let folder = NSTemporaryDirectory() + "/cde-processes-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      await withTaskGroup(of: Void.self) { group in
        for process in 0..<Self.processes {
          let schema = place.name
          group.addTask { await Self.run(process, schema, folder, seed, seconds) }
        }
      }
      let reports = try (0..<Self.processes).map {
        try JSONDecoder().decode(
          ProcessWriter.Report.self, from: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")))
      }
      func sum(_ number: KeyPath<ProcessWriter.Report, Int>) -> Int {
        reports.reduce(0) { $0 + $1[keyPath: number] }
      }
      let comment: Comment = "seed \(seed)"
      let connection = try place.connection()
      #expect(reports.flatMap(\.faults) == [], comment)
      for counter in 0..<ProcessWriter.counterCount {
        let raised = reports.reduce(0) { $0 + $1.raised[counter] }
        let row = try store.describe("Item", Int64(counter) + 1)
        #expect(row?["big"] == "\(raised)" && row?["version"] == "\(raised + 1)", comment)
      }
      #expect(
        try connection.integer(#"SELECT count(*) - count(DISTINCT ("ZNAME", "ZCODE")) FROM "ZCATEGORY""#)
          == 0, comment)
      #expect(
        try connection.integer(#"SELECT count(*) FROM "ZCATEGORY""#)
          == Int64(sum(\.newValues) - sum(\.removedValues)),
        comment)
      #expect(
        try connection.integer(#"SELECT count(*) FROM "ZITEM""#)
          == Int64(ProcessWriter.counterCount + sum(\.newItems) - sum(\.removedItems)), comment)
      let stored = try Replica.storedLines(connection)
      for (process, report) in reports.enumerated() {
        let (missing, wrong) = (Set(stored).subtracting(report.graph), Set(report.graph).subtracting(stored))
        #expect(missing == [] && wrong == [], "\(comment), process \(process)")
        #expect(report.graph.count == stored.count, "\(comment), process \(process)")
      }
      print(
        "Eight processes: seed \(seed), \(seconds) seconds, \(sum(\.commits)) commits, \(sum(\.conflicts)) conflicts, "
          + "\(sum(\.refusals)) refusals, \(stored.count) rows in the end.")
      #expect(sum(\.conflicts) > 0 && sum(\.refusals) > 0, "\(comment): the processes did not meet")
    }

    private static func run(
      _ process: Int, _ schema: String, _ folder: String, _ seed: UInt64, _ seconds: Int
    ) async {
      await #expect(processExitsWith: .success, "process \(process), seed \(seed)") {
        [
          process = process as Int, schema = schema as String, folder = folder as String,
          seed = seed as UInt64,
          seconds = seconds as Int
        ] in
        var configuration = PostgreSQLConfiguration(url: TestServer.url!, schema: schema, poolSize: 2)
        configuration.tracksHistory = true
        let store = try PostgreSQLStore(schema: Shop.resolved, configuration: configuration)
        var writer = try ProcessWriter(store, process: process, seed: seed)
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline { try writer.step() }
        let report = try writer.finish(processes: EightProcessesTests.processes)
        try JSONEncoder().encode(report).write(to: URL(fileURLWithPath: "\(folder)/\(process)"))
      }
    }
  }
#endif
