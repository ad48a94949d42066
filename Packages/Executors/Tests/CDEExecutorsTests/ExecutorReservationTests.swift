@_spi(CDE) import CDEExecutors
import Dispatch
import Foundation
import Observation
import Testing

/// Closures of every kind, in blocks of a main-actor class: each is checked for the main actor when it is called.
@MainActor
final class Screen {
  var state = 0
  let object = Plain()

  var objectNumber: Int { object.number }

  final class Plain { var number = 0 }

  func everyKind(_ executor: ContextExecutor) async -> [String] {
    await executor.run {
      self.state += 1
      self.object.number += 1
      MainActor.assertIsolated()
      return self.closures() + ["\(executor.isCurrent)", "\(ContextExecutor.main().isCurrent)"]
    }
  }

  func everyKindWaiting(_ executor: ContextExecutor) -> [String] {
    executor.runAndWait {
      self.state += 1
      self.object.number += 1
      MainActor.assertIsolated()
      return self.closures() + ["\(executor.isCurrent)", "\(ContextExecutor.main().isCurrent)"]
    }
  }

  private func closures() -> [String] {
    let mapped = [3, 1].map {
      self.state += 1
      return "\($0)"
    }
    let sorted = mapped.sorted {
      self.state += 1
      return $0 < $1
    }
    let sum = [1, 2].reduce(0) {
      self.state += 1
      return $0 + $1
    }
    [1].forEach { _ in self.state += 1 }
    let first = sorted.first {
      self.state += 1
      return $0 == "3"
    }
    withObservationTracking {
      self.state += 1
    } onChange: {
    }
    let stored = { self.state += 1 }
    stored()
    return sorted + ["\(sum)", first ?? ""]
  }

  /// A closure of the main actor whose type does not say so, called by code that belongs to its caller.
  func throughHelpers(_ executor: ContextExecutor) async -> Int {
    let step = {
      MainActor.assertIsolated()
      self.state +=
        [1].map {
          self.state += 1
          return $0
        }[0]
    }
    await Self.awaiting(executor, step)
    Self.waiting(executor, step)
    return state
  }

  nonisolated(nonsending) static func awaiting(_ executor: ContextExecutor, _ step: @escaping () -> Void)
    async
  {
    await executor.run { step() }
    await executor.run(.enqueued, step)
  }

  nonisolated static func waiting(_ executor: ContextExecutor, _ step: () -> Void) {
    executor.runAndWait { step() }
  }

  func bump(_ executor: ContextExecutor, _ state: Unguarded) async { await executor.run { state.touch() } }

  func bumpWaiting(_ executor: ContextExecutor, _ state: Unguarded) { executor.runAndWait { state.touch() } }

  func overlapping(_ executor: ContextExecutor) async -> Bool {
    await executor.run {
      executor.runAndWait { executor.isCurrent }
    }
  }

  func nested(_ outer: ContextExecutor, _ inner: ContextExecutor) async -> [Bool] {
    await outer.run {
      let inside = inner.runAndWait {
        [inner.isCurrent, [1].allSatisfy { _ in ContextExecutor.main().isCurrent }]
      }
      return inside + [outer.isCurrent, !inner.isCurrent]
    }
  }
}

/// An actor with an executor of its own.
actor PlainActor {
  var count = 0

  func work(_ executor: ContextExecutor, _ schedule: RunSchedule = .immediate) async -> [Int] {
    await executor.run(schedule) {
      self.count += 1
      self.preconditionIsolated()
      return [3, 1].sorted {
        self.count += 1
        return $0 < $1
      }
    }
  }

  func wait(_ executor: ContextExecutor) -> [Int] {
    executor.runAndWait {
      self.count += 1
      self.preconditionIsolated()
      return [3, 1].sorted {
        self.count += 1
        return $0 < $1
      }
    }
  }

  func touch(_ executor: ContextExecutor, _ state: Unguarded) async {
    await executor.run {
      state.touch()
      self.count += 1
    }
  }

  func isOn(_ executor: ContextExecutor) async -> [Bool] {
    await executor.run { [executor.isCurrent, ContextExecutor.main().isCurrent] }
  }
}

extension BoundActor {
  func touchHere(_ state: Unguarded) { state.touch() }

  func touch(_ other: ContextExecutor, _ state: Unguarded) async {
    await other.run {
      self.count +=
        [1].map {
          self.count += 0
          return $0
        }[0]
      state.touch()
    }
  }

  func own(_ schedule: RunSchedule) async -> Bool {
    await executor.run(schedule) {
      self.count += 1
      return [1].allSatisfy { _ in self.count > 0 && self.executor.isCurrent }
    }
  }
}

@Suite("Reservations: blocks that are isolated to an actor")
struct ExecutorReservationTests {
  @Test(
    "A block of the main actor runs there while the executor is reserved, closures of every kind included")
  func mainActor() async {
    let executor = ContextExecutor()
    let screen = await Screen()
    let expected = ["1", "3", "3", "3", "true", "true"]
    #expect(await screen.everyKind(executor) == expected)
    #expect(await screen.everyKindWaiting(executor) == expected)
    #expect(await screen.everyKind(.main()) == expected)
    #expect(await screen.everyKindWaiting(.main()) == expected)
    #expect(await screen.objectNumber == 4)
    #expect(await screen.throughHelpers(ContextExecutor()) > 0)
    #expect(await Task.detached { !executor.isCurrent }.value)
  }

  @Test("A block of an actor runs there, over a private executor and over the main actor")
  func actors() async {
    let plainActor = PlainActor()
    for executor in [ContextExecutor(), .main()] {
      #expect(await plainActor.work(executor) == [1, 3])
      #expect(await plainActor.work(executor, .enqueued) == [1, 3])
      #expect(await plainActor.wait(executor) == [1, 3])
      #expect(await plainActor.isOn(executor) == [true, executor.isMain])
    }
    #expect(await plainActor.count >= 12)
  }

  @Test("A block of an actor on the executor itself runs at once or in the queue's order, on the actor")
  func own() async {
    let actor = BoundActor(ContextExecutor())
    #expect(await actor.own(.immediate))
    #expect(await actor.own(.enqueued))
    #expect(await actor.touchesMain())
  }

  @Test(
    "Errors, task-local values and cancellation are the caller's, and the executor is free after an error")
  func task() async {
    await Task { @MainActor in
      let executor = ContextExecutor()
      var seen: [String] = []
      final class Observer: RunObserver {
        let log = Log()
        func runWillBegin() { log.add(1) }
        func runWillEnd() { log.add(2) }
      }
      let observer = Observer()
      await #expect(throws: Refusal(reason: 3)) {
        try await executor.run(observer: observer) { throw Refusal(reason: 3) }
      }
      #expect(throws: Refusal(reason: 4)) { try executor.runAndWait { throw Refusal(reason: 4) } }
      #expect(observer.log.all == [1, 2])
      await Local.$value.withValue(7) {
        await executor.run { seen.append("\(Local.value)") }
        executor.runAndWait { seen.append("\(Local.value)") }
      }
      withUnsafeCurrentTask { $0?.cancel() }
      await executor.run { seen.append("\(Task.isCancelled)") }
      #expect(seen == ["7", "7", "true"])
    }.value
  }

  @Test("A block runs after the blocks that were enqueued before it and before those enqueued later")
  func order() async {
    let executor = ContextExecutor()
    let (log, gate) = (Log(), DispatchSemaphore(value: 0))
    executor.enqueue {
      gate.wait()
      log.add(0)
    }
    await Task { @MainActor in
      async let block: Void = executor.run { log.add(1) }
      await Task.yield()
      executor.enqueue { log.add(2) }
      gate.signal()
      await block
    }.value
    await executor.run(.enqueued) {}
    #expect(log.all.first == 0)
    #expect(Set(log.all) == [0, 1, 2])
  }

  @Test("While a block runs on its actor nothing else runs on the executor", .timeLimit(.minutes(10)))
  func exclusive() async {
    await watched("reservations among everything else") {
      let actors = (0..<2).map { _ in BoundActor(ContextExecutor()) }
      let states = (0..<2).map { _ in Unguarded() }
      let (screen, plainActors) = (await Screen(), (0..<3).map { _ in PlainActor() })
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<6 {
          group.addTask {
            for round in 0..<60 {
              let index = (task + round) % 2
              let (actor, state, plainActor) = (actors[index], states[index], plainActors[(task + round) % 3])
              await screen.bump(actor.executor, state)
              await plainActor.touch(actor.executor, state)
              await actor.touchHere(state)
              await actors[1 - index].touch(actor.executor, state)
              await actor.executor.run { state.touch() }
              actor.executor.enqueue { state.touch() }
              if round % 4 == 0 {
                await screen.bumpWaiting(actor.executor, state)
                await onPlainThread { actor.executor.runAndWait { state.touch() } }
              }
            }
          }
        }
      }
      for (actor, state) in zip(actors, states) {
        await actor.executor.run(.enqueued) { #expect(state.overlaps == 0) }
      }
      let touches = states.reduce(0) { $0 + $1.value }
      let expected: Int = 6 * (60 * 6 + 15 * 2)
      #expect(touches == expected)
    }
  }

  @Test("Inside a block the executor is current, also for waits; waits for other executors nest")
  func reentrancy() async {
    let (outer, inner) = (ContextExecutor(), ContextExecutor())
    let screen = await Screen()
    #expect(await screen.overlapping(outer))
    #expect(await screen.nested(outer, inner) == [true, true, true, true])
  }

  @Test("An executor whose reservation has not started runs the waits that block the holder's actor")
  func blockedHolder() async {
    await watched("a blocked holder") {
      let (executor, other, screen) = (
        ContextExecutor(name: "executor"), ContextExecutor(name: "other"), await Screen()
      )
      let state = Unguarded()
      for round in 0..<200 {
        await Task { @MainActor in
          async let first: Void = screen.bump(executor, state)
          async let second: Void = screen.bump(other, Unguarded())
          await Task.yield()
          // The main actor is blocked while the executors are reserved for it, directly and through another executor.
          if round.isMultiple(of: 2) {
            screen.bumpWaiting(executor, state)
          } else {
            other.runAndWait { executor.runAndWait { state.touch() } }
          }
          await first
          await second
        }.value
      }
      #expect(await executor.run { state.overlaps } == 0)
      #expect(await executor.run { state.value } == 400)
    }
  }

  @Test(
    "Actors that reserve each other's executors, and the main actor's, never deadlock",
    .timeLimit(.minutes(10)))
  func crosswise() async {
    await watched("crosswise reservations") {
      let actors = (0..<3).map { BoundActor(ContextExecutor(name: "executor \($0)")) }
      let states = (0..<3).map { _ in Unguarded() }
      let (main, screen, onMain) = (ContextExecutor.main(), await Screen(), Unguarded())
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<12 {
          group.addTask {
            for round in 0..<40 {
              let (from, to) = ((task + round) % 3, (task + round * 2 + 1) % 3)
              await actors[from].touch(actors[to].executor, states[to])
              await actors[from].touch(main, onMain)
              await screen.bump(actors[from].executor, states[from])
            }
          }
        }
      }
      var sum = 0
      for (actor, state) in zip(actors, states) { sum += await actor.executor.run { state.value } }
      #expect(sum == 12 * 40 * 2)
      #expect(await main.run { onMain.value } == 12 * 40)
    }
  }
}

extension BoundActor {
  func touchesMain() async -> Bool {
    await ContextExecutor.main().run {
      [1].allSatisfy { _ in self.count > 0 } && ContextExecutor.main().isCurrent
    }
  }
}
