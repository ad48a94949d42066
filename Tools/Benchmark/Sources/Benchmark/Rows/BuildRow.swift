import Foundation

/// Row build: the umbrella, debug, from nothing, the macro plug-in included.
enum BuildRow {
  static func seconds() throws -> Double {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cde-build-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: scratch) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "swift", "build", "--package-path", root.path, "--scratch-path", scratch.path, "--product",
      "CoreDataEvolution",
    ]
    process.standardOutput = FileHandle.standardError
    let time = try nanoseconds {
      try process.run()
      process.waitUntilExit()
    }
    guard process.terminationStatus == 0 else {
      throw MemoryRow.Failure(description: "The umbrella at \(root.path) does not build.")
    }
    return time / 1e9
  }
}
