import CoreDataEvolution
import Foundation
import PackageModel
import Testing

@testable import demo

/// An index in a folder of its own, and the files it is made from.
@MainActor
private final class TestIndex {
  let folder: URL
  let container: NSPersistentContainer
  let observation: CDEObservationDomain
  let run: IndexRun

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString)")
    container = try PackageStore.open(.file(folder.appendingPathComponent("Packages.sqlite")))
    observation = CDEObservationDomain(container: container)
    run = IndexRun(context: container.viewContext)
    try container.viewContext.save()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func source(_ text: String, named name: String = "status") throws -> PackageSource {
    let url = folder.appendingPathComponent(name)
    try Data(text.utf8).write(to: url)
    return PackageSource(path: url.path)
  }

  func index(_ text: String, limit: Int? = nil) async throws -> IndexReport {
    try await index([source(text)], limit: limit)
  }

  func index(_ sources: [PackageSource], limit: Int? = nil) async throws -> IndexReport {
    try await Indexer(observationDomain: observation).index(sources, limit: limit, run: run.objectID)
  }

  var questions: Questions { Questions(container: container) }
}

private func record(
  _ name: String, _ version: String = "1", installed: Bool = true, section: String = "misc", size: Int = 1,
  depends: String = "", provides: String = ""
) -> String {
  var lines = ["Package: \(name)", "Version: \(version)", "Architecture: all", "Section: \(section)"]
  if installed { lines.append("Status: install ok installed") }
  lines.append("Installed-Size: \(size)")
  if !depends.isEmpty { lines.append("Depends: \(depends)") }
  if !provides.isEmpty { lines.append("Provides: \(provides)") }
  return lines.joined(separator: "\n") + "\n\n"
}

@Suite("Indexing")
@MainActor
struct IndexerTests {
  @Test("Records become packages, versions, sections and a graph")
  func first() async throws {
    let index = try TestIndex()
    let report = try await index.index(
      record("app", depends: "lib (>= 1) | other, mail") + record("lib") + record("exim", provides: "mail"))
    #expect(report.isFirst)
    #expect(report.addedCount == 3)
    let overview = try await index.questions.overview()
    #expect(overview.packages == 3)
    #expect(overview.virtualNames == 1)
    #expect(overview.missingNames == 1)
    #expect(overview.installed == 3)
    #expect(overview.sections == 1)
    #expect(try await index.questions.orphans().map(\.name) == ["app"])
    let path = try await index.questions.path(from: "app", to: "exim")
    #expect(
      path?.steps == [
        .init(name: "app", isProvider: false), .init(name: "mail", isProvider: false),
        .init(name: "exim", isProvider: true),
      ])
    #expect(path?.length == 1)
    #expect(try await index.questions.path(from: "lib", to: "app") == nil)
    await #expect(throws: UnknownPackage.self) {
      try await index.questions.path(from: "nothing", to: "app")
    }
  }

  @Test("A second run over the same records changes nothing")
  func unchanged() async throws {
    let index = try TestIndex()
    let text = record("a", depends: "b") + record("b")
    _ = try await index.index(text)
    let report = try await index.index(text)
    #expect(!report.isFirst)
    #expect(report.unchangedCount == 2)
    #expect(report.changes.isEmpty)
  }

  @Test("A second run adds, changes and removes what differs, and forgets names that nothing mentions")
  func update() async throws {
    let index = try TestIndex()
    _ = try await index.index(
      record("a", depends: "b, ghost") + record("b", section: "old")
        + record("c", depends: "b", provides: "v"))
    let report = try await index.index(
      record("a", "2", depends: "b") + record("b", section: "new", depends: "d") + record("d"))
    let changes = Set(report.changes.map { "\($0.kind) \($0.name) \($0.version)" })
    #expect(changes == ["added a 2", "removed a 1", "changed b 1", "added d 1", "removed c 1"])
    let overview = try await index.questions.overview()
    #expect(overview.packages == 3)
    #expect(overview.versions == 3)
    #expect(overview.virtualNames == 0)
    #expect(overview.missingNames == 0)
    #expect(overview.sections == 2)
    #expect(
      try await index.questions.mostDependedUpon(10) == [
        .init(name: "b", all: 1, installed: 1), .init(name: "d", all: 1, installed: 1),
      ])
  }

  @Test("What a limit or damage hides is not taken for removed")
  func hidden() async throws {
    let index = try TestIndex()
    let text = record("a") + record("b") + record("c")
    _ = try await index.index(text)
    var report = try await index.index(text, limit: 2)
    #expect(report.recordCount == 2)
    #expect(report.removedCount == 0)
    report = try await index.index(record("a") + String(record("b").dropLast(12)))
    #expect(report.malformedCount == 1)
    #expect(report.removedCount == 0)
    report = try await index.index(record("a") + "Package: b\n???\n\n")
    #expect(report.changes == [.init(kind: .removed, name: "c", version: "1")])
    report = try await index.index("\u{1}\u{2}\n\n\u{3}")
    #expect(report.recordCount == 0)
    #expect(report.malformedCount == 2)
    #expect(report.removedCount == 0)
    #expect(try await index.questions.overview().versions == 2)
  }

  @Test("A file that can't be read is told of, and nothing is removed for it")
  func unreadable() async throws {
    let index = try TestIndex()
    let source = try index.source(record("a"))
    _ = try await index.index([source])
    let missing = PackageSource(path: index.folder.appendingPathComponent("missing").path)
    let report = try await index.index([missing, try index.source(record("b"), named: "other")])
    #expect(report.notes.count == 2)
    #expect(report.removedCount == 0)
    #expect(report.addedCount == 1)
  }

  @Test("The first description of a version counts")
  func repeated() async throws {
    let index = try TestIndex()
    let sources = [
      try index.source(record("a", size: 5)),
      try index.source(record("a", installed: false, size: 7), named: "list"),
    ]
    #expect(try await index.index(sources).repeatedCount == 1)
    let largest = try await index.questions.largestBySection(2, installedOnly: true)
    #expect(largest == [.init(section: "misc", versionCount: 1, largest: [.init(name: "a", size: 5)])])
  }

  @Test("The graph agrees with a plain search over random packages", arguments: 1...6 as ClosedRange<UInt64>)
  func random(seed: UInt64) async throws {
    var generator = Generator(state: seed)
    let count = 60
    let edges = (0..<count).map { _ in
      Set(
        (0..<Int.random(in: 0...3, using: &generator)).map { _ in Int.random(in: 0..<count, using: &generator)
        })
    }
    let index = try TestIndex()
    _ = try await index.index(
      edges.enumerated().map { record("p\($0)", depends: $1.map { "p\($0)" }.joined(separator: ", ")) }
        .joined())
    let needed = Set(edges.flatMap { $0 })
    let orphans = try await index.questions.orphans()
    #expect(
      Set(orphans.map(\.name)) == Set((0..<count).filter { !needed.contains($0) }.map { "p\($0)" }),
      "seed \(seed)")
    let distances = distances(from: 0, edges)
    for goal in 0..<count {
      let path = try await index.questions.path(from: "p0", to: "p\(goal)")
      #expect(path?.length == distances[goal], "seed \(seed), p0 to p\(goal)")
      for (one, next) in zip(path?.steps ?? [], path?.steps.dropFirst() ?? []) {
        #expect(edges[Int(one.name.dropFirst())!].contains(Int(next.name.dropFirst())!), "seed \(seed)")
      }
    }
  }

  private func distances(from start: Int, _ edges: [Set<Int>]) -> [Int: Int] {
    var distances = [start: 0]
    var frontier = [start]
    while !frontier.isEmpty {
      let next = frontier.flatMap { one in
        edges[one].filter { distances[$0] == nil }.map { ($0, distances[one]! + 1) }
      }
      for (one, distance) in next { distances[one] = distance }
      frontier = Set(next.map(\.0)).sorted()
    }
    return distances
  }

  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }
}

@Suite("What is printed")
struct TextTests {
  @Test("Numbers and sizes read well")
  func numbers() {
    #expect(grouped(0) == "0")
    #expect(grouped(999) == "999")
    #expect(grouped(1000) == "1,000")
    #expect(grouped(-1_234_567) == "-1,234,567")
    #expect(counted(1, "record") == "1 record")
    #expect(counted(2, "record") == "2 records")
    #expect(size(1023) == "1023 KiB")
    #expect(size(1536) == "1.5 MiB")
    #expect(size(3 * 1024 * 1024) == "3.0 GiB")
  }

  @Test("A version that goes while another comes is a replacement")
  func changes() {
    let lines = ReportText.changes([
      .init(kind: .added, name: "a", version: "2"), .init(kind: .removed, name: "a", version: "1"),
      .init(kind: .added, name: "b", version: "1"),
    ])
    #expect(lines == ["Since the last run:", "  new       b 1", "  replaced  a 1 -> 2"])
  }
}
