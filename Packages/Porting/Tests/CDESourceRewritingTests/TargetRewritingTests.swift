import CDESourceRewriting
import Foundation
import Testing

@Suite("Rewriting a target")
struct TargetRewritingTests {
  /// A folder with sources, removed with the value.
  final class Target {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "rewriting-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: folder) }

    func write(_ name: String, _ text: String) throws {
      try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    func output(_ name: String) throws -> String {
      try String(contentsOf: folder.appendingPathComponent("out/\(name)"), encoding: .utf8)
    }

    func run(
      _ names: String..., modules: Set<String> = SourceIndex.allModules
    ) throws -> TargetRewriting.Report {
      try TargetRewriting(
        names.map { .init(source: folder.path + "/\($0)", output: folder.path + "/out/\($0)") },
        table: folder.path + "/out/Table.swift", stateFile: folder.appendingPathComponent("state.json"),
        modules: modules
      ).run()
    }
  }

  private let item = "import CoreData\nclass Item: NSManagedObject { @NSManaged var title: String }\n"

  @Test("a second run without changes parses and writes nothing")
  func unchanged() throws {
    let target = try Target()
    try target.write("Item.swift", item)
    try target.write("Plain.swift", "struct Plain {}\n")
    #expect(try target.run("Item.swift", "Plain.swift").written == 3)
    let second = try target.run("Item.swift", "Plain.swift")
    #expect(second.parsed == 0)
    #expect(second.written == 0)
  }

  @Test(
    "a target gets no code that needs a module on which it does not depend, and is rewritten when it depends on it"
  )
  func dependencies() throws {
    let target = try Target()
    try target.write("Note.swift", "import SwiftData\n@Model final class Note { var text = \"\" }\n")
    #expect(try target.run("Note.swift", modules: ["CDESwiftData"]).messages.isEmpty)
    #expect(try target.output("Note.swift").contains("import CDESwiftData\n@Model"))
    #expect(!(try target.output("Table.swift").contains("import")))
    let both: Set<String> = ["CDESwiftData", "CDECoreData"]
    #expect(try target.run("Note.swift", modules: both).written == 1)
    #expect(try target.output("Table.swift").contains("import CDECoreData"))
    #expect(try target.run("Note.swift", modules: ["CDECoreData"]).hasErrors)
  }

  @Test("the change of a body rewrites its file alone")
  func changedBody() throws {
    let target = try Target()
    try target.write("Item.swift", item)
    try target.write("Other.swift", "import CoreData\nfunc f() -> String { #keyPath(Item.title) }\n")
    _ = try target.run("Item.swift", "Other.swift")
    try target.write("Other.swift", "import CoreData\nfunc f() -> String { \"a\" + #keyPath(Item.title) }\n")
    let second = try target.run("Item.swift", "Other.swift")
    #expect(second.parsed == 1)
    #expect(second.written == 1)
    #expect(try target.output("Other.swift").contains("\"a\" + \"title\""))
  }

  @Test(
    "the change of a property reaches the files that name it, and an error is reported until it is mended")
  func changedProperty() throws {
    let target = try Target()
    try target.write("Item.swift", item)
    try target.write("Other.swift", "func f() -> String { #keyPath(Item.title) }\n")
    #expect(try target.run("Item.swift", "Other.swift").messages.isEmpty)
    try target.write("Item.swift", item.replacing("title", with: "name"))
    for _ in 0..<2 {
      let report = try target.run("Item.swift", "Other.swift")
      #expect(report.hasErrors)
      #expect(report.messages.count == 1)
      #expect(
        report.messages.first?.contains(
          "Other.swift:1:22: error: #keyPath: the class Item has no property title.") == true)
    }
    try target.write("Item.swift", item)
    #expect(try target.run("Item.swift", "Other.swift").messages.isEmpty)
  }

  @Test("a deleted file leaves the list of classes")
  func deletedFile() throws {
    let target = try Target()
    try target.write("Item.swift", item)
    try target.write("Tag.swift", "import CoreData\n@objc(CDTag) class Tag: Item {}\n")
    _ = try target.run("Item.swift", "Tag.swift")
    #expect(try target.output("Table.swift").contains("(\"CDTag\", Tag.self)"))
    _ = try target.run("Item.swift")
    #expect(!(try target.output("Table.swift").contains("Tag")))
    #expect(try target.output("Table.swift").contains("(\"Item\", Item.self)"))
  }

  @Test("an optional requirement in one file changes its calls in a file without another construct")
  func optionalRequirement() throws {
    let target = try Target()
    try target.write("D.swift", "@objc protocol D { @objc optional func done() }\n")
    try target.write("Caller.swift", "func f(_ d: D) { d.done?() }\n")
    _ = try target.run("D.swift", "Caller.swift")
    #expect(try target.output("Caller.swift").contains("d.done()"))
  }

  @Test("a result begins with the place of its original")
  func locations() throws {
    let target = try Target()
    try target.write("Item.swift", item)
    _ = try target.run("Item.swift")
    #expect(
      try target.output("Item.swift").hasPrefix(
        "#sourceLocation(file: \"\(target.folder.path)/Item.swift\", line: 1)\nimport CDECoreData\n"))
  }

  @Test("a missing file is an error that names it")
  func missingFile() throws {
    let target = try Target()
    #expect(throws: (any Error).self) { try target.run("None.swift") }
  }
}
