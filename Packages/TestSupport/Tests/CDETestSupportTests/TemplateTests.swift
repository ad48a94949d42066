import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDETestSupport
import CDETesting
import Foundation
import Testing

/// A store with a note and an external value, still open and with all of it in its log; made once.
///
/// It is an argument of a test, so each process that lists the tests makes it, the children of exit tests included. So its place must be
/// the process's own.
private enum Prototype {
  static let container: NSPersistentContainer = {
    do {
      let container = NSPersistentContainer(name: "Prototype", managedObjectModel: try model())
      container.persistentStoreDescriptions = [
        NSPersistentStoreDescription(url: ProcessFolder.newURL("prototype"))
      ]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      let context = container.newBackgroundContext()
      try context.performAndWait {
        let paper = NSEntityDescription.insertNewObject(forEntityName: "Paper", into: context)
        paper.setValue(text, forKey: "text")
        try context.save()
      }
      return container
    } catch { fatalError("\(error)") }
  }()

  /// Longer than what stays in the row.
  static let text = Data(repeating: 7, count: 300_000)
  static var file: URL { container.storeURL! }

  @Sendable static func model() throws -> NSManagedObjectModel {
    let text = NSAttributeDescription()
    text.name = "text"
    text.attributeType = .binaryDataAttributeType
    text.allowsExternalBinaryDataStorage = true
    let paper = NSEntityDescription()
    paper.name = "Paper"
    paper.properties = [text]
    let model = NSManagedObjectModel()
    model.entities = [paper]
    return model
  }
}

private func file(_ name: String, _ content: String) -> URL {
  let file = ProcessFolder.url.appendingPathComponent("template-\(name)")
  try? Data(content.utf8).write(to: file)
  return file
}

@Suite("Templates")
struct TemplateTests {
  @Test(
    "A copy of a store has what is in its log and its external values, and is the case's own",
    .template(Prototype.file), .store(model: Prototype.model), arguments: 0..<3)
  func copy(number: Int) async throws {
    let container = TestStore.current.container
    #expect(container.storeURL != Prototype.file)
    let context = container.newBackgroundContext()
    try await context.perform {
      let papers = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Paper"))
      #expect(papers.map { $0.value(forKey: "text") as? Data } == [Prototype.text])
      papers.forEach(context.delete)
      try context.save()
    }
    #expect(FileManager.default.fileExists(atPath: Prototype.file.path + "-wal"))
  }

  @Test(
    "A template that is missing fails the test with its path",
    .failing("There is no such file.", "missing.sqlite", "Give .template the path"),
    .store(Note.self, Label.self), .template("missing.sqlite"))
  func missing() {}

  @Test(
    "A relative path begins beside the source file", .failing("CDETestSupportTests/Stores/missing.sqlite"),
    .store(Note.self, Label.self), .template("Stores/missing.sqlite"))
  func relative() {}

  @Test(
    "A template that is empty fails the test", .failing("The file is empty."), .store(Note.self, Label.self),
    .template(file("empty", "")))
  func empty() {}

  @Test(
    "A template that is no store fails the test",
    .failing("It is a copy of the template at", "is no SQLite file"),
    .store(Note.self, Label.self), .template(file("foreign", String(repeating: "no database ", count: 500))))
  func foreign() {}

  @Test(
    "A template of another model fails the test", .failing("It is a copy of the template at"),
    .store(Note.self, Label.self), .template(Prototype.file))
  func otherModel() {}

  @Test(
    "A template can't be copied into memory, and the test says what to do", .failing("Leave .inMemory out"),
    .store(model: Prototype.model), .template(Prototype.file), .inMemory)
  func memory() {}

  @Test(
    "A template without a store fails the test", .failing("Add .store(Item.self, ...)"),
    .template { Note(context: $0).title = "x" })
  func withoutStore() {}

  @Test(
    "A template that throws fails the test", .failing("refused"), .store(Note.self, Label.self),
    .template { _ in throw Refused() })
  func refused() {}

  struct Refused: LocalizedError {
    var errorDescription: String? { "refused" }
  }

  @Suite("of a suite", .store(Note.self, Label.self), .template { Note(context: $0).title = "suite's" })
  struct Inherited {
    @Test(
      "A test's own template fills the suite's store as well", .template { Note(context: $0).title = "own" })
    func both() async throws {
      #expect(try await TestStore.current.container.titles() == ["own", "suite's"])
    }

    @Test("A store that takes the suite's place does not take its template", .store(Plain.self))
    func other() async throws {
      let context = TestStore.current.container.newBackgroundContext()
      #expect(try await context.perform { try context.count(for: Plain.fetchRequest()) } == 0)
    }
  }
}
