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

  @Test(
    "Two containers in turns: each state of the file is whole, whichever rows a context has not read again")
  func containers() async throws {
    try await withFolder { folder in
      let path = folder.appendingPathComponent("Guilds.sqlite").path
      let seed = Self.seed
      print("Guilds, two containers: seed \(seed), \(Self.steps) steps")
      var writers = try (0..<2).map { try GuildWriters(path, seed: seed, process: $0) }
      var random = SplitMix(seed: seed)
      let file = try RawSQLite(path)
      for step in 0..<Self.steps {
        let turn = Int.random(in: 0..<2, using: &random)
        let saves = writers[turn].log.saves
        try writers[turn].step()
        if writers[turn].log.saves != saves { try checkFile(file, "seed \(seed), step \(step)") }
      }
      for turn in 0..<2 { try writers[turn].finish() }
      var all = writers[0].log
      all.add(writers[1].log)
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
