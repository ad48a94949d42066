import Foundation
import Testing

@testable import demo

@Suite("The demo's help")
struct HelpTests {
  @Test("What Tools/demo --help prints without a build is what the program says")
  func text() throws {
    let tools = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let printed = try String(contentsOf: tools.appendingPathComponent("lib/demo-help.txt"), encoding: .utf8)
    #expect(printed == Demo.helpMessage(columns: 100) + "\n")
  }
}
