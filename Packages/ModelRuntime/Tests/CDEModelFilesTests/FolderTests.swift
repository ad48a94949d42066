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
