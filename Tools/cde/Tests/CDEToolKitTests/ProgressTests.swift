import CDEModelFiles
import CoreDataEvolution
import Foundation
import Synchronization
import Testing

@testable import CDEToolKit

@Suite("Progress")
struct ProgressTests {
  @Test("Nothing is shown for a second, then ten lines a second at most, and the line disappears")
  func line() {
    let written = Mutex("")
    let time = Mutex(ContinuousClock.now)
    let line = ProgressLine(width: 60, now: { time.withLock { $0 } }) { text in
      written.withLock { $0 += text }
    }
    func show(_ done: Int, after pause: Duration) -> String {
      time.withLock { $0 += pause }
      written.withLock { $0 = "" }
      line.show(WorkReport.Step("Book", done, of: 2000))
      return written.withLock { $0 }
    }
    #expect(show(0, after: .zero) == "" && show(100, after: .milliseconds(900)) == "")
    #expect(
      show(500, after: .milliseconds(200)) == "\r\u{1B}[KBook  [#######.......................]  500 of 2000")
    #expect(show(600, after: .milliseconds(50)) == "")
    #expect(show(1000, after: .milliseconds(60)).contains("[###############...............]  1000 of 2000"))
    line.end()
    #expect(written.withLock { $0.hasSuffix("\r\u{1B}[K") })
  }

  @Test("A work that was short leaves nothing on the terminal")
  func short() {
    let written = Mutex("")
    let line = ProgressLine(width: 40) { text in written.withLock { $0 += text } }
    line.show(WorkReport.Step("Book", 1, of: 2))
    line.end()
    #expect(written.withLock { $0.isEmpty })
  }

  @Test("Exporting, importing, comparing and migrating tell their steps")
  func steps() throws {
    let library = try Library()
    defer { library.remove() }
    let steps = Mutex<[WorkReport.Step]>([])
    func told(_ body: () throws -> Void) rethrows -> [WorkReport.Step] {
      steps.withLock { $0 = [] }
      try WorkReport.$listener.withValue({ step in steps.withLock { $0.append(step) } }, operation: body)
      return steps.withLock { $0 }
    }
    var exported = ""
    let export = StoreExport(try OpenedStore(library.place))
    #expect(
      try told { try export.write { exported += $0 } }.contains {
        $0.part == "Book" && $0.done == 0 && $0.total > 1
      })
    let file = library.folder.appendingPathComponent("all.json")
    try exported.write(to: file, atomically: true, encoding: .utf8)
    var work = StoreImport(library.place)
    work.isDryRun = true
    #expect(try !told { _ = try work.answer(file) }.isEmpty)
    let other = try Library()
    defer { other.remove() }
    let difference = StoreDifference(try OpenedStore(library.place), try OpenedStore(other.place))
    #expect(try told { _ = try difference.answer() }.contains { $0.part == "Book" })
    let model = Library.model()
    model.entitiesByName["Book"]?.properties.append(Library.attribute("subtitle", .stringAttributeType))
    let mom = library.folder.appendingPathComponent("new.mom")
    try ModelCompiler.data(of: model).write(to: mom)
    let migration = Migration(library.url, to: try LoadedModel(mom.path))
    let units = try told { _ = try migration.answer() }
    #expect(units.allSatisfy { $0.part == "migrating" } && units.count > 1)
  }
}
