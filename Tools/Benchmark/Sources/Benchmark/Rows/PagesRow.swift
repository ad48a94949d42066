import CoreDataEvolution
import Foundation

/// Rows paged-bytes and streamed-bytes: the most memory that a process needs beside what it had after opening, while it
/// reads one property of each of a million objects.
@MainActor
struct PagesRow {
  let workspace: Workspace

  private static let batch = 100
  private static let file = "pages.sqlite"

  init(_ workspace: Workspace) { self.workspace = workspace }

  static func count(_ workspace: Workspace) -> Int { workspace.isSmoke ? 10_000 : 1_000_000 }

  func contenders(_ subject: MemoryRow.Subject) throws -> [Contender] {
    let url = workspace.folder.appendingPathComponent(Self.file)
    if !FileManager.default.fileExists(atPath: url.path) { try fill(workspace.emptyPath(Self.file)) }
    return [MemoryRow.contender(.ours, subject, url.path)]
  }

  private func fill(_ url: URL) throws {
    let store = try OurStore(at: url)
    let context = store.container.newBackgroundContext()
    try context.performAndWait {
      for start in stride(from: 0, to: Self.count(workspace), by: 10_000) {
        for number in start..<start + 10_000 {
          let entry = Entry(context: context)
          entry.section = number / 100
          entry.title = "The entry with the number \(number)"
        }
        try context.save()
        context.reset()
      }
    }
    try store.close()
  }

  // MARK: In the child

  static func readPaged(_ path: String) throws -> Int {
    let context = try openedContext(path)
    return try context.performAndWait {
      let before = MemoryRow.residentBytes
      var sum = 0
      let entries = try context.fetch(Entry.fetchRequest(), batchSize: batch)
      for entry in entries { sum &+= entry.title.utf8.count }
      consume(sum)
      return withExtendedLifetime(entries) { MemoryRow.peakBytes - before }
    }
  }

  static func readStreamed(_ path: String) async throws -> Int {
    let context = try openedContext(path)
    func sum() async throws -> Int {
      var sum = 0
      for try await entry in context.stream(Entry.fetchRequest(), batchSize: batch) {
        sum &+= entry.title.utf8.count
      }
      return sum
    }
    // The background has a connection of its own, whose page cache is filled by a first stream. What one takes for its time is still
    // the peak.
    consume(try await sum())
    let before = MemoryRow.residentBytes
    consume(try await sum())
    return MemoryRow.peakBytes - before
  }

  /// A context of the main actor, whose store has read the whole file once: SQLite's page cache is full.
  private static func openedContext(_ path: String) throws -> NSManagedObjectContext {
    let store = try OurStore(at: URL(fileURLWithPath: path))
    let context = store.container.viewContext
    let scan = Entry.fetchRequest()
    scan.predicate = NSPredicate(format: "title == %@", "-")
    consume(try context.fetch(scan))
    return context
  }
}
