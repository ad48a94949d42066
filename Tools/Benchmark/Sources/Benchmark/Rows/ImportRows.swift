import CoreDataEvolution
import Foundation

/// Rows import: so many objects that a program should not hold them, beside the command of SQLite for it.
@MainActor
struct ImportRows {
  let workspace: Workspace

  private var count: Int { workspace.importCount }
  private static let saved = 1_000

  var batch: [Contender] {
    [
      Contender(.ours) {
        let count = count
        return try importing { context in try context.execute(Self.request(count)) }
      },
      command,
    ]
  }

  var saves: [Contender] {
    [
      Contender(.ours) {
        let count = count
        return try importing { context in
          for start in stride(from: 0, to: count, by: Self.saved) {
            for number in start..<min(start + Self.saved, count) {
              let entry = Entry(context: context)
              entry.section = Self.section(number)
              entry.title = Self.title(number)
            }
            try context.save()
            context.reset()
          }
        }
      },
      command,
    ]
  }

  var memory: [Contender] {
    get throws {
      let path = try workspace.emptyPath("import-child.sqlite").path
      return [MemoryRow.contender(.ours, .imported, "\(count) \(path)")]
    }
  }

  /// Both sides open and close, which brings everything into the database's own file.
  private func importing(_ body: @escaping (NSManagedObjectContext) throws -> Void) throws -> Double {
    let url = try workspace.emptyPath("import-ours.sqlite")
    return try nanoseconds {
      let store = try OurStore(at: url)
      let context = store.container.newBackgroundContext()
      try context.performAndWait { try body(context) }
      try store.close()
    }
  }

  // MARK: The objects

  /// A request for objects that a handler makes one after the other, as a reader of a file would.
  nonisolated static func request(_ count: Int) -> NSBatchInsertRequest {
    var next = 0
    return NSBatchInsertRequest(entityName: "Entry") { (values: NSMutableDictionary) in
      if next == count { return true }
      values["section"] = section(next)
      values["title"] = title(next)
      next += 1
      return false
    }
  }

  private nonisolated static func section(_ number: Int) -> Int { number / 100 }
  private nonisolated static func title(_ number: Int) -> String { "The entry with the number \(number)" }

  /// A file of comma-separated values with the same objects.
  static func file(_ count: Int, in folder: URL) throws -> URL {
    let url = folder.appendingPathComponent("import-\(count).csv")
    if FileManager.default.fileExists(atPath: url.path) { return url }
    try Data().write(to: url)
    let file = try FileHandle(forWritingTo: url)
    for start in stride(from: 0, to: count, by: 10_000) {
      var text = ""
      for number in start..<min(start + 10_000, count) {
        text += "\(number + 1),1,1,0,\(section(number)),\(title(number))\n"
      }
      try file.write(contentsOf: Data(text.utf8))
    }
    try file.close()
    return url
  }

  // MARK: The command

  /// `sqlite3` with its `.import`, into the columns and the index of our table.
  private var command: Contender {
    Contender(.reference) {
      let file = try Self.file(count, in: workspace.folder)
      let path = try workspace.emptyPath("import-raw.sqlite").path
      let script = """
        \(RawDatabase.Pragmas.ours.sql);
        CREATE TABLE entry(id INTEGER PRIMARY KEY, entity INTEGER, version INTEGER, count INTEGER, section INTEGER, title VARCHAR);
        CREATE INDEX entry_section ON entry(section);
        .import --csv \(file.path) entry
        SELECT count(*) FROM entry;
        """
      return try nanoseconds {
        let lines = try Self.run("sqlite3", [path], input: script).split(separator: "\n")
        precondition(lines.last == "\(count)", "sqlite3 imported \(lines.last ?? "nothing").")
      }
    }
  }

  /// Runs a command, which has to succeed.
  static func run(_ command: String, _ arguments: [String], input: String = "") throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [command] + arguments
    let (given, printed) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (given, printed)
    try process.run()
    try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try given.fileHandleForWriting.close()
    let text = String(decoding: printed.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw MemoryRow.Failure(description: "\(command) failed. Install it, or leave the rows of imports out.")
    }
    return text
  }

  // MARK: In the child

  /// - Returns: the bytes that the process needs at most, beside what it has after opening.
  static func importMeasured(_ argument: String) throws -> Int {
    let parts = argument.split(separator: " ", maxSplits: 1)
    let store = try OurStore(at: URL(fileURLWithPath: String(parts[1])))
    let context = store.container.newBackgroundContext()
    return try context.performAndWait {
      let before = MemoryRow.residentBytes
      try context.execute(request(Int(parts[0])!))
      return MemoryRow.peakBytes - before
    }
  }
}
