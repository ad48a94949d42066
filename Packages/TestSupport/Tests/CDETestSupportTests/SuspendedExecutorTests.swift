import CDEExecutors
import CDEManagedModel
import CDEModelRuntime
import CDETestSupport
import CDETesting
import Foundation
import Testing

@Suite("Suspended executors of contexts")
struct SuspendedExecutorTests {
  /// What one context sees of another's saves when merges come at every possible moment.
  @Test(
    "A merge takes effect when it is stepped, early or late",
    arguments: try Interleavings(["writer": 2, "merge": 2, "reader": 1]), [true, false])
  func merges(schedule: TestSchedule, onMain: Bool) async throws {
    let container = try NSPersistentContainer.makeRuntimeTest(
      modelTypes: Note.self, Label.self, testName: "merges \(schedule) \(onMain)")
    try await container.addNote("0")
    let reader = NSManagedObjectContext(onMain ? .mainQueue : .privateQueue)
    reader.persistentStoreCoordinator = container.persistentStoreCoordinator
    reader.automaticallyMergesChangesFromParent = true
    let suspended = SuspendedExecutor(of: reader)
    let writer = container.newBackgroundContext()
    // Kept, so that what the reader sees is what it has and not what the store has.
    var note: Note?
    try await reader.perform {
      note = try reader.fetch(Note.fetchRequest()).first
      _ = note?.title
    }
    func write(_ title: String) -> TestSchedule.Step {
      {
        try await writer.perform {
          try writer.fetch(Note.fetchRequest()).first?.title = title
          try writer.save()
        }
      }
    }
    var seen: String?
    try await schedule.run([
      "writer": [write("1"), write("2")],
      "merge": [{ await suspended.step() }, { await suspended.step() }],
      "reader": [{ seen = await reader.perform { note?.title } }],
    ])
    // A model of it: a queue of saves, of which each step merges the first.
    var (queued, merged): ([String], String) = ([], "0")
    var expected: String?
    for step in schedule.steps {
      switch step {
      case "writer1": queued.append("1")
      case "writer2": queued.append("2")
      case "reader1": expected = merged
      default: if !queued.isEmpty { merged = queued.removeFirst() }
      }
    }
    #expect(seen == expected)
    #expect(suspended.count == queued.count)
    suspended.resume()
    await reader.perform(schedule: .enqueued) {}
    #expect(await reader.perform { note?.title } == "2")
  }

  @Test("Blocks of perform wait for their step; what they queue waits for the next")
  func blocks() async throws {
    let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Note.self, Label.self)
    let context = container.newBackgroundContext()
    let suspended = SuspendedExecutor(of: context)
    let log = Recorded<Int>()
    func enqueue(_ number: Int) {
      context.perform {
        log.add(number)
        if number == 1 { context.perform { log.add(4) } }
      }
    }
    for number in 1...3 { enqueue(number) }
    await context.perform {}
    #expect(suspended.count == 3 && log.all == [])
    #expect(await suspended.step())
    #expect(suspended.count == 3 && log.all == [1])
    #expect(await suspended.stepAll() == 3)
    #expect(suspended.count == 0 && log.all == [1, 2, 3, 4])
    #expect(await !suspended.step())
    #expect(await suspended.stepAll() == 0)
  }

  @Test("stepAll() takes what waits when it is called, and no more")
  func stepAll() async throws {
    let executor = ContextExecutor()
    let suspended = SuspendedExecutor(executor)
    let log = Recorded<Void>()
    @Sendable func again() {
      if log.add(()) < 6 { executor.enqueue { again() } }
    }
    executor.enqueue { again() }
    executor.enqueue { again() }
    #expect(await suspended.stepAll() == 2)
    #expect(log.count == 2 && suspended.count == 2)
    #expect(await suspended.stepAll() == 2)
    #expect(log.count == 4 && suspended.count == 2)
  }

  @Test("Changes are announced when the step comes")
  @MainActor
  func announcements() async throws {
    let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Note.self, Label.self)
    let view = container.viewContext
    let log = Recorded<Void>()
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: view, queue: nil
    ) { _ in log.add(()) }
    defer { NotificationCenter.default.removeObserver(observer) }
    // Until a block has entered a context, its announcements come with the save.
    await view.perform(schedule: .enqueued) {}
    let suspended = SuspendedExecutor(of: view)
    Note(context: view).title = "new"
    #expect(log.count == 0 && suspended.count == 1)
    await suspended.step()
    #expect(log.count == 1)
  }

  @Test("The end of a suspended executor runs its work")
  func end() async throws {
    let executor = ContextExecutor()
    let log = Recorded<Void>()
    do {
      let suspended = SuspendedExecutor(executor)
      executor.enqueue { log.add(()) }
      #expect(suspended.count == 1)
    }
    await executor.run(.enqueued) {}
    #expect(log.count == 1)
    // It can be suspended again.
    #expect(SuspendedExecutor(executor).count == 0)
  }

  @Test("Suspending a context twice traps with the rule")
  func twice() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let executor = ContextExecutor(name: "editor")
      let first = SuspendedExecutor(executor)
      let second = SuspendedExecutor(executor)
      print(first.count + second.count)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("The executor \"editor\" is suspended already. Suspend a context once"))
  }
}
