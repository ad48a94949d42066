import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@testable import CDESwiftData

/// `CDE_SEED` sets the seed, `CDE_PLANNED_MIGRATIONS` the number of migrations, and `CDE_EVERY_STEP=1` lets every write of each of them
/// fail, in every way. By default some of the writes do.
@Suite("Migrations between generated versions, by plan", .onSQLite, .timeLimit(.minutes(60)))
struct GeneratedMigrationTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
  private static let count = environment["CDE_PLANNED_MIGRATIONS"].flatMap(Int.init) ?? 20

  @Test("Each older version becomes the last one, with the values that the versions and the code say")
  func values() throws {
    print("Generated plans: seed \(Self.seed)")
    for round in 0..<UInt64(Self.count) {
      let story = try MigrationStory(seed: Self.seed &+ round)
      let context = ModelContext(try story.open(story.old))
      let faults = try story.faults(in: context)
      #expect(faults.isEmpty, "seed \(story.seed): \(faults.joined(separator: "\n"))")
      #expect(try StoreFile(url: story.old).rows("PRAGMA integrity_check") == [["ok"]], "seed \(story.seed)")
      ProcessFolder.remove(story.old)
    }
  }

  @Test("Whichever write fails, and how, the store has the old version or the last one, as a whole")
  func faults() throws {
    print("Generated plans that end early: seed \(Self.seed)")
    var number = 0
    for round in 0..<UInt64(Self.count) {
      let story = try MigrationStory(seed: Self.seed &+ round)
      let before = try story.contents(story.old)
      let counting = StoreFaults()
      let whole = try story.copy()
      counting.begin()
      try story.close(try story.open(whole, counting))
      let steps = counting.end().filter { [.write, .truncate, .sync, .delete].contains($0.operation) }
      let after = try story.contents(whole)
      ProcessFolder.remove(whole)
      var cases = steps.flatMap { step in
        [StoreFault.crash, .crashInWrite, .ioError, .tornWrite, .diskFull].filter {
          $0.concerns(step.operation)
        }.map { (step, $0) }
      }
      if !DrawnSteps.takesAll {
        var random = SplitMix(seed: story.seed)
        cases = Array(cases.shuffled(using: &random).prefix(1))
      }
      for (step, fault) in cases {
        number += 1
        try run(story, step, fault, before, after)
      }
      ProcessFolder.remove(story.old)
    }
    print("\(Self.count) migrations, \(number) faults")
    #expect(number >= Self.count)
  }

  private func run(
    _ story: MigrationStory, _ step: StoreStep, _ fault: StoreFault, _ before: [String: [[String]]],
    _ after: [String: [[String]]]
  ) throws {
    let place = Comment("seed \(story.seed), \(fault) at \(step)")
    let url = try story.copy()
    defer { ProcessFolder.remove(url) }
    let faults = StoreFaults()
    faults.begin(.at(step.number, fault))
    if let opened = try? story.open(url, faults) { try? story.close(opened) }
    faults.end()
    let found = try story.contents(url)
    #expect(found == before || found == after, place)
    #expect(try StoreFile(url: url).rows("PRAGMA integrity_check") == [["ok"]], place)
    let context = ModelContext(try story.open(url))
    let differences = try story.faults(in: context)
    #expect(differences.isEmpty, "\(place): \(differences.joined(separator: "\n"))")
  }
}

/// A store of one of several generated versions, and what the last one has to make of it.
struct MigrationStory {
  let seed: UInt64
  let old: URL
  let last: any GeneratedTag.Type
  private(set) var expected: GeneratedWorld
  private let versions: [GeneratedVersion]

  init(seed: UInt64) throws {
    self.seed = seed
    var random = SplitMix(seed: seed)
    var versions = [GeneratedVersion(&random)]
    let count = Int.random(in: 2...4, using: &random)
    while versions.count < count {
      let next = versions.last!.next(&random)
      if !versions.contains(where: { $0.hasEntities(of: next) }) { versions.append(next) }
    }
    self.versions = versions
    let tags = versions.map(MadeVersions.newTag)
    MadeChains.add(tags)
    last = tags.last!
    let start = Int.random(in: 0..<versions.count - 1, using: &random)
    expected = GeneratedWorld(versions[start], &random)
    if versions[start].attributes.contains(where: \.isUnique) {
      let removed = versions[start].duplicates(in: expected.houses, areOld: false)
      for id in removed { expected.houses[id] = nil }
      for (guest, house) in expected.guests where house.map(removed.contains) == true {
        expected.guests[guest] = .some(nil)
      }
    }
    old = ProcessFolder.newURL("generated").appendingPathExtension("store")
    let container = try ModelContainer(
      for: Schema(versionedSchema: tags[start].version), configurations: ModelConfiguration(url: old))
    try tags[start].fill(ModelContext(container), expected)
    for (from, to) in zip(versions[start...], versions[start...].dropFirst()) {
      expected.migrate(from: from, to: to)
    }
    try close(container)
    // One file, because no connection is open.
    _ = try StoreFile(url: old).rows("PRAGMA journal_mode = \(seed.isMultiple(of: 2) ? "WAL" : "DELETE")")
  }

  func open(_ url: URL, _ faults: StoreFaults? = nil) throws -> ModelContainer {
    let core = try ContainerCore(
      Schema(versionedSchema: last.version), last.plan, [ModelConfiguration(url: url)],
      options: faults.map { [CDESQLiteVFSOption: $0.vfs] } ?? [:])
    return ModelContainer(core)
  }

  /// What the migrated store has otherwise than it should, with the versions.
  func faults(in context: ModelContext) throws -> [String] {
    let found = try last.world(in: context).differences(from: expected)
    return found.isEmpty ? [] : found + versions.map { "\($0)" }
  }

  func close(_ container: ModelContainer) throws {
    let coordinator = container.core.coordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  func copy() throws -> URL {
    let url = ProcessFolder.newURL("generated").appendingPathExtension("store")
    try FileManager.default.copyItem(at: old, to: url)
    return url
  }

  /// All definitions and all rows; the times of the history differ from one run to the next.
  func contents(_ url: URL) throws -> [String: [[String]]] {
    let file = StoreFile(url: url)
    var result = ["": try file.rows("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")]
    for table in try file.rows("SELECT name FROM sqlite_master WHERE type = 'table'").map({ $0[0] }) {
      let columns = try file.rows("SELECT name FROM pragma_table_info('\(table)')").map { $0[0] }
        .filter { $0 != "ZTIMESTAMP" }.map { "quote(\"\($0)\")" }
      result[table] = try file.rows("SELECT \(columns.joined(separator: ", ")) FROM \"\(table)\"").sorted {
        $0.lexicographicallyPrecedes($1)
      }
    }
    return result
  }
}

extension ProcessFolder {
  /// Removes a store with its other files.
  fileprivate static func remove(_ url: URL) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: url.path + suffix)
    }
  }
}
