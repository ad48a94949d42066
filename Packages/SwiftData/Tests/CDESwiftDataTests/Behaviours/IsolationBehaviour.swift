import CDEModelRuntime
import CDESwiftData
import Foundation
import Synchronization
import Testing

/// A value that leaves its isolation, as a program in language mode 5 lets it.
struct Leaked<Value>: @unchecked Sendable {
  // Guard: none. The tests are about uses without one.
  let value: Value
  init(_ value: Value) { self.value = value }
}

@ModelActor
actor Vault {
  func make() throws -> Leaked<Writer> {
    let writer = Writer("Ann")
    modelContext.insert(writer)
    for title in ["One", "Two"] { writer.novels.append(Novel(title)) }
    try modelContext.save()
    return Leaked(writer)
  }

  func unsaved() -> Leaked<Writer> {
    let writer = Writer("New")
    modelContext.insert(writer)
    return Leaked(writer)
  }

  func leakedContext() -> Leaked<ModelContext> { Leaked(modelContext) }
  func rename(_ writer: Leaked<Writer>, _ name: String) { writer.value.name = name }
  func name(_ writer: Leaked<Writer>) -> String { writer.value.name }
  func count(_ writer: Leaked<Writer>) -> Int { writer.value.novels.count }
  func save() throws { try modelContext.save() }
}

final class Flag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool { value.withLock { $0 } }
  func set() { value.withLock { $0 = true } }
}

/// What the library reports while a test runs. Tests that run at the same time have the same reports.
final class Reports: Sendable {
  private let lines = Mutex<[String]>([])
  private static let open = Mutex<[Reports]>([])

  init() {
    Self.open.withLock { $0.append(self) }
    Diagnostics.handler = { line in
      for reports in Self.open.withLock({ $0 }) { reports.lines.withLock { $0.append(line) } }
    }
  }

  func lines(with text: String) -> [String] { lines.withLock { $0.filter { $0.contains(text) } } }

  func stop() {
    let isLast = Self.open.withLock { open in
      open.removeAll { $0 === self }
      return open.isEmpty
    }
    if isLast { Diagnostics.handler = nil }
  }
}

@Suite("Behaviour: uses outside of the isolation", .serialized)
struct IsolationBehaviour {
  @Test("A read elsewhere has the stored value, and is reported once for its place", .tags(.decided))
  func read() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let vault = Vault(modelContainer: try Shelf.container())
    let writer = try await vault.make()
    for _ in 0..<3 { #expect(writer.value.name == "Ann") }
    let lines = reports.lines(with: "Writer was read")
    #expect(lines.count == 1)
    #expect(lines.first?.contains("persistentModelID") == true)
  }

  @Test("A read elsewhere does not see unsaved changes", .tags(.decided))
  func unsavedChange() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let vault = Vault(modelContainer: try Shelf.container())
    let writer = try await vault.make()
    await vault.rename(writer, "Bea")
    #expect(writer.value.name == "Ann")
    try await vault.save()
    #expect(writer.value.name == "Bea")
  }

  @Test("Relationships that are read elsewhere lead to models of the reader's own", .tags(.decided))
  func relationships() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let vault = Vault(modelContainer: try Shelf.container())
    let writer = try await vault.make()
    let novels = writer.value.novels
    #expect(Set(novels.map(\.title)) == ["One", "Two"])
    #expect(novels.allSatisfy { $0.writer?.name == "Ann" })
    let context = try #require(novels.first?.modelContext)
    let own = await vault.leakedContext()
    #expect(context !== own.value)
  }

  @Test("A new model of another isolation reads as an empty one", .tags(.decided))
  func new() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let vault = Vault(modelContainer: try Shelf.container())
    let writer = await vault.unsaved()
    #expect(writer.value.name == "" && writer.value.novels.isEmpty && writer.value.born == nil)
    #expect(await vault.name(writer) == "New")
  }

  @Test("A write elsewhere is refused, and reported with the remedy", .tags(.decided))
  func write() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let vault = Vault(modelContainer: try Shelf.container())
    let writer = try await vault.make()
    writer.value.name = "Bea"
    writer.value.novels = []
    writer.value.novels.append(Novel("Three"))
    let loose = Novel("Four")
    loose.writer = writer.value
    #expect(loose.writer == nil)
    #expect(await vault.name(writer) == "Ann")
    #expect(await vault.count(writer) == 2)
    #expect(!reports.lines(with: "Writer was changed").isEmpty)
    #expect(reports.lines(with: "Writer was changed").allSatisfy { $0.contains("refused") })
  }

  @Test("An identifier may be read anywhere", .tags(.decided))
  func identifier() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let container = try Shelf.container()
    let vault = Vault(modelContainer: container)
    let writer = try await vault.make()
    let id = writer.value.persistentModelID
    #expect(reports.lines(with: "Writer").isEmpty)
    #expect((ModelContext(container).model(for: id) as? Writer)?.name == "Ann")
  }

  @Test("A context that is asked elsewhere refuses, with an error where it can throw", .tags(.decided))
  func context() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let vault = Vault(modelContainer: try Shelf.container())
    let writer = try await vault.make()
    let context = await vault.leakedContext().value
    let error = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect(error.code == .outsideIsolation && error.message.contains("save()"))
    #expect(throws: SwiftDataError.self) { try context.fetch(FetchDescriptor<Writer>()) }
    let novel = Novel("Three")
    context.insert(novel)
    context.delete(writer.value)
    context.rollback()
    #expect(novel.modelContext == nil && !context.hasChanges && context.insertedModelsArray.isEmpty)
    #expect(reports.lines(with: "ModelContext was asked for insert(_:)").count == 1)
    let id = writer.value.persistentModelID
    #expect((context.model(for: id) as? Writer)?.name == "Ann")
    #expect(await vault.count(writer) == 2)
  }

  @Test(
    "A model of the main context is answered elsewhere, and readers there are not recorded", .tags(.decided))
  @MainActor
  func main() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let container = try Shelf.container()
    let writer = Writer("Ann")
    container.mainContext.insert(writer)
    try container.mainContext.save()
    let leaked = Leaked(writer)
    let (name, wakes) = await Task.detached {
      let wakes = Wakes { _ = leaked.value.name }
      return (leaked.value.name, wakes)
    }.value
    #expect(name == "Ann")
    writer.name = "Bea"
    #expect(wakes.count == 0)
  }

  @Test("Reads and writes elsewhere disturb no work of the actor", .tags(.decided))
  func stress() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let vault = Vault(modelContainer: try Shelf.container())
    let writer = try await vault.make()
    let done = Flag()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<120 where !done.isSet {
            let name = writer.value.name
            #expect(name == "Ann" || name.hasPrefix("W"))
            #expect(writer.value.novels.count == 2)
            writer.value.name = "X"
            // The actor needs a thread, too.
            await Task.yield()
          }
        }
      }
      group.addTask {
        for number in 0..<60 {
          await vault.rename(writer, "W\(number)")
          try? await vault.save()
        }
        done.set()
      }
    }
    #expect(await vault.name(writer) == "W59")
  }

  @Test("The check that ends the program is on by request")
  func ends() async {
    await #expect(processExitsWith: .failure) {
      setenv("CDE_CONCURRENCY_DEBUG", "1", 1)
      let vault = Vault(modelContainer: try Shelf.container())
      let writer = try await vault.make()
      _ = writer.value.name
    }
    await #expect(processExitsWith: .success) {
      setenv("CDE_CONCURRENCY_DEBUG", "report", 1)
      let vault = Vault(modelContainer: try Shelf.container())
      let writer = try await vault.make()
      _ = writer.value.name
    }
  }
}
