@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Testing

/// A random program of writers that do whatever they like to a graph with every delete rule.
@Suite("Writers that do whatever they like")
struct GuildTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? 1
  private static let steps = environment["CDE_STEPS"].flatMap(Int.init) ?? 3_000

  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cde-guilds-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  @Test("Three contexts: no reference dangles, no update is lost, and all graphs are equal at the end")
  func contexts() async throws {
    try await withFolder { folder in
      let path = folder.appendingPathComponent("Guilds.sqlite").path
      let seed = Self.seed
      print("Guilds, three contexts: seed \(seed), \(Self.steps) steps")
      var writers = try GuildWriters(path, seed: seed, process: 0)
      let file = try RawSQLite(path)
      for step in 0..<Self.steps {
        try writers.step()
        if step % 20 == 0 { try checkFile(file, "seed \(seed), step \(step)") }
      }
      try writers.finish()
      try check(writers.log, path, "seed \(seed)")
      let stored = try GuildWriters.graph(writers.container.newBackgroundContext())
      for (index, context) in writers.contexts.enumerated() {
        let found = GuildWriters.differences(try GuildWriters.graph(context), stored)
        try #require(found == [], "seed \(seed), context \(index)")
      }
    }
  }

  @Test("Two processes of three contexts each: no reference dangles, no update is lost, a refresh shows all")
  func processes() async throws {
    try await withFolder { folder in
      let path = folder.appendingPathComponent("Guilds.sqlite").path
      let log = folder.appendingPathComponent("log.json").path
      let (seed, steps) = (Self.seed, Self.steps)
      print("Guilds, two processes: seed \(seed), \(steps) steps each")
      var writers = try GuildWriters(path, seed: seed, process: 0)
      async let other: Void = child(path, log, seed, steps)
      let file = try RawSQLite(path)
      for step in 0..<steps {
        try writers.step()
        if step % 20 == 0 { try checkFile(file, "seed \(seed), step \(step)") }
      }
      try writers.finish()
      await other
      var all = writers.log
      all.add(try JSONDecoder().decode(GuildLog.self, from: Data(contentsOf: URL(fileURLWithPath: log))))
      try check(all, path, "seed \(seed)")
      let stored = try GuildWriters.graph(writers.container.newBackgroundContext())
      for (index, context) in writers.contexts.enumerated() {
        context.performAndWait { context.refreshAllObjects() }
        let found = GuildWriters.differences(try GuildWriters.graph(context), stored)
        try #require(found == [], "seed \(seed), context \(index)")
      }
    }
  }

  /// Two containers whose saves interrupt each other.
  private final class Turns: @unchecked Sendable {
    // Guard: the test uses it on one thread.
    var writers: [Box] = []
    private var random: SplitMix
    private var isInterrupted = false
    private(set) var failure: (any Error)?

    final class Box {
      var writers: GuildWriters
      init(_ writers: GuildWriters) { self.writers = writers }
    }

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    func next() -> Int { Int.random(in: 0..<2, using: &random) }

    /// Lets the other container take some steps inside of a save, now and then.
    func interrupt(_ process: Int) {
      guard !isInterrupted, writers.count == 2, Int.random(in: 0..<3, using: &random) == 0 else { return }
      isInterrupted = true
      defer { isInterrupted = false }
      do {
        for _ in 0..<Int.random(in: 1..<12, using: &random) { try writers[1 - process].writers.step() }
      } catch { failure = error }
    }
  }

  @Test("Two containers whose saves interrupt each other: each state of the file is whole")
  func containers() async throws {
    try await withFolder { folder in
      let path = folder.appendingPathComponent("Guilds.sqlite").path
      let seed = Self.seed
      print("Guilds, two containers: seed \(seed), \(Self.steps) steps")
      let turns = Turns(seed: seed)
      turns.writers = try (0..<2).map { process in
        Turns.Box(
          try GuildWriters(path, seed: seed, process: process) { [weak turns] in turns?.interrupt(process) })
      }
      let file = try RawSQLite(path)
      for step in 0..<Self.steps {
        let turn = turns.writers[turns.next()]
        let saves = turn.writers.log.saves
        try turn.writers.step()
        if let failure = turns.failure { throw failure }
        if turn.writers.log.saves != saves { try checkFile(file, "seed \(seed), step \(step)") }
      }
      for turn in turns.writers { try turn.writers.finish() }
      var all = turns.writers[0].writers.log
      all.add(turns.writers[1].writers.log)
      try check(all, path, "seed \(seed)")
    }
  }

  private func child(_ path: String, _ log: String, _ seed: UInt64, _ steps: Int) async {
    await #expect(processExitsWith: .success, "seed \(seed)") {
      [path = path as String, log = log as String, seed = seed as UInt64, steps = steps as Int] in
      var writers = try GuildWriters(path, seed: seed, process: 1)
      for _ in 0..<steps { try writers.step() }
      try writers.finish()
      try JSONEncoder().encode(writers.log).write(to: URL(fileURLWithPath: log))
    }
  }

  private func checkFile(_ file: RawSQLite, _ comment: Comment) throws {
    let faults = try GuildModel.faults(in: file)
    try #require(faults == [], comment)
  }

  /// Asks SQLite, and compares the marks with those acknowledged.
  private func check(_ log: GuildLog, _ path: String, _ comment: Comment) throws {
    let file = try RawSQLite(path)
    try checkFile(file, comment)
    #expect(try file.column("PRAGMA integrity_check") == ["ok"], comment)
    var compared = 0
    for (number, marks) in log.marks where !log.deleted.contains(number) {
      for (mark, value) in marks {
        let stored = try file.number("SELECT ZMARK\(mark) FROM ZGUILD WHERE ZNUMBER = \(number)")
        #expect(stored == value, "\(comment): mark \(mark) of guild \(number)")
        compared += 1
      }
    }
    print("\(log.saves) saves, \(log.refusals) refused, \(compared) marks compared")
    #expect(log.saves > 0 && log.refusals > 0, comment)
  }
}
