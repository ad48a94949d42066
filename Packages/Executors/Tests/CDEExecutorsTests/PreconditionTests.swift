@_spi(CDE) import CDEExecutors
import Foundation
import Testing

@Suite("Broken preconditions")
struct PreconditionTests {
  @Test("The message of a true condition is not evaluated")
  func holds() {
    var asked = 0
    func message() -> String {
      asked += 1
      return "never"
    }
    checkPrecondition(asked == 0, message())
    #expect(asked == 0)
  }

  @Test("A false condition ends the process with its message, optimised or not")
  func broken() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      checkPrecondition(CommandLine.arguments.isEmpty, "Give at least \(1) argument.")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Fatal error: Give at least 1 argument."))
  }

  #if DEBUG && os(Linux)
    @Test("The message begins with the file and line of the code that called the library, unless that is off")
    func place() async {
      for (setting, isNamed) in [("yes", true), ("no", false)] {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          [setting = setting as String] in
          setenv("CDE_CALLER_PLACE", setting, 1)
          useElsewhere(ContextExecutor())
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let place = "PreconditionTests.swift:\(placeLine): Fatal error: Use the executor."
        #expect(text.contains(place), "\(text)")
        // Only the search knows the whole path.
        #expect(text.contains("/CDEExecutorsTests/\(place)") == isNamed, "\(text)")
      }
    }
  #endif
}

private let placeLine = #line + 3
@inline(never)
private func useElsewhere(_ executor: ContextExecutor) {
  executor.preconditionCurrent("Use the executor.")
}
