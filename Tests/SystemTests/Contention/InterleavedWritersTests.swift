import CoreDataEvolution
import Testing

@Suite("Writers in every order")
struct InterleavedWritersTests {
  /// What came of a schedule, for the message.
  private struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  @Test("Three contexts that read, change and save lose no update, in whatever order")
  func optimisticLocking() async throws {
    let writers = ["A", "B", "C"]
    // One store for all schedules, with new contexts and a new row for each: a new file takes longer than the steps.
    let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Counter.self)
    var schedules = 0
    // 1,680 orders. Long runs take them all.
    let takesAll = ProcessInfo.processInfo.environment["CDE_EVERY_STEP"] == "1"
    try await Interleavings(["A": 3, "B": 3, "C": 3], drawing: takesAll ? 1_680 : 300).run { schedule in
      schedules += 1
      let first = container.newBackgroundContext()
      let id = try await first.perform {
        let counter = Counter(context: first)
        try first.save()
        return counter.objectID
      }
      var refused: [String] = []
      func script(_ name: String) -> [TestSchedule.Step] {
        let context = container.newBackgroundContext()
        // Kept from step to step, with the version of the row that it has read.
        var counter: Counter?
        return [
          {
            try await context.perform {
              counter = try context.existingObject(with: id) as? Counter
              _ = counter?.value
            }
          },
          { await context.perform { counter?.value += 1 } },
          {
            try await context.perform {
              do {
                try context.save()
              } catch let error as ManagedObjectError where error.code == .saveConflict {
                refused.append(name)
                context.rollback()
                context.refreshAllObjects()
                counter?.value += 1
                try context.save()
              }
            }
          },
        ]
      }
      try await schedule.run(["A": script("A"), "B": script("B"), "C": script("C")])
      // Only a script that reads before another's save and saves after it is refused.
      let steps = schedule.steps
      let overtaken = writers.filter { name in
        guard let read = steps.firstIndex(of: name + "1"), let saved = steps.firstIndex(of: name + "3")
        else { return false }
        return steps[read..<saved].contains { $0.hasSuffix("3") }
      }
      let stored = container.newBackgroundContext()
      let value = try await stored.perform { try (stored.existingObject(with: id) as? Counter)?.value }
      guard value == 3, refused.sorted() == overtaken else {
        throw Wrong(
          description: "the counter is \(value ?? -1) instead of 3; refused \(refused), expected \(overtaken)"
        )
      }
    }
    #expect(schedules == (takesAll ? 1_680 : 300))
  }
}
