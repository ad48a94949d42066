import CoreDataEvolution
import Foundation
import PackageModel
import Testing

@testable import demo

@Suite("Watching the runs of another process", .timeLimit(.minutes(5)))
struct WatchingTests {
  @Test("A watcher repaints after each run of another process")
  @MainActor
  func following() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cde-watch-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await Self.follow(folder.appendingPathComponent("Packages.sqlite").path)
  }

  #if PostgreSQL
    @Test(
      "A watcher repaints after each run of another process on a server",
      .enabled(if: ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"] != nil, "No server is named."))
    @MainActor
    func followingOverServer() async throws {
      try await Self.follow(ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"]!)
    }
  #endif

  /// - Parameter store: a path, or a URL of a server that has no index.
  @MainActor
  private static func follow(_ store: String) async throws {
    let container = try PackageStore.open(try #require(IndexPlace(store)))
    let observation = CDEObservationDomain(container: container)
    let watcher = try RunWatcher(observation, on: Terminal())
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    watcher.onPaint = { continuation.yield($0) }
    watcher.follow()
    // Two runs, because one may end before its first line is painted.
    async let first: Void = index(store, limit: 10)
    var (shown, ends): ([String], [String]) = ([], [])
    var lines = lines.makeAsyncIterator()
    func readToEnd() async {
      while let line = await lines.next() {
        shown.append(line)
        // A line may be painted twice.
        if line.hasSuffix("done"), !ends.contains(line) {
          ends.append(line)
          return
        }
      }
    }
    await readToEnd()
    await first
    async let second: Void = index(store, limit: nil)
    await readToEnd()
    await second
    watcher.finish()
    #expect(shown.first == "Nothing was indexed yet")
    #expect(ends.count == 2 && ends.allSatisfy { !$0.hasPrefix("0 records") })
  }

  private static func index(_ store: String, limit: Int?) async {
    await #expect(processExitsWith: .success) { [store = store as String, limit = limit as Int?] in
      let sample = try #require(PackageSource.sample)
      let session = try await Session(store: try #require(IndexPlace(store)))
      try await session.run([sample], limit: limit, path: nil)
    }
  }
}
