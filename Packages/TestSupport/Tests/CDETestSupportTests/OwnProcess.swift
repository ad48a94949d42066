@_spi(CDE) import CDESQLiteFaults
import Foundation

/// A process of this very program, in which cases run that fail for good.
enum OwnProcess {
  private static let variable = "CDE_TEST_FAILING_CASES"

  /// Whether this is one.
  static var isRunning: Bool { ProcessInfo.processInfo.environment[variable] != nil }

  /// Runs the program with arguments of its own.
  ///
  /// - Parameter temporary: Its temporary folder.
  static func run(_ arguments: [String], temporary: URL) async throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment[variable] = "1"
    environment["TMPDIR"] = temporary.path
    process.environment = environment
    let log = temporary.appendingPathComponent("output")
    try Data().write(to: log)
    let handle = try FileHandle(forWritingTo: log)
    process.standardOutput = handle
    process.standardError = handle
    let status = try await withCheckedThrowingContinuation { done in
      process.terminationHandler = { done.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    return (status, try String(contentsOf: log, encoding: .utf8))
  }

  /// A temporary folder, with the folder `attached` in it.
  static func makeFolder() throws -> URL {
    let folder = ProcessFolder.newURL()
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("attached"), withIntermediateDirectories: true)
    return folder
  }

  /// The files that failed cases of a source file or class left in a temporary folder.
  static func kept(in folder: URL, _ name: String) throws -> [String] {
    let stores = folder.appendingPathComponent("CoreDataEvolutionTestTemp").path
    return try FileManager.default.contentsOfDirectory(atPath: stores).filter { $0.contains(name) }.sorted()
  }
}
