import CDEManagedModel
import CDEModelRuntime
import CDETestSupport
import CDETesting
import Foundation
import Testing

/// Cases that fail for good, and one that passes, in a process of their own.
@Suite("Cases in a process of their own", .enabled(if: OwnProcess.isRunning))
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

  @Test("Compares", .store(Note.self, Label.self), .template { Note(context: $0).title = "same" })
  func comparing() async throws {
    let container = TestStore.current.container
    let before = try await StoreContents(container)
    try await container.addNote("more")
    let after = try await StoreContents(container)
    #expect(after == before)
  }

  @Test("Passes", .store(Note.self, Label.self))
  func passing() async throws { try await TestStore.current.container.addNote("x") }
}

@Suite("What failing cases attach")
struct AttachmentTests {
  @Test("A failing expectation of equal contents shows the properties that differ")
  func differences() async throws {
    let folder = try OwnProcess.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (_, output) = try await OwnProcess.run(
      ["--testing-library", "swift-testing", "--filter", "FailingCases/comparing"], temporary: folder)
    #expect(output.contains("± inserted [Note/p2 labels: {}, Note/p2 title: \"more\"]\n"), "\(output)")
  }

  @Test("Failing cases attach their SQL and their store, passing ones nothing")
  func attachments() async throws {
    let folder = try OwnProcess.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let attached = folder.appendingPathComponent("attached")
    let (status, output) = try await OwnProcess.run(
      [
        "--testing-library", "swift-testing", "--filter", "FailingCases/(onDisk|inMemory|passing)",
        "--attachments-path", attached.path,
      ], temporary: folder)
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
    #expect(try OwnProcess.kept(in: folder, name) == files)
  }
}
