import CDEManagedModel
import CDEModelRuntime
import CDESQLiteFaults
import CDETestSupport
import Foundation
import Testing

@testable import CDETesting

@Suite("The faults trait", .store(Note.self, Label.self), .faults)
struct FaultsTraitTests {
  @Test("Every case has faults of its own, and steers them by itself", arguments: 0..<4)
  func steering(number: Int) async throws {
    let container = TestStore.current.container
    let faults = TestStore.current.faults
    #expect(faults.plan == .none)
    if number % 2 == 0 { faults.begin(.always(.diskFull)) }
    let isRefused = await (try? container.addNote("\(number)")) == nil
    #expect(isRefused == (number % 2 == 0))
    faults.end()
    #expect(try await container.titles() == (number % 2 == 0 ? [] : ["\(number)"]))
  }

  @Test(
    "What a template left in the store is there", .store(Note.self, Label.self),
    .template { Note(context: $0).title = "old" }, .faults)
  func template() async throws {
    #expect(try await TestStore.current.container.titles() == ["old"])
  }

  @Test("A seed gives the store a plan", .faults(seed: 7, oneIn: 2))
  func seeded() async throws {
    #expect(TestStore.current.faults.plan == .drawn(seed: 7, oneIn: 2))
  }

  @Test(
    "When a case fails, a note tells the seed and the faults, and the store is as the next process finds it")
  func note() async throws {
    struct Refusal: Error {}
    let trait = FaultsTrait.faults(seed: 7, oneIn: 1)
    let test = try #require(Test.current)
    let container = TestStore.current.container
    await withKnownIssue("The note of the faults") {
      await #expect(throws: Refusal.self) {
        try await trait.provideFaults(to: container, for: test, testCase: Test.Case.current) {
          try? await container.addNote("never")
          throw Refusal()
        }
      }
    } matching: { issue in
      let text = issue.comments.map(\.rawValue).joined()
      return issue.severity == .warning && text.contains("seed 7") && text.contains(" at 1: ")
    }
    try await container.addNote("after")
    #expect(try await container.titles() == ["after"])
  }

  @Test("Asking for faults in a test that has none traps with the rule")
  func outside() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = TestStore.requiredFaults
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Add the trait .faults"))
  }
}

@Suite("Containers with faults")
struct FaultyContainerTests {
  @Test(
    "A plan that has begun concerns the making of the store, which fails with its reason and can be repeated")
  func making() async throws {
    let faults = StoreFaults()
    faults.begin(.always(.diskFull))
    let error = #expect(throws: CDTestContainerError.self) {
      try NSPersistentContainer.makeRuntimeTest(modelTypes: Note.self, Label.self, faults: faults)
    }
    #expect(error?.errorDescription?.contains("full") == true)
    faults.end()
    let container = try NSPersistentContainer.makeRuntimeTest(
      modelTypes: Note.self, Label.self, faults: faults)
    try await container.addNote("kept")
    faults.begin(.always(.crash))
    await #expect(throws: ManagedObjectError.self) { try await container.addNote("lost") }
    faults.end()
    try container.reopenTestStores(faults: faults)
    faults.begin()
    #expect(try await container.titles() == ["kept"])
    #expect(!faults.end().isEmpty)
  }

  @Test("A store in memory has no files that could fail, and an option that is no name is refused")
  func misuse() throws {
    let model = try NSManagedObjectModel.makeRuntimeModel(Note.self, Label.self)
    let container = NSPersistentContainer(name: "memory", managedObjectModel: model)
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let error = #expect(throws: ManagedObjectError.self) {
      try container.reopenTestStores(faults: StoreFaults())
    }
    #expect(error?.code == .unsupportedRequest)
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)

    let other = NSPersistentContainer(name: "option", managedObjectModel: model)
    other.persistentStoreDescriptions[0].setOption(7, forKey: CDESQLiteVFSOption)
    other.loadPersistentStores { _, error in
      #expect((error as? ManagedObjectError)?.message.contains("CDESQLiteVFSOption") == true)
    }
  }
}
