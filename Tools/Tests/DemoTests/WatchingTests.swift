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
    var painted = lines.makeAsyncIterator()
    let shown = await untilEnd(&painted, after: nil)
    await first
    async let second: Void = index(store, limit: nil)
    let shownLater = await untilEnd(&painted, after: shown.last)
    await second
    watcher.finish()
    #expect(shown.first == "Nothing was indexed yet")
    #expect(shown.count + shownLater.count > 2)
    #expect([shown.last, shownLater.last].allSatisfy { $0?.hasPrefix("0 records") == false })
  }

  /// The lines up to the next one that ends a run.
  ///
  /// - Parameter end: the line that ended the run before, which may be painted again.
  @MainActor
  private static func untilEnd(
    _ lines: inout AsyncStream<String>.Iterator, after end: String?
  ) async -> [String] {
    var shown: [String] = []
    while let line = await lines.next(isolation: #isolation) {
      shown.append(line)
      if line.hasSuffix("done"), line != end { break }
    }
    return shown
  }

  private static func index(_ store: String, limit: Int?) async {
    await #expect(processExitsWith: .success) { [store = store as String, limit = limit as Int?] in
      let sample = try #require(PackageSource.sample)
      let session = try await Session(store: try #require(IndexPlace(store)))
      try await session.run([sample], limit: limit, path: nil)
    }
  }
}
