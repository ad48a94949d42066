import CDEManagedModel
import CDEModelRuntime
import CDETestSupport
import CDETesting
import Foundation
import Testing

@Suite("Schedules of steps")
struct TestScheduleTests {
  struct Refusal: Error {}

  @Test("Steps run in the schedule's order, each to its end")
  func order() async throws {
    var log: [String] = []
    func script(_ name: String, _ count: Int) -> [TestSchedule.Step] {
      (1...count).map { number in
        {
          log.append("\(name)\(number)")
          await Task.yield()
          log.append("end")
        }
      }
    }
    for schedule in ["A1 A2 A3 B1 B2", "B1 B2 A1 A2 A3", "A1 B1 A2 B2 A3"] {
      log = []
      try await TestSchedule(schedule).run(["A": script("A", 3), "B": script("B", 2)])
      #expect(log == schedule.split(separator: " ").flatMap { [String($0), "end"] })
    }
  }

  @Test("A schedule is what it prints, also as JSON")
  func text() throws {
    let schedule: TestSchedule = " A1  B1\nA2 "
    #expect(schedule.steps == ["A1", "B1", "A2"])
    #expect(schedule.description == "A1 B1 A2")
    #expect(TestSchedule(schedule.description) == schedule)
    let data = try JSONEncoder().encode([schedule])
    #expect(String(decoding: data, as: UTF8.self) == "[\"A1 B1 A2\"]")
    #expect(try JSONDecoder().decode([TestSchedule].self, from: data) == [schedule])
  }

  @Test("An empty schedule of no scripts, or of empty ones, does nothing")
  func empty() async throws {
    try await TestSchedule("").run([:])
    try await TestSchedule("").run(["A": []])
    let all = try Interleavings(["A": 0, "B": 0])
    #expect(all.map(\.description) == [""])
    try await all.run { try await $0.run(["A": [], "B": []]) }
  }

  @Test(
    "A schedule that does not fit the scripts runs nothing, and names the step",
    arguments: [
      ("A1 B1", "A2"), ("A1 A2 A3 B1", "A3"), ("A2 A1 B1", "A2"), ("A1 A1 B1", "A1"), ("A1 A2 C1", "C1"),
      ("A1 A2 B", "B"), ("A1 A2 B01", "B01"), ("", "A1"), ("A1 A2 7", "7"), ("A1 A2 B1 B2", "B2"),
      ("A1 A2 B99999999999999999999", "B99999999999999999999"), ("A1 A2 B\u{0661}", "B\u{0661}"),
    ])
  func mismatch(text: String, step: String) async {
    var runs = 0
    let error = await #expect(throws: TestSupportError.self) {
      try await TestSchedule(text).run(["A": [{ runs += 1 }, { runs += 1 }], "B": [{ runs += 1 }]])
    }
    #expect(error?.code == .scheduleMismatch && error?.step == step && runs == 0)
    #expect(error?.message.contains("2 of A, 1 of B") == true)
  }

  @Test("A step that throws ends the schedule; the error names both and keeps the cause")
  func failure() async {
    var runs: [String] = []
    let error = await #expect(throws: TestSupportError.self) {
      try await TestSchedule("A1 B1 A2 B2").run([
        "A": [{ runs.append("A1") }, { throw Refusal() }],
        "B": [{ runs.append("B1") }, { runs.append("B2") }],
      ])
    }
    #expect(runs == ["A1", "B1"])
    #expect(error?.code == .stepFailed && error?.cause is Refusal)
    #expect(error?.schedule == "A1 B1 A2 B2" && error?.step == "A2")
    #expect(error?.description.contains("Step A2 of the schedule \"A1 B1 A2 B2\" failed") == true)
  }

  @Test("A cancelled task takes no further step; a CancellationError of the step's own is a failure")
  func cancelling() async {
    let task = Task {
      var runs = 0
      await #expect(throws: CancellationError.self) {
        try await TestSchedule("A1 A2 A3").run([
          "A": [{ runs += 1 }, { withUnsafeCurrentTask { $0?.cancel() } }, { runs += 1 }]
        ])
      }
      await #expect(throws: CancellationError.self) {
        try await TestSchedule("A1").run(["A": [{ runs += 1 }]])
      }
      return runs
    }
    #expect(await task.value == 1)
    let error = await #expect(throws: TestSupportError.self) {
      try await TestSchedule("A1").run(["A": [{ throw CancellationError() }]])
    }
    #expect(error?.code == .stepFailed && error?.cause is CancellationError)
  }

  @Test("A planted lost update between two contexts is found, and its schedule fails again alone")
  func lostUpdate() async throws {
    let schedules = Recorded<TestSchedule>()
    let error = await #expect(throws: TestSupportError.self) {
      try await Interleavings(["A": 2, "B": 2]).run { schedule in
        schedules.add(schedule)
        try await addTwice(schedule)
      }
    }
    #expect(error?.code == .checkFailed && error?.cause is LostUpdate)
    #expect(error?.schedule == "A1 B1 A2 B2")
    #expect(schedules.all == ["A1 A2 B1 B2", "A1 B1 A2 B2"])
    let again = try #require(error?.schedule)
    await #expect(throws: LostUpdate.self) { try await addTwice(TestSchedule("\(again)")) }
    try await addTwice("B1 B2 A1 A2")
  }

  @Test(
    "Two contexts of the main actor and one beside it take turns",
    arguments: try Interleavings(["V": 2, "W": 2, "B": 1]))
  @MainActor
  func mainActor(schedule: TestSchedule) async throws {
    let container = try NSPersistentContainer.makeRuntimeTest(
      modelTypes: Note.self, Label.self, testName: "main actor \(schedule)")
    let view = container.viewContext
    let other = NSManagedObjectContext(.mainQueue)
    other.persistentStoreCoordinator = container.persistentStoreCoordinator
    let background = container.newBackgroundContext()
    var notes: [Note] = []
    // Main-actor state and objects of main contexts, straight from the steps.
    func script(_ context: NSManagedObjectContext, _ title: String) -> [TestSchedule.Step] {
      [
        { @MainActor in
          let note = Note(context: context)
          note.title = title
          notes.append(note)
        },
        { @MainActor in
          MainActor.assertIsolated()
          try context.save()
        },
      ]
    }
    try await schedule.run([
      "V": script(view, "view"), "W": script(other, "window"),
      "B": [
        {
          try await background.perform {
            Note(context: background).title = "background"
            try background.save()
          }
        }
      ],
    ])
    #expect(notes.count == 2)
    #expect(try await container.titles() == ["background", "view", "window"])
  }

  @Test("Steps written on the main actor stay there without saying so")
  @MainActor
  func inheriting() async throws {
    let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Note.self, Label.self)
    let view = container.viewContext
    try await TestSchedule("A1 A2").run([
      "A": [
        {
          MainActor.assertIsolated()
          Note(context: view).title = "one"
        },
        { try view.save() },
      ]
    ])
    #expect(try await container.titles() == ["one"])
  }
}

private func number(in context: NSManagedObjectContext) throws -> Int {
  let note = try context.fetch(Note.fetchRequest()).first
  return note.flatMap { Int($0.title) } ?? -1
}

private struct LostUpdate: Error {}

/// Two contexts add one each to a number that they have read a step before.
private func addTwice(_ schedule: TestSchedule) async throws {
  let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Note.self, Label.self)
  try await container.addNote("0")
  func script() -> [TestSchedule.Step] {
    let context = container.newBackgroundContext()
    var read = 0
    return [
      { read = try await context.perform { try number(in: context) } },
      {
        try await context.perform {
          // The fault: what is written depends on what was read, and what was read is forgotten.
          context.refreshAllObjects()
          let note = try #require(context.fetch(Note.fetchRequest()).first)
          note.title = "\(read + 1)"
          try context.save()
        }
      },
    ]
  }
  try await schedule.run(["A": script(), "B": script()])
  let titles = try await container.titles()
  if titles != ["2"] { throw LostUpdate() }
}
