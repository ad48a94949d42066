import CDEManagedModel
import CDEModelRuntime
import CDETesting
import Foundation
import Synchronization
import Testing

@Suite("The store trait", .store(Note.self, Label.self))
struct StoreTraitTests {
  @Test("Every case of a parameterised test has an empty store of its own", arguments: 0..<20)
  func cases(number: Int) async throws {
    let container = TestStore.current.container
    #expect(try await container.titles() == [])
    try await container.addNote("\(number)")
    #expect(try await container.titles() == ["\(number)"])
  }

  @Test("Child tasks see the test's store")
  func childTasks() async throws {
    let container = TestStore.current.container
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 { group.addTask { TestStore.current.container === container } }
      for await same in group { #expect(same) }
    }
  }

  @Test("A test's own trait wins over its suite's", .store(model: { try .makeRuntimeModel(Plain.self) }))
  func inner() {
    #expect(TestStore.current.container.managedObjectModel.entities.map(\.name) == ["Plain"])
  }

  @Test("The store is deleted when the test passes, and kept with a note when it fails")
  func cleanUp() async throws {
    let trait = StoreTrait.store(Note.self, Label.self)
    let test = try #require(Test.current)
    let passed = Mutex<URL?>(nil)
    try await trait.provideScope(for: test, testCase: Test.Case.current) {
      let url = TestStore.current.container.storeURL
      #expect(url.map { FileManager.default.fileExists(atPath: $0.path) } == true)
      passed.withLock { $0 = url }
    }
    let gone = try #require(passed.withLock { $0 })
    for suffix in ["", "-wal", "-shm"] {
      #expect(!FileManager.default.fileExists(atPath: gone.path + suffix))
    }

    struct Refusal: Error {}
    let failed = Mutex<URL?>(nil)
    await withKnownIssue("The note where the store is") {
      await #expect(throws: Refusal.self) {
        try await trait.provideScope(for: test, testCase: Test.Case.current) {
          failed.withLock { $0 = TestStore.current.container.storeURL }
          throw Refusal()
        }
      }
    } matching: { issue in
      issue.severity == .warning
        && issue.comments.contains { $0.rawValue.contains("was kept for inspection") }
    }
    let kept = try #require(failed.withLock { $0 })
    #expect(kept != gone)
    #expect(FileManager.default.fileExists(atPath: kept.path))
  }

  @Test("Asking for a store outside a test that has one traps with the rule")
  func outside() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = await Task.detached { TestStore.current.container.name }.value
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Add the trait .store(Item.self, ...)"))
  }
}

@PersistentModel
final class Plain: NSManagedObject {
  var text: String?
}
