import CDEManagedModel
import CDEModelRuntime
import CDETesting
import Foundation
import Testing

/// Set in the process in which the cases of ``FailingCases`` run.
private let variable = "CDE_TEST_FAILING_CASES"

/// Cases that fail for good, and one that passes, in a process of their own.
@Suite("Cases in a process of their own", .enabled(if: ProcessInfo.processInfo.environment[variable] != nil))
struct FailingCases {
  @Test("Fails on disk", .store(Note.self, Label.self), .template { Note(context: $0).title = "before" })
  func onDisk() async throws {
    try await TestStore.current.container.addNote("secret")
    #expect(Bool(false))
  }

  @Test("Fails in memory", .store(Note.self, Label.self), .inMemory, .statementValues)
  func inMemory() async throws {
    struct Refused: Error {}
    try await TestStore.current.container.addNote("shown")
    throw Refused()
  }

  @Test("Passes", .store(Note.self, Label.self))
  func passing() async throws { try await TestStore.current.container.addNote("x") }
}

@Suite("What failing cases attach")
struct AttachmentTests {
  /// Runs ``FailingCases`` by this very program.
  private func run(attachments: URL, temporary: URL) async throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = [
      "--testing-library", "swift-testing", "--filter", "FailingCases", "--attachments-path", attachments.path,
    ]
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

  @Test("Failing cases attach their SQL and their store, passing ones nothing")
  func attachments() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cde-\(UUID().uuidString)")
    let attached = folder.appendingPathComponent("attached")
    try FileManager.default.createDirectory(at: attached, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (status, output) = try await run(attachments: attached, temporary: folder)
    #expect(status != 0, "\(output)")
    let name = "CDETestSupportTests_AttachmentTests.swift"
    let files = try FileManager.default.contentsOfDirectory(atPath: attached.path).sorted()
    #expect(
      files == [
        "\(name)-inMemory.sql", "\(name)-inMemory.sqlite", "\(name)-onDisk.sql", "\(name)-onDisk.sqlite",
      ], "\(output)")
    func text(_ file: String) throws -> String {
      try String(contentsOf: attached.appendingPathComponent(file), encoding: .utf8)
    }
    let plain = try text("\(name)-onDisk.sql")
    #expect(plain.hasPrefix("-- What the store was asked: 1 request.\n-- save\n"))
    #expect(plain.contains("INSERT INTO \"ZNOTE\""))
    // Values stay out unless the test asks for them.
    #expect(!plain.contains("secret"))
    #expect(try text("\(name)-inMemory.sql").contains("shown"))
    for (file, titles) in [("onDisk", ["before", "secret"]), ("inMemory", ["shown"])] {
      let store = attached.appendingPathComponent("\(name)-\(file).sqlite")
      #expect(try await NSPersistentContainer.reading(store).titles() == titles)
    }
    // What is kept stands beside: no log, and nothing of the case that passed.
    let kept = try FileManager.default.contentsOfDirectory(
      atPath: folder.appendingPathComponent("CoreDataEvolutionTestTemp").path)
    #expect(kept.filter { $0.contains(name) }.sorted() == files)
  }
}
