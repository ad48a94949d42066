import CoreDataEvolution
import GRDB

/// Row i: resident memory for each object held, in a process of its own for each contender.
enum MemoryRow {
  /// What the child process is told: whose objects to make, of which file.
  static func argument(_ side: Contender.Side, _ path: String) -> String { "\(name(side)):\(path)" }

  private static func name(_ side: Contender.Side) -> String {
    switch side {
    case .ours: "ours"
    case .raw, .rawTuned, .floor: "raw"
    case .grdb: "grdb"
    }
  }

  @MainActor
  static func contenders(_ workspace: Workspace) -> [Contender] {
    [(Contender.Side.ours, workspace.ourPath), (.raw, workspace.rawPath), (.grdb, workspace.rawPath)].map {
      side, path in
      Contender(side) { try measureInChild(argument(side, path)) }
    }
  }

  /// - Returns: bytes of all objects together.
  private static func measureInChild(_ argument: String) throws -> Double {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--memory", argument]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0,
      let bytes = Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
    else { throw Failure(description: "The process that measures memory (\(argument)) printed: \(text)") }
    return bytes
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  // MARK: In the child

  @MainActor
  static func runChild(_ argument: String) throws {
    let parts = argument.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw Options.UsageError(description: "--memory needs WHOSE:FILE.") }
    print(parts[0] == "ours" ? try ours(parts[1]) : parts[0] == "raw" ? raw(parts[1]) : try records(parts[1]))
  }

  @MainActor
  private static func ours(_ path: String) throws -> Int {
    let store = try OurStore(at: URL(fileURLWithPath: path))
    let context = store.container.newBackgroundContext()
    return try context.performAndWait {
      // Reads the whole file once, so that SQLite's page cache is full before anything is counted.
      let scan = Item.fetchRequest()
      scan.predicate = NSPredicate(format: "title == %@ OR note == %@ OR score < 0", "-", "-")
      consume(try context.fetch(scan))
      let few = Item.fetchRequest()
      few.fetchLimit = 10
      consume(try context.fetch(few))
      return try growth { try context.fetch(Item.fetchRequest()) }
    }
  }

  private static func raw(_ path: String) -> Int {
    let database = RawDatabase(path)
    let statement = database.prepare("SELECT \(RawDatabase.columns) FROM item")
    while statement.step() {}
    statement.reset()
    return growth { statement.items() }
  }

  private static func records(_ path: String) throws -> Int {
    let pool = try RecordDatabase.open(path)
    consume(try pool.read { try ItemRecord.limit(10).fetchAll($0) })
    return try growth { try pool.read { try ItemRecord.fetchAll($0) } }
  }

  private static func growth<Held>(_ make: () throws -> Held) rethrows -> Int {
    let before = residentBytes
    let held = try make()
    let after = residentBytes
    return withExtendedLifetime(held) { after - before }
  }

  private static var residentBytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return 1024 * (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0)
  }
}
