import CoreDataEvolution
import GRDB
import Observation

/// Rows i and observe-bytes: resident memory for each object, in a process of its own for each contender.
enum MemoryRow {
  /// Whose memory a child process measures.
  enum Subject: String {
    case ours, raw, rawTuned, grdb
    /// Readers of our registered objects, and of as many plain observable ones.
    case tracked, observables
    /// Our objects, read one after the other in batches.
    case paged, streamed
    /// An import by a batch request.
    case imported
    /// The items as models of SwiftData's layer.
    case pieces
  }

  @MainActor
  static func contenders(_ workspace: Workspace) -> [Contender] {
    [
      contender(.ours, .ours, workspace.ourPath), contender(.raw, .raw, workspace.rawPath),
      contender(.rawTuned, .rawTuned, workspace.rawPath), contender(.grdb, .grdb, workspace.rawPath),
    ]
  }

  @MainActor
  static func tracking(_ workspace: Workspace) -> [Contender] {
    [
      contender(.ours, .tracked, workspace.ourPath),
      contender(.reference, .observables, "\(workspace.samples.itemCount)"),
    ]
  }

  @MainActor
  static func contender(
    _ side: Contender.Side, _ subject: Subject, _ detail: String
  ) -> Contender {
    Contender(side) { try measureInChild("\(subject.rawValue):\(detail)") }
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
  static func runChild(_ argument: String) async throws {
    let parts = argument.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2, let subject = Subject(rawValue: parts[0]) else {
      throw Options.UsageError(description: "--memory needs WHOSE:FILE.")
    }
    switch subject {
    case .ours: print(try ours(parts[1]))
    case .raw: print(raw(parts[1], .plain))
    case .rawTuned: print(raw(parts[1], .ours))
    case .grdb: print(try records(parts[1]))
    case .tracked: print(try tracked(parts[1]))
    case .observables: print(observables(Int(parts[1]) ?? 0))
    case .pieces: print(try growth(SwiftDataRows.allPieces(at: parts[1])))
    case .paged: print(try PagesRow.readPaged(parts[1]))
    case .imported: print(try ImportRows.importMeasured(parts[1]))
    case .streamed: print(try await PagesRow.readStreamed(parts[1]))
    }
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

  @MainActor
  private static func tracked(_ path: String) throws -> Int {
    let store = try OurStore(at: URL(fileURLWithPath: path))
    let domain = CDEObservationDomain(container: store.container)
    let items = try store.container.viewContext.fetch(Item.fetchRequest())
    // Values are decoded and kept at their first read, which is no part of tracking.
    for item in items { consume(item.count) }
    return withExtendedLifetime((items, domain)) {
      growth {
        for item in items { withObservationTracking({ consume(item.count) }, onChange: {}) }
      }
    }
  }

  @MainActor
  private static func observables(_ count: Int) -> Int {
    // Each has its registrar from the start, where ours get one when they are tracked.
    growth {
      let counters = (0..<count).map { _ in ObservableCounter() }
      for counter in counters { withObservationTracking({ consume(counter.count) }, onChange: {}) }
      return counters
    }
  }

  private static func raw(_ path: String, _ pragmas: RawDatabase.Pragmas) -> Int {
    let database = RawDatabase(path, pragmas)
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

  static var residentBytes: Int { status("VmRSS:") }

  /// The most bytes that were resident at one time.
  static var peakBytes: Int { status("VmHWM:") }

  private static func status(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
    return 1024 * (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0)
  }
}
