import CDESwiftData
import Testing

@Model
final class Habit {
  var name: String
  var streak: Int = 0
  @Relationship(deleteRule: .cascade, inverse: \HabitEntry.habit) var entries: [HabitEntry] = []
  init(name: String) { self.name = name }
}

@Model
final class HabitEntry {
  var day: Int
  var habit: Habit?
  init(day: Int) { self.day = day }
}

private struct Refused: Error {}

@Suite("Habits: transactions, rollback and undo")
struct HabitsProgram {
  let context: ModelContext

  init() throws {
    context = ModelContext(
      try ModelContainer(for: Habit.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  @Test("A transaction saves at its end")
  func transaction() throws {
    try context.transaction {
      let habit = Habit(name: "Run")
      context.insert(habit)
      habit.entries.append(HabitEntry(day: 1))
    }
    #expect(!context.hasChanges)
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<HabitEntry>()) == 1)
  }

  @Test("A transaction that throws saves nothing")
  func refused() throws {
    #expect(throws: Refused.self) {
      try context.transaction {
        context.insert(Habit(name: "Run"))
        throw Refused()
      }
    }
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Habit>()) == 0)
  }

  @Test("A rollback restores values and relationships and forgets new models")
  func rollback() throws {
    let habit = Habit(name: "Read")
    context.insert(habit)
    habit.entries = [HabitEntry(day: 1), HabitEntry(day: 2)]
    try context.save()
    habit.name = "Write"
    habit.streak += 5
    habit.entries.removeAll()
    context.insert(Habit(name: "Other"))
    #expect(context.hasChanges)
    #expect(context.insertedModelsArray.count == 1)
    #expect(context.changedModelsArray.contains { $0.persistentModelID == habit.persistentModelID })
    context.rollback()
    #expect(!context.hasChanges)
    #expect(habit.name == "Read" && habit.streak == 0)
    #expect(habit.entries.map(\.day).sorted() == [1, 2])
    #expect(try context.fetchCount(FetchDescriptor<Habit>()) == 1)
  }

  @Test("Deleted models are deleted until the save, and can be read afterwards")
  func deletion() throws {
    let habit = Habit(name: "Smoke")
    context.insert(habit)
    try context.save()
    context.delete(habit)
    #expect(habit.isDeleted)
    #expect(context.deletedModelsArray.count == 1)
    #expect(try context.fetch(FetchDescriptor<Habit>()).isEmpty)
    try context.save()
    #expect(habit.modelContext == nil)
    #expect(habit.name == "Smoke")
  }
}
