import CDEExecutors
import Foundation
import Testing

@testable import CDEModelRuntime

@Suite("Closures that many accesses share")
struct LockedClosureTests {
  @Test("A commit notifies a context after 300,000 others as after the first")
  func inbox() async {
    await #expect(processExitsWith: .success) {
      let inbox = MergeInbox(of: ContextExecutor())
      nonisolated(unsafe) var notified: [UInt64] = []
      // Guard: called on this thread.
      inbox.open { notified.append($0) }
      for _ in 0..<300_000 where !inbox.isOpen { exit(1) }
      inbox.notify(7)
      inbox.close()
      inbox.notify(8)
      if notified != [7] || inbox.isOpen { exit(1) }
    }
  }

  @Test("The handler of notes is called after 300,000 reads of it as after the first")
  func handler() async {
    await #expect(processExitsWith: .success) {
      nonisolated(unsafe) var notes = 0
      // Guard: called on this thread.
      Diagnostics.handler = { _ in notes += 1 }
      for _ in 0..<300_000 where Diagnostics.handler == nil { exit(1) }
      Diagnostics.handler?("note")
      if notes != 1 { exit(1) }
    }
  }
}
