@_spi(CDE) import CDEManagedModel
import CDEModelFiles
import Foundation
import Testing

@Suite("Copies of models in mapping models")
struct EmbeddedModelTests {
  enum Form: CaseIterable {
    case base64, digits, bracketedDigits

    func text(_ data: Data) -> String {
      switch self {
      case .base64: return data.base64EncodedString(options: .lineLength64Characters)
      case .digits: return data.map { String(format: "%02X", $0) }.joined()
      case .bracketedDigits:
        let digits = data.map { String(format: "%02x", $0) }
        return "&lt;"
          + stride(from: 0, to: digits.count, by: 4).map {
            digits[$0..<min($0 + 4, digits.count)].joined()
          }.joined(separator: " ") + "&gt;"
      }
    }
  }

  private func archive(_ body: String) throws -> Data {
    try ModelCompiler.data(of: try CDEModelFilesTests.model(body))
  }

  /// A mapping model between the two versions, which names models at some place.
  private func mapping(old: String, new: String, at place: String = "Gone/M.xcdatamodeld") throws -> URL {
    let models = MappingFixtures.object(
      "XDDEVMAPPINGMODEL", 1,
      [
        ("sourcemodelpath", "\(place)/M.xcdatamodel"), ("sourcemodeldata", old),
        ("destinationmodelpath", "\(place)/M 2.xcdatamodel"), ("destinationmodeldata", new),
      ])
    let text = try MappingFixtures.xml().replacing(MappingFixtures.models, with: models)
    return try MappingFixtures.folder(text).appendingPathComponent("App/Mapping.xcmappingmodel")
  }

  @Test("The copies are used where the files are elsewhere", arguments: Form.allCases)
  func missingFiles(form: Form) throws {
    let copies = [try archive(MappingFixtures.old), try archive(MappingFixtures.new)].map(form.text)
    let model = try NSMappingModel(mappingFile: try mapping(old: copies[0], new: copies[1]))
    let folder = try MappingFixtures.folder(try MappingFixtures.xml())
    let expected = try NSMappingModel(
      mappingFile: folder.appendingPathComponent("App/Mapping.xcmappingmodel"))
    #expect(try ModelCompiler.data(of: model) == ModelCompiler.data(of: expected))
  }

  @Test(
    "A copy is used for one model, if only that model's file is gone, and models that are given come first")
  func oneFile() throws {
    let copy = Form.base64.text(try archive(MappingFixtures.old))
    let file = try mapping(old: copy, new: "", at: "App/M.xcdatamodeld")
    let place = file.deletingLastPathComponent().appendingPathComponent("M.xcdatamodeld")
    let whole = try ModelCompiler.data(of: try NSMappingModel(mappingFile: file))
    try FileManager.default.removeItem(at: place.appendingPathComponent("M.xcdatamodel"))
    #expect(try ModelCompiler.data(of: try NSMappingModel(mappingFile: file)) == whole)
    let given = [place.appendingPathComponent("M 2.xcdatamodel")]
    #expect(try ModelCompiler.data(of: try NSMappingModel(mappingFile: file, models: given)) == whole)
  }

  @Test("The file counts where both are there")
  func fileFirst() throws {
    let other = Form.base64.text(try archive("<entity name=\"Other\"/>"))
    let file = try mapping(old: other, new: other, at: "App/M.xcdatamodeld")
    #expect(try NSMappingModel(mappingFile: file).entityMappings.count == 8)
  }

  @Test("A copy in the editor's own classes is an error that names the class and the remedy")
  func editorClasses() throws {
    let objects: [PropertyListNode] = [
      .string("$null"), .dictionary(["$class": .reference(2)]),
      .dictionary(["$classname": .string("XDPMModel"), "$classes": .array([.string("XDPMModel")])]),
    ]
    let copy = Form.base64.text(MappingArchives.data(objects))
    let file = try mapping(old: copy, new: copy)
    let error = fileError { _ = try NSMappingModel(mappingFile: file) }
    #expect(error?.code == .missing && error?.line != nil)
    #expect(error?.message.contains("Gone/M.xcdatamodeld/M.xcdatamodel") == true)
    #expect(error?.message.contains("XDPMModel") == true)
    #expect(error?.message.contains("give it to the compiler") == true)
    #expect((error?.cause as? ModelFileError)?.code == .unsupportedFormat)
  }

  @Test("A damaged copy is told with the missing file", arguments: ["YnBsaXN0", "62706c697374", "!", "00"])
  func damaged(copy: String) throws {
    let file = try mapping(old: copy, new: copy)
    let error = fileError { _ = try NSMappingModel(mappingFile: file) }
    #expect(error?.code == .missing)
    #expect((error?.cause as? ModelFileError)?.code == .damaged, "\(String(describing: error?.cause))")
  }
}
