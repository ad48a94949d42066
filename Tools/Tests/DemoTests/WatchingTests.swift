import CoreDataEvolution
import Foundation
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
    let store = folder.appendingPathComponent("Packages.sqlite")
    let container = try PackageStore.open(store)
    let observation = CDEObservationDomain(container: container)
    let watcher = try RunWatcher(observation, on: Terminal())
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    watcher.onPaint = { continuation.yield($0) }
    watcher.follow()
    async let indexing: Void = Self.index(store.path)
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
      let session = try await Session(store: URL(fileURLWithPath: store))
      try await session.run([sample], limit: nil, path: nil)
    }
  }
}
