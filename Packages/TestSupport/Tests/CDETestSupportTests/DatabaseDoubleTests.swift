import CDEDatabases
import CDEManagedModel
import CDEModelRuntime
import CDETestSupport
import CDETesting
import Testing

@Suite("Doubles and differences", .store(Note.self, Label.self))
struct DatabaseDoubleTests {
  struct Refused: Error {}

  @Test("A recording database writes down what it is asked, and fails what it is told to")
  func recording() async throws {
    let real = ModelActorDatabase(modelContainer: TestStore.current.container)
    let database = RecordingDatabase(real) { $0.name == "update" ? Refused() : nil }
    let note = try await database.insert(Note.self) { $0.title = "a" }
    await #expect(throws: Refused.self) { try await database.update(note) { $0.title = "b" } }
    #expect(try await database.fetch(Note.self).map(\.title) == ["a"])
    try await database.save()
    #expect(database.calls.map(\.description) == ["insert Note", "update Note", "fetch Note", "save"])
    #expect(database.calls.map(\.access) == [.transaction, .transaction, .read, .changes])
    #expect(database.outcomes.map { $0.error is Refused } == [false, true, false, false])
    database.clear()
    #expect(database.calls.isEmpty && database.outcomes.isEmpty)
  }

  @Test("A difference names objects and properties, and nothing that stayed the same")
  func difference() async throws {
    let container = TestStore.current.container
    let database = ModelActorDatabase(modelContainer: container)
    let notes = try await database.insert(Note.self, for: ["a", "b", "c"]) { $0.title = $1 }
    let before = try await StoreContents(container)
    #expect(try await StoreContents(container).difference(from: before).isEmpty)
    try await database.update(notes[1]) { note in
      note.title = "x"
      let label = Label(context: note.managedObjectContext!)
      label.name = "new"
      label.addToNotes(note)
    }
    try await database.delete(notes[2])
    let difference = try await StoreContents(container).difference(from: before)
    #expect(
      difference.lines == [
        "Label/p1 inserted: name \"new\", notes {Note/p2}",
        "Note/p2 labels: {} -> {Label/p1}",
        "Note/p2 title: \"b\" -> \"x\"",
        "Note/p3 deleted: labels {}, title \"c\"",
      ])
  }

  @Test(
    "A template fills the store of every case", .template { Note(context: $0).title = "first" },
    arguments: 0..<4)
  func template(number: Int) async throws {
    let container = TestStore.current.container
    #expect(try await container.titles() == ["first"])
    try await container.addNote("second")
    #expect(try await container.titles() == ["first", "second"])
  }
}
