import CoreDataEvolution
import Foundation
import PackageModel
import Testing

@testable import demo

@Suite("Watching the runs of another process", .timeLimit(.minutes(5)))
struct WatchingTests {
  @Test("A watcher repaints while another process indexes, and shows its end")
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
      "A watcher repaints while another process indexes on a server",
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
    async let indexing: Void = index(store)
    var shown: [String] = []
    for await line in lines {
      shown.append(line)
      if line.hasSuffix("done") { break }
    }
    await indexing
    watcher.finish()
    #expect(shown.first == "Nothing was indexed yet")
    #expect(shown.last?.hasPrefix("0 records") == false)
    #expect(shown.count > 2)
  }

  private static func index(_ store: String) async {
    await #expect(processExitsWith: .success) { [store = store as String] in
      let sample = try #require(PackageSource.sample)
      let session = try await Session(store: try #require(IndexPlace(store)))
      try await session.run([sample], limit: nil, path: nil)
    }
  }
}
