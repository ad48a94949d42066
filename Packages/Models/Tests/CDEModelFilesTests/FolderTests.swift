import CDEManagedModel
import CDEModelFiles
import Foundation
import Testing

@Suite("Folders of models")
struct FolderTests {
  @Test("The current version of an .xcdatamodeld is read")
  func currentVersion() throws {
    let url = try folder([
      "M.xcdatamodeld/.xccurrentversion": CDEModelFilesTests.currentVersion("M 2.xcdatamodel"),
      "M.xcdatamodeld/M.xcdatamodel/contents": xml("<entity name=\"Old\"/>"),
      "M.xcdatamodeld/M 2.xcdatamodel/contents": xml("<entity name=\"New\"/>"),
    ]).appendingPathComponent("M.xcdatamodeld")
    let model = try #require(NSManagedObjectModel(contentsOf: url))
    #expect(model.entities.map(\.name) == ["New"])
    #expect(model.versionIdentifiers == ["v"])
    #expect(try ModelSourceFolder(url).versions == ["M", "M 2"])
    let old = try NSManagedObjectModel(modelFile: url.appendingPathComponent("M.xcdatamodel"))
    #expect(old.entities.map(\.name) == ["Old"])
  }

  @Test("Without .xccurrentversion the sole version is current, or the one named like the model")
  func soleVersion() throws {
    let url = try folder([
      "A.xcdatamodeld/X.xcdatamodel/contents": xml("<entity name=\"X\"/>"),
      "B.xcdatamodeld/B.xcdatamodel/contents": xml("<entity name=\"B\"/>"),
      "B.xcdatamodeld/B 2.xcdatamodel/contents": xml("<entity name=\"B2\"/>"),
      "C.xcdatamodeld/X.xcdatamodel/contents": xml(""),
      "C.xcdatamodeld/Y.xcdatamodel/contents": xml(""),
    ])
    func names(_ name: String) throws -> [String?] {
      try NSManagedObjectModel(modelFile: url.appendingPathComponent(name)).entities.map(\.name)
    }
    #expect(try names("A.xcdatamodeld") == ["X"])
    #expect(try names("B.xcdatamodeld") == ["B"])
    #expect(fileError { _ = try names("C.xcdatamodeld") }?.code == .invalidModel)
  }

  @Test(
    "A .xccurrentversion that names no version counts as none",
    arguments: [
      "", "\n", "<plist version=\"1.0\"/>", "<plist version=\"1.0\"><dict/></plist>",
      "<plist version=\"1.0\">\n<dict>\n</dict>\n</plist>",
      "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string></string></dict></plist>",
    ])
  func emptyMarker(text: String) throws {
    let url = try folder([
      "A.xcdatamodeld/.xccurrentversion": Data(text.utf8),
      "A.xcdatamodeld/X.xcdatamodel/contents": xml("<entity name=\"X\"/>"),
      "B.xcdatamodeld/.xccurrentversion": Data(text.utf8),
      "B.xcdatamodeld/B.xcdatamodel/contents": xml("<entity name=\"B\"/>"),
      "B.xcdatamodeld/B 2.xcdatamodel/contents": xml("<entity name=\"B2\"/>"),
      "C.xcdatamodeld/.xccurrentversion": Data(text.utf8),
      "C.xcdatamodeld/X.xcdatamodel/contents": xml(""),
      "C.xcdatamodeld/Y.xcdatamodel/contents": xml(""),
    ])
    func current(_ name: String) throws -> String {
      try ModelSourceFolder(url.appendingPathComponent(name)).currentVersion
    }
    #expect(try current("A.xcdatamodeld") == "X")
    #expect(try current("B.xcdatamodeld") == "B")
    let error = fileError { _ = try current("C.xcdatamodeld") }
    #expect(error?.code == .invalidModel)
    #expect(error?.message.contains("X, Y") == true)
  }

  @Test("An .omo is read as the .mom beside it, in which the same version is")
  func optimisedForm() throws {
    let source = try folder(["M.xcdatamodel/contents": xml("<entity name=\"Item\"/>")])
    let url = try folder(["alone.omo": Data("momv2$srsraori".utf8), "M.omo": Data("momv2$srsraori".utf8)])
    let compiled = url.appendingPathComponent("M.mom")
    try ModelCompiler.compile(source.appendingPathComponent("M.xcdatamodel"), to: compiled)
    func names(_ name: String) throws -> [String?] {
      try NSManagedObjectModel(modelFile: url.appendingPathComponent(name)).entities.map(\.name)
    }
    #expect(try names("M.omo") == ["Item"])
    try FileManager.default.copyItem(at: compiled, to: url.appendingPathComponent("archive.omo"))
    #expect(try names("archive.omo") == ["Item"], "An archive is read itself.")
    let error = fileError { _ = try names("alone.omo") }
    #expect(error?.code == .unsupportedFormat)
    #expect(error?.message.contains("alone.mom") == true)
    #expect(fileError { _ = try names("none.omo") }?.code == .missing)
  }

  @Test("A model in the form of Xcode 3 is named as that, in a folder of versions as well")
  func formOfXcode3() throws {
    let url = try folder(
      [
        "M.xcdatamodeld/M.xcdatamodel/elements": Data("bplist00".utf8),
        "M.xcdatamodeld/M.xcdatamodel/layout": Data("bplist00".utf8),
        "N.xcdatamodel/elements": Data("bplist00".utf8),
      ])
    for name in ["M.xcdatamodeld", "N.xcdatamodel"] {
      let error = fileError { _ = try NSManagedObjectModel(modelFile: url.appendingPathComponent(name)) }
      #expect(error?.code == .unsupportedFormat)
      #expect(error?.message.contains("Xcode 3") == true)
      #expect(error?.message.contains("save it") == true)
    }
  }

  @Test("What is missing or no model gives nil, and a reason")
  func missing() throws {
    let url = try folder(
      [
        "file.txt": Data(),
        "M.xcdatamodeld/.xccurrentversion": CDEModelFilesTests.currentVersion("gone.xcdatamodel"),
        "M.xcdatamodeld/M.xcdatamodel/contents": xml(""), "F.xcdatamodel": xml(""),
        "P.xcdatamodeld/.xccurrentversion": CDEModelFilesTests.currentVersion("../P.xcdatamodel"),
        "P.xcdatamodeld/P.xcdatamodel/contents": xml(""),
      ], folders: ["E.xcdatamodeld", "E.xcdatamodel", "D.xcdatamodel/contents"])
    func code(_ name: String) -> ModelFileError.Code? {
      let file = url.appendingPathComponent(name)
      #expect(NSManagedObjectModel(contentsOf: file) == nil)
      return fileError { _ = try NSManagedObjectModel(modelFile: file) }?.code
    }
    #expect(code("none.xcdatamodeld") == .missing)
    #expect(code("none.xcdatamodel") == .missing)
    #expect(code("none.momd") == .missing)
    #expect(code("none.mom") == .missing)
    #expect(code("none") == .missing)
    #expect(code("file.txt") == .unsupportedFormat)
    #expect(code("E.xcdatamodeld") == .unsupportedFormat)
    #expect(code("E.xcdatamodel") == .unsupportedFormat)
    #expect(code("D.xcdatamodel") == .unsupportedFormat)
    #expect(code("F.xcdatamodel") == .unsupportedFormat)
    #expect(code("M.xcdatamodeld") == .invalidModel)
    #expect(code("P.xcdatamodeld") == .invalidModel)
  }
}
