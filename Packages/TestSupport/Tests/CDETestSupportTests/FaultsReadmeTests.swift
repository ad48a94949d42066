import CDEModelRuntime
import CDETestSupport
import CDETesting
import Testing

@NSModelActor
actor Notebook {
  func add(_ title: String) throws {
    Note(context: modelContext).title = title
    try modelContext.save()
  }
}

/// The README's example, run.
@Suite("A notebook on a bad disk", .store(Note.self, Label.self), .faults)
struct BadDiskTests {
  let container = TestStore.current.container
  let faults = TestStore.current.faults

  @Test("A note that could not be saved is saved later")
  func fullDisk() async throws {
    let context = container.newBackgroundContext()
    try await context.perform {
      Note(context: context).title = "milk"
      faults.begin(.always(.diskFull))
      #expect(throws: ManagedObjectError.self) { try context.save() }
      faults.end()
      try context.save()
    }
  }

  @Test("Whenever the process dies, the note is there if its save returned")
  func death() async throws {
    faults.begin()
    try await Notebook(container: container).add("counts the steps")
    for step in faults.end() {
      faults.begin(.at(step.number, .crash))
      let isSaved = await (try? Notebook(container: container).add("\(step)")) != nil
      faults.end()
      try container.reopenTestStores(faults: faults)
      let notes = try await Notebook(container: container).withContext { context in
        try context.fetch(Note.fetchRequest()).map(\.title)
      }
      #expect(!isSaved || notes.contains("\(step)"))
    }
  }

  @Test("A hundred notes come through, whatever the seed strikes", .faults(seed: 7))
  func seeded() async throws {
    let notebook = Notebook(container: container)
    for number in 0..<100 {
      try? await notebook.add("\(number)")
    }
    #expect(!faults.events.isEmpty)
    TestStore.current.faults.end()
    try await notebook.withContext { try $0.save() }
    let count = try await notebook.withContext { try $0.count(for: Note.fetchRequest()) }
    #expect(count == 100)
  }
}
