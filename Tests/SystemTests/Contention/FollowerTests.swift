@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Dispatch
import Synchronization
import Testing

/// The random program of several processes whose contexts follow each other by merges alone.
@Suite("Contexts that follow other processes")
struct FollowerTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? 1
  private static let steps = environment["CDE_FOLLOWED_STEPS"].flatMap(Int.init) ?? 400

  /// A long run of one case sets `CDE_FOLLOWERS` to its number of processes, and `CDE_FOLLOWERS_HISTORY` to 1 or 0.
  private static let counts = environment["CDE_FOLLOWERS"].flatMap(Int.init).map { [$0] } ?? [2, 4]
  private static let histories = environment["CDE_FOLLOWERS_HISTORY"].map { [$0 == "1"] } ?? [true, false]

  @Test(
    "Every context of every process ends with the graph of the file, and with a history each commit comes once, in order",
    .timeLimit(.minutes(30)), arguments: counts, histories)
  func following(processes: Int, history: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cde-followers-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (seed, steps) = (Self.seed, Self.steps)
    print("Followers, \(processes) processes, history: \(history): seed \(seed), \(steps) steps each")
    // Made before, so that no process waits for another that makes it.
    let made = try GuildModel.open(folder.appendingPathComponent("Guilds.sqlite").path, Self.options(history))
    for store in made.persistentStoreCoordinator.persistentStores {
      try made.persistentStoreCoordinator.remove(store)
    }
    let gate = Gate(folder, count: processes)
    gate.make()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await onDispatchThread { gate.open() } }
      for process in 0..<processes {
        group.addTask {
          await Self.run(process, of: processes, in: folder.path, history)
          // The others would wait for a process that ended early.
          gate.arrive()
        }
      }
    }
    for process in 0..<processes {
      let faults = try String(contentsOfFile: "\(folder.path)/faults \(process)", encoding: .utf8)
      #expect(faults == "", "seed \(seed), process \(process)")
    }
    let file = try RawSQLite(folder.appendingPathComponent("Guilds.sqlite").path)
    #expect(try GuildModel.faults(in: file) == [])
    #expect(try file.column("PRAGMA integrity_check") == ["ok"])
  }

  private static func options(_ history: Bool) -> [String] {
    [NSPersistentStoreRemoteChangeNotificationPostOptionKey]
      + (history ? [NSPersistentHistoryTrackingKey] : [])
  }

  private static func run(_ process: Int, of processes: Int, in folder: String, _ history: Bool) async {
    await #expect(processExitsWith: .success, "process \(process) of \(processes), history: \(history)") {
      [
        process = process as Int, processes = processes as Int, folder = folder as String,
        history = history as Bool,
        seed = seed as UInt64, steps = steps as Int
      ] in
      let gate = Gate(URL(fileURLWithPath: folder), count: processes)
      let path = folder + "/Guilds.sqlite"
      let worked = Result {
        var writers = try GuildWriters(
          path, seed: seed, process: process, options: FollowerTests.options(history))
        for _ in 0..<steps { try writers.step() }
        try writers.finish()
        return writers
      }
      gate.pass(process)
      let writers = try worked.get()
      let stored = try GuildWriters.graph(
        GuildModel.open(path, FollowerTests.options(history)).newBackgroundContext())
      var faults: [String] = []
      for (index, context) in writers.contexts.enumerated() {
        let found = FollowerTests.waitUntilEqual(context, stored)
        faults += found.map { "context \(index), in memory: \($0)" }
        let fetched = GuildWriters.differences(try GuildWriters.graph(context), stored)
        faults += fetched.map { "context \(index), fetched: \($0)" }
      }
      if history { faults += try await FollowerTests.historyFaults(writers, path) }
      try faults.joined(separator: "\n").write(
        toFile: "\(folder)/faults \(process)", atomically: true, encoding: .utf8)
    }
  }

  /// Waits for merges until what the context has in memory is as stored.
  ///
  /// - Returns: the differences that are left if no merge comes for half a minute.
  private static func waitUntilEqual(
    _ context: NSManagedObjectContext, _ stored: [String: [String: String]]
  ) -> [String] {
    let merged = DispatchSemaphore(value: 0)
    let token = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, queue: nil
    ) { _ in merged.signal() }
    defer { NotificationCenter.default.removeObserver(token) }
    while true {
      let found = GuildWriters.differences(GuildWriters.held(context), stored, isWhole: false)
      if found == [] || merged.wait(timeout: .now() + 30) == .timedOut { return found }
    }
  }

  /// The stream of transactions has those of all processes, each once, and each names the process's own objects.
  private static func historyFaults(_ writers: GuildWriters, _ path: String) async throws -> [String] {
    let file = try RawSQLite(path)
    let last = try file.number("SELECT max(Z_PK) FROM ATRANSACTION")
    let context = writers.contexts[0]
    var numbers: [Int64] = []
    for try await transaction in context.changes(after: nil) {
      numbers.append(transaction.transactionNumber)
      if transaction.transactionNumber >= last { break }
    }
    return numbers == Array(1...Int64(last))
      ? [] : ["The history of \(last) transactions came as \(numbers)."]
  }
}

private func onDispatchThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    // Not one of the pool's threads, of which a machine with one processor has one.
    DispatchQueue(label: "writer").async {
      body()
      continuation.resume()
    }
  }
}
