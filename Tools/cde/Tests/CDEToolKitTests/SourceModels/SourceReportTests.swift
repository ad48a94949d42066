import CDESourceFacts
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit
@testable import cde

@Suite("Reports about sources, and the program that reads them")
struct SourceReportTests {
  private func drifted() throws -> (folder: SourceFolder, validation: SourceValidation) {
    let model = try sourceModel(
      "<entity name=\"Note\"><attribute name=\"a\" attributeType=\"Integer 16\" defaultValueString=\"1\"/></entity>"
    )
    let folder = try SourceFolder()
    try folder.write(
      "@PersistentModel final class Note: NSManagedObject {\n  var a: Int16 = 2\n  var b: Int?\n}\n",
      to: "My Models.swift")
    return (folder, try SourceValidation(model, path: "Small", .init(), folder: folder.url))
  }

  @Test("A line of the text has the file, the line, the column, what is wrong and the remedy")
  func lines() throws {
    let (folder, validation) = try drifted()
    let path = folder.file("My Models.swift").standardizedFileURL.path
    #expect(
      text(try validation.answer()) == """
        \(path):2:18: error: Note.a has the default 1 in the model, and the property has 2. Write `= 1`. [defaultValue]
        \(path):3:7: error: The model's Note has no property b. Add it to the model, correct its name, or mark it with @Ignore. [unknownProperty]
        2 findings, 1 of which --fix puts right.

        """)
    let preview = text(try validation.answer(fixing: .preview))
    #expect(preview.contains("- var a: Int16 = 2\n+ var a: Int16 = 1\n"))
    let json = try #require(
      JSONSerialization.jsonObject(with: Data(text(try validation.answer(report: .json)).utf8))
        as? [String: Any])
    let found = try #require(json["findings"] as? [[String: Any]])
    #expect(found.map { $0["rule"] as? String } == ["defaultValue", "unknownProperty"])
    #expect(found[0]["fixable"] as? Bool == true && found[0]["line"] as? Int == 2)
  }

  @Test("SARIF has the version, each rule once, and the place of each result")
  func sarif() throws {
    let (folder, validation) = try drifted()
    let json = try #require(
      JSONSerialization.jsonObject(with: Data(text(try validation.answer(report: .sarif)).utf8))
        as? [String: Any])
    #expect(json["version"] as? String == "2.1.0")
    let run = try #require((json["runs"] as? [[String: Any]])?.first)
    let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
    #expect(
      (driver["rules"] as? [[String: Any]])?.map { $0["id"] as? String } == [
        "unknownProperty", "defaultValue",
      ])
    let results = try #require(run["results"] as? [[String: Any]])
    #expect(results.count == 2)
    let location = try #require(
      ((results[1]["locations"] as? [[String: Any]])?.first)?["physicalLocation"] as? [String: Any])
    #expect((location["region"] as? [String: Any])?["startLine"] as? Int == 3)
    let uri = try #require((location["artifactLocation"] as? [String: Any])?["uri"] as? String)
    #expect(
      URL(string: uri)?.standardizedFileURL.path == folder.file("My Models.swift").standardizedFileURL.path)
    #expect(uri.contains("My%20Models.swift"))
  }

  @Test("Without the program that reads sources there is one sentence with the remedy")
  func missingProgram() throws {
    for (environment, executable, message) in [
      ([:], URL(fileURLWithPath: "/nowhere/bin/cde"), "Run Tools/install again"),
      (["CDE_SOURCE_FACTS": "/nowhere/facts"], nil, "CDE_SOURCE_FACTS names /nowhere/facts"),
    ] as [([String: String], URL?, String)] {
      let error = #expect(throws: ToolError.self) {
        try SourceFactsProgram(environment: environment, executable: executable)
      }
      #expect(error?.message.contains(message) == true && error?.status == .failed)
    }
    let folder = try SourceFolder()
    for (script, message) in [
      ("#!/bin/sh\necho '{}'\n", "is of another version"),
      ("#!/bin/sh\nkill -SEGV $$\n", "crashed. Name a part of the sources"),
      ("#!/bin/sh\necho broken >&2\nexit 3\n", "It says: broken"),
    ] {
      try folder.write(script, to: "facts")
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: folder.file("facts").path)
      let program = try SourceFactsProgram(environment: ["CDE_SOURCE_FACTS": folder.file("facts").path])
      let error = #expect(throws: ToolError.self) { try program.facts(of: ["/dev/null"]) }
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
  }

  @Test("Facts have the bytes of each part, with signs of several bytes and Windows' line ends")
  func facts() throws {
    let folder = try SourceFolder()
    let source =
      "// 🎈 é\r\nclass A: B {\r\n  @X(.y, z: \"q\") public var `in`: [String?]? = nil { didSet {} }\r\n  var c: Int { 1 }\r\n  func f() { class Local {} }\r\n}\r\n"
    try folder.write(source)
    let file = try #require(try SourceFactsProgram().facts(of: [folder.file("Models.swift").path]).first)
    let bytes = Array(source.utf8)
    func part(_ place: SourceFacts.Place?) -> String? {
      place.map { String(decoding: bytes[$0.range], as: UTF8.self) }
    }
    #expect(file.types.map(\.name) == ["A"] && file.problems.isEmpty)
    let property = try #require(file.types.first?.properties.first)
    #expect(property.name == "in" && part(property.place) == "`in`" && !property.isComputed)
    #expect(part(property.type?.place) == "[String?]?" && part(property.initialValue?.place) == "nil")
    #expect(part(property.attributes.first?.place) == "@X(.y, z: \"q\")")
    #expect(part(property.attributes.first?.inside) == ".y, z: \"q\"")
    #expect(property.attributes.first?.arguments.map { part($0.place) } == [".y", "z: \"q\""])
    #expect(property.attributes.first?["z"]?.string == "q")
    #expect(property.place.line == 3 && property.place.column == 29)
    #expect(file.types.first?.properties.last?.isComputed == true)
  }

  @Test("A file that is no UTF-8, or can't be read, is a problem and no crash")
  func unreadable() throws {
    let folder = try SourceFolder()
    try Data([0x63, 0xFF, 0xFE]).write(to: folder.file("a.swift"))
    let files = try SourceFactsProgram().facts(of: [folder.file("a.swift").path, "/nowhere/b.swift"])
    #expect(files.map { $0.problems.count } == [1, 1])
    #expect(files[0].problems[0].message == "The file is no UTF-8.")
  }

  @Test("The commands end with 0, 1, 2 and 64, as the others do")
  func exitCodes() throws {
    let (folder, _) = try drifted()
    func code(_ arguments: [String]) -> Int32 {
      do {
        var command = try Cde.parseAsRoot(["model"] + arguments)
        try command.run()
        return 0
      } catch { return Cde.exitCode(for: error).rawValue }
    }
    #expect(code(["validate", PaperFixture.modelPath, "--sources", folder.url.path]) == 1)
    #expect(code(["validate", PaperFixture.modelPath, "--config", "/nowhere.json"]) == 2)
    #expect(code(["validate", PaperFixture.modelPath, "--dry-run"]) == 64)
    #expect(code(["validate", PaperFixture.modelPath, "--fix"]) == 64)
    #expect(code(["generate", PaperFixture.modelPath, "--to", folder.file("new").path]) == 0)
    #expect(code(["validate", PaperFixture.modelPath, "--sources", folder.file("new").path]) == 0)
    #expect(
      code(["validate", PaperFixture.modelPath, "--sources", folder.file("new").path, "--mode", "exact"]) == 0
    )
    #expect(code(["inspect", PaperFixture.modelPath]) == 0)
    #expect(code(["generate"]) == 64)
    #expect(code(["validate", "--config", PaperFixture.configurationURL.path]) == 0)
  }
}
