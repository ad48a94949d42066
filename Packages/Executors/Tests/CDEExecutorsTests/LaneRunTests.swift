import CDEExecutors
import Dispatch
import Foundation
import Testing

@Suite("Runs")
struct LaneRunTests {
  final class Plain { var number = 0 }

  @Test("Blocks and results need not be Sendable, and errors come out unchanged", arguments: [true, false])
  func nonSendable(onMain: Bool) async throws {
    let lane = onMain ? ContextLane.main() : ContextLane()
    let plain = Plain()
    let same = await lane.run {
      plain.number += 1
      return plain
    }
    #expect(same === plain)
    let waited = lane.runAndWait {
      plain.number += 1
      return plain
    }
    #expect(waited.number == 2)
    await #expect(throws: Refusal(reason: 3)) { try await lane.run { throw Refusal(reason: 3) } }
    #expect(throws: Refusal(reason: 4)) { try lane.runAndWait { throw Refusal(reason: 4) } }
    // The turn was given back after the errors.
    #expect(await lane.run { plain.number } == 2)
  }

  @MainActor
  @Test("Main-actor code may hand its own state to a lane and wait")
  func fromMainActor() async {
    let lane = ContextLane()
    var count = 0
    await lane.run { count += 1 }
    lane.runAndWait { count += 1 }
    #expect(count == 2)
    // The block stays on the main actor, with the lane kept for it.
    #expect(lane.runAndWait { [ContextLane.main().isCurrent, lane.isCurrent] } == [true, true])
    #expect(ContextLane.main().runAndWait { ContextLane.main().isCurrent })
  }

  @Test("A block of a run belongs to the caller's task, an enqueued block to none")
  func taskContext() async {
    let lane = ContextLane()
    await Local.$value.withValue(7) {
      #expect(await lane.run { Local.value } == 7)
      #expect(lane.runAndWait { Local.value } == 7)
      let inBlock = await withCheckedContinuation { continuation in
        lane.enqueue { continuation.resume(returning: Local.value) }
      }
      #expect(inBlock == 0)
    }
  }

  @Test("Cancellation stops nothing on the lane, and blocks see that of their own task")
  func cancellation() async {
    let lane = ContextLane()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      let run = await lane.run { Task.isCancelled }
      let waited = lane.runAndWait { Task.isCancelled }
      let block = await withCheckedContinuation { continuation in
        lane.enqueue { continuation.resume(returning: Task.isCancelled) }
      }
      return [run, waited, block]
    }
    #expect(await task.value == [true, true, false])
  }

  @Test("Waits and runs inside waits on the same lane are run at once")
  func reentrancy() async {
    let lane = ContextLane()
    #expect(lane.runAndWait { lane.runAndWait { lane.runAndWait { 5 } } } == 5)
    #expect(await lane.run { lane.runAndWait { 6 } } == 6)
    let tenant = Tenant(lane)
    #expect(await tenant.waitFor(lane))
    #expect(await tenant.bump() == 1)
  }

  @Test("Main lane from threads: blocks, runs and waits run on the main actor")
  func mainLane() async {
    await watched("main lane") {
      let lane = ContextLane.main()
      let waited = await onPlainThread {
        lane.runAndWait { MainActor.assumeIsolated { lane.isCurrent } }
      }
      #expect(waited)
      #expect(await Task.detached { await lane.run { MainActor.assumeIsolated { lane.isCurrent } } }.value)
      let block = await withCheckedContinuation { continuation in
        lane.enqueue { continuation.resume(returning: MainActor.assumeIsolated { lane.isCurrent }) }
      }
      #expect(block)
      #expect(lane.runAndWait { MainActor.assumeIsolated { true } })
    }
  }

  @Test("Actors that share a lane are isolated inside its blocks")
  func assumeIsolated() async {
    let tenant = Tenant(ContextLane())
    let lane = tenant.lane
    #expect(
      await lane.run {
        tenant.assumeIsolated {
          $0.count += 1; return $0.count
        }
      } == 1)
    #expect(
      lane.runAndWait {
        tenant.assumeIsolated {
          $0.count += 1; return $0.count
        }
      } == 2)
    let third = await withCheckedContinuation { continuation in
      lane.enqueue {
        continuation.resume(
          returning: tenant.assumeIsolated {
            $0.count += 1; return $0.count
          })
      }
    }
    #expect(third == 3)
  }
}

@Suite("Whether the caller is on a lane")
struct LaneCurrencyTests {
  @Test("No kind of thread counts as on a lane by accident, and asking never traps")
  func elsewhere() async {
    let lane = ContextLane()
    let main = ContextLane.main()
    let other = ContextLane()
    #expect(!lane.isCurrent)
    #expect(await Task.detached { !lane.isCurrent && !main.isCurrent }.value)
    #expect(await onPlainThread { !lane.isCurrent && !main.isCurrent })
    #expect(await other.run { !lane.isCurrent && !main.isCurrent && other.isCurrent })
    #expect(await MainActor.run { !lane.isCurrent && main.isCurrent })
    let queues = await withCheckedContinuation { (continuation: CheckedContinuation<[Bool], Never>) in
      DispatchQueue.main.async { continuation.resume(returning: [lane.isCurrent, main.isCurrent]) }
    }
    #expect(queues == [false, true])
    let global = await withCheckedContinuation { (continuation: CheckedContinuation<[Bool], Never>) in
      DispatchQueue.global().async { continuation.resume(returning: [lane.isCurrent, main.isCurrent]) }
    }
    #expect(global == [false, false])
  }

  @Test("Every way of being on a lane counts")
  func here() async {
    let lane = ContextLane()
    let tenant = Tenant(lane)
    #expect(await tenant.isOnLane())
    #expect(await tenant.isOnLaneAfterWaking())
    #expect(await lane.run { lane.isCurrent })
    #expect(lane.runAndWait { lane.isCurrent })
    #expect(await onPlainThread { lane.runAndWait { lane.isCurrent } })
    let block = await withCheckedContinuation { continuation in
      lane.enqueue { continuation.resume(returning: lane.isCurrent) }
    }
    #expect(block)
    let other = ContextLane()
    #expect(lane.runAndWait { other.runAndWait { other.isCurrent && !lane.isCurrent } })
    #expect(
      lane.runAndWait {
        other.runAndWait {}; return lane.isCurrent
      })
  }

  @Test("A lane is entered by its first block, run, wait or checked actor job")
  func entered() async {
    let lanes = (0..<4).map { ContextLane(name: "\($0)") }
    for lane in lanes {
      #expect(!lane.isCurrent)
      #expect(!lane.wasEntered)
    }
    await lanes[0].run {}
    lanes[1].runAndWait {}
    await withCheckedContinuation { continuation in lanes[2].enqueue { continuation.resume() } }
    #expect(await Tenant(lanes[3]).isOnLane())
    for lane in lanes { #expect(lane.wasEntered) }
  }

  @Test("Names and notes stand in the description")
  func labels() {
    let lane = ContextLane(name: "import", note: "Library.sqlite")
    #expect(lane.description == "\"import\" (Library.sqlite)")
    lane.name = "export"
    lane.note = nil
    #expect("\(lane)" == "\"export\"")
    #expect(ContextLane.main().isMain)
    #expect(!lane.isMain)
  }

  @Test("The check traps with its message off the lane and passes on it")
  func precondition() async {
    let lane = ContextLane()
    await lane.run { lane.preconditionCurrent("never seen") }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ContextLane().preconditionCurrent("Touch items on their lane.")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Touch items on their lane."))
  }
}
