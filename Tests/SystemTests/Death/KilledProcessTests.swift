@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Testing

@Suite("A process that is killed while it saves")
struct KilledProcessTests {
  /// Where one store and its acknowledgements are.
  struct Place {
    let store: String
    let acknowledgements: String

    init(_ folder: URL, _ name: String) {
      store = folder.appendingPathComponent("\(name).sqlite").path
      acknowledgements = folder.appendingPathComponent("\(name).acknowledged").path
    }
  }

  @Test("Every acknowledged save is there whole and no other in part, over 50 deaths")
  func deaths() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
    let rounds = environment["CDE_DEATHS"].flatMap(Int.init) ?? 50
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cde-deaths-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var random = SplitMix(seed: seed)
    var saves = 0
    var unacknowledged = 0
    var place = Place(folder, "first")
    var known = 0
    for round in 0..<rounds {
      // Every fifth round begins a store and dies early, so that deaths in the midst of its creation are
      // among them.
      let isFresh = round % 5 == 0
      if isFresh {
        place = Place(folder, "store \(round)")
        known = 0
      }
      let delay = UInt32.random(in: isFresh ? 0...60_000 : 5_000...200_000, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL), "seed \(seed), round \(round)") {
        [
          store = place.store as String, acknowledged = place.acknowledgements as String,
          seed = seed as UInt64,
          known = known as Int, delay = delay as UInt32
        ] in
        killThisProcess(afterMicroseconds: delay)
        let writer = GraphWriter(container: try GraphStore.open(store))
        let acknowledgements = Acknowledgements(acknowledged)
        var world = GraphWorld(seed: seed, after: known)
        for number in known... {
          let step = world.step(number, seed: seed)
          try await writer.save(step)
          acknowledgements.write()
          world.apply(step)
        }
      }
      let before = known
      known += Acknowledgements.count(place.acknowledgements)
      try? FileManager.default.removeItem(atPath: place.acknowledgements)
      let comment: Comment = "seed \(seed), round \(round), \(known) saves acknowledged"
      let found = try inspect(place, comment)
      if found != GraphWorld(seed: seed, after: known) {
        // The save that was under way may have been committed just before its acknowledgement.
        known += 1
        unacknowledged += 1
        try #require(found == GraphWorld(seed: seed, after: known), comment)
      }
      saves += known - before
    }
    print(
      "Killed processes: seed \(seed), \(rounds) deaths, \(saves) saves, \(unacknowledged) committed but unacknowledged."
    )
    #expect(saves > rounds, "seed \(seed): the processes were killed before they saved")
  }

  /// Opens the store, compares it from all sides, and asks SQLite for its opinion.
  private func inspect(_ place: Place, _ comment: Comment) throws -> GraphWorld {
    let container = try GraphStore.open(place.store)
    let world = try GraphWorld(reading: container)
    try GraphStore.close(container)
    let file = try RawSQLite(place.store)
    #expect(try file.column("PRAGMA integrity_check") == ["ok"], comment)
    for (entity, table) in [("Owner", "ZOWNER"), ("Member", "ZMEMBER"), ("Mark", "ZMARK")] {
      let counter = try file.number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'")
      let highest = try file.number("SELECT max(Z_PK) FROM \(table)")
      #expect(counter >= highest, "\(comment): Z_MAX of \(entity)")
    }
    let joins = try file.column(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
    #expect(joins.count == 1, comment)
    let links = try file.number("SELECT count(*) FROM \"\(joins.first ?? "")\"")
    #expect(links == world.graphs.values.reduce(0) { $0 + $1.marks.count }, comment)
    return world
  }
}
