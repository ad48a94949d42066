import CDEModelRuntime
import Foundation
import Synchronization
import Testing

@testable import CDEObservation

@Suite("Notes about missing and needless wake-ups")
struct LogTests {
  @Test(
    "1, true, yes and on switch the notes on, in any case; anything else does not",
    arguments: [
      ("1", true), ("true", true), ("YES", true), ("On", true), ("0", false), ("", false), ("off", false),
      (nil, false),
    ])
  func environment(value: String?, isOn: Bool) {
    #expect(ObservationLog.isEnabled(by: value) == isOn)
  }

  @Test(
    "A domain's notes go to the handler the app sets, name object and properties, and stop when switched off")
  func notes() async {
    await #expect(processExitsWith: .success) {
      let notes = Mutex<[String]>([])
      Diagnostics.handler = { note in notes.withLock { $0.append(note) } }
      try await MainActor.run {
        let stack = try Stack()
        let domain = CDEObservationDomain(container: stack.container)
        precondition(!domain.isDebugLoggingEnabled)
        domain.isDebugLoggingEnabled = true
        let readers = Readers(stack.item)
        stack.item.title = "new"
        try stack.view.save()
        let written = notes.withLock { $0 }
        precondition(
          written.contains { $0.contains("Observation") && $0.contains("Item") && $0.contains("title") })
        domain.isDebugLoggingEnabled = false
        stack.item.title = "newer"
        try stack.view.save()
        precondition(notes.withLock { $0 } == written)
        withExtendedLifetime(readers) {}
      }
    }
  }
}
