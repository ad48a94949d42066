@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Testing

/// Three processes over one store, each killed at some moment: one writes, one reads the history, one purges it.
@Suite("Processes that are killed while they use a history")
struct KilledHistoryTests {
  private static let environment = ProcessInfo.processInfo.environment

  /// What the reader keeps between its lives.
  private struct Place: Codable {
    var number: Int64
    var token: Data

    static func read(_ path: String) -> Place? {
      (try? Data(contentsOf: URL(fileURLWithPath: path))).flatMap {
        try? JSONDecoder().decode(Place.self, from: $0)
      }
    }

    func write(_ path: String) throws {
      try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    func unarchived() throws -> NSPersistentHistoryToken {
      try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: token))
    }
  }

  @Test(
    "The history has every acknowledged save in order, from some purge on, and a token is valid or expired")
  func deaths() async throws {
    let seed = Self.environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
    let rounds = Self.environment["CDE_HISTORY_DEATHS"].flatMap(Int.init) ?? 12
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cde-history-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appendingPathComponent("Graphs.sqlite").path
    let acknowledged = folder.appendingPathComponent("acknowledged").path
    let place = folder.appendingPathComponent("place").path
    // Made before: the processes are to meet over the history, not over the creation of the store.
    try GraphStore.close(GraphStore.open(store, history: true))
    var random = SplitMix(seed: seed)
    var (known, expired, purged) = (0, 0, 0)
    for round in 0..<rounds {
      let delays = (0..<3).map { _ in UInt32.random(in: 20_000...250_000, using: &random) }
      await withTaskGroup(of: Void.self) { group in
        let before = known
        group.addTask { await Self.write(store, acknowledged, seed, before, delays[0], round) }
        group.addTask { await Self.read(store, place, delays[1], round) }
        group.addTask { await Self.purge(store, delays[2], round) }
      }
      known += Acknowledgements.count(acknowledged)
      try? FileManager.default.removeItem(atPath: acknowledged)
      let comment: Comment = "seed \(seed), round \(round), \(known) saves acknowledged"

      let container = try GraphStore.open(store, history: true)
      let transactions = try Self.transactions(container, after: nil)
      // The save that was under way may have been committed just before its acknowledgement.
      if let last = transactions.last, last.transactionNumber == known + 1 { known += 1 }
      #expect(try GraphWorld(reading: container) == GraphWorld(seed: seed, after: known), comment)
      let first = transactions.first?.transactionNumber ?? Int64(known + 1)
      try #require(transactions.map(\.transactionNumber) == Array(first..<Int64(known + 1)), comment)
      #expect(transactions.allSatisfy { $0.author == "save \($0.transactionNumber - 1)" }, comment)
      if first > 1 { purged += 1 }
      if let kept = Place.read(place) {
        do {
          let rest = try Self.transactions(container, after: try kept.unarchived())
          #expect(rest.map(\.transactionNumber) == Array(kept.number + 1..<Int64(known + 1)), comment)
        } catch let error as ManagedObjectError where error.code == .historyTokenExpired {
          expired += 1
          #expect(first > kept.number + 1, comment)
        }
      }
      try GraphStore.close(container)
      #expect(try RawSQLite(store).column("PRAGMA integrity_check") == ["ok"], comment)
    }
    print(
      "Killed with a history: seed \(seed), \(rounds) rounds, \(known) saves, \(purged) purged, \(expired) tokens expired."
    )
    #expect(known > rounds && purged > 0, "seed \(seed): the processes were killed before they worked")
  }

  private static func transactions(
    _ container: NSPersistentContainer, after token: NSPersistentHistoryToken?
  ) throws -> [NSPersistentHistoryTransaction] {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
      return try #require(
        (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
    }
  }

  private static func write(
    _ store: String, _ acknowledged: String, _ seed: UInt64, _ known: Int, _ delay: UInt32, _ round: Int
  ) async {
    await #expect(processExitsWith: .signal(SIGKILL), "writer, seed \(seed), round \(round)") {
      [
        store = store as String, acknowledged = acknowledged as String, seed = seed as UInt64,
        known = known as Int,
        delay = delay as UInt32
      ] in
      killThisProcess(afterMicroseconds: delay)
      let writer = GraphWriter(container: try GraphStore.open(store, history: true))
      let acknowledgements = Acknowledgements(acknowledged)
      var world = GraphWorld(seed: seed, after: known)
      for number in known... {
        let step = world.step(number, seed: seed)
        try await writer.save(step, author: "save \(number)")
        acknowledgements.write()
        world.apply(step)
      }
    }
  }

  /// Reads on where its last life ended, and ends by itself if a transaction is missing.
  private static func read(_ store: String, _ place: String, _ delay: UInt32, _ round: Int) async {
    await #expect(processExitsWith: .signal(SIGKILL), "reader, round \(round)") {
      [store = store as String, place = place as String, delay = delay as UInt32] in
      killThisProcess(afterMicroseconds: delay)
      let context = try GraphStore.open(store, history: true).newBackgroundContext()
      var last = KilledHistoryTests.Place.read(place)
      while true {
        do {
          for try await transaction in context.changes(after: try last?.unarchived()) {
            if let last, transaction.transactionNumber != last.number + 1 {
              fatalError("Transaction \(transaction.transactionNumber) came after \(last.number).")
            }
            let token = try NSKeyedArchiver.archivedData(
              withRootObject: transaction.token, requiringSecureCoding: true)
            last = KilledHistoryTests.Place(number: transaction.transactionNumber, token: token)
            try last?.write(place)
          }
        } catch let error as ManagedObjectError where error.code == .historyTokenExpired {
          last = nil
        }
      }
    }
  }

  private static func purge(_ store: String, _ delay: UInt32, _ round: Int) async {
    await #expect(processExitsWith: .signal(SIGKILL), "purging process, round \(round)") {
      [store = store as String, delay = delay as UInt32] in
      killThisProcess(afterMicroseconds: delay)
      let container = try GraphStore.open(store, history: true)
      let context = container.newBackgroundContext()
      while true {
        let token = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        try await context.perform {
          _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        }
      }
    }
  }
}
