@_spi(CDE) import CDESQLiteFaults
import CDESourceFacts
import CoreDataEvolution
import Foundation

@testable import CDEToolKit

/// The structure that a rule of `Papers.json` names.
struct PaperSettings: Codable, Equatable {
  var theme = "light"
}

/// The fixture: a model, its configuration, and the file that is generated for them and compiled with these tests.
enum PaperFixture {
  static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let folder = tests.appendingPathComponent("Fixtures")
  static let modelPath = folder.appendingPathComponent("Papers.xcdatamodeld").path
  static let configurationURL = folder.appendingPathComponent("Papers.json")
  static let generated = tests.appendingPathComponent(
    "CDEToolKitTests/SourceModels/Generated/PapersModels.swift")

  static func model() throws -> LoadedModel { try LoadedModel(modelPath) }

  static func configuration() throws -> SourceConfiguration {
    try SourceConfiguration(contentsOf: configurationURL)
  }

  static func sources(_ change: (inout SourceConfiguration) -> Void = { _ in }) throws -> GeneratedSources {
    var configuration = try configuration()
    change(&configuration)
    return try SourceGeneration(model(), configuration).sources()
  }
}

/// A folder with sources of a model, which a test changes.
final class SourceFolder {
  let url = ProcessFolder.newURL("sources")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }

  func write(_ text: String, to name: String = "Models.swift") throws {
    try Data(text.utf8).write(to: file(name))
  }

  func text(_ name: String = "Models.swift") throws -> String {
    String(decoding: try Data(contentsOf: file(name)), as: UTF8.self)
  }

  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
}

/// A model from the text of an `.xcdatamodel`.
func sourceModel(_ entities: String, named name: String = "Small") throws -> LoadedModel {
  let folder = ProcessFolder.newURL("models").appendingPathComponent("\(name).xcdatamodel")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  let text = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
    \(entities)
    </model>
    """
  try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
  return try LoadedModel(folder.path)
}

/// A configuration from its text.
func configuration(_ text: String) throws -> SourceConfiguration {
  try SourceConfiguration(Data(text.utf8), named: "cde.json")
}

/// The findings of sources, as a user gets them.
func findings(
  _ folder: SourceFolder, _ model: LoadedModel, _ configuration: SourceConfiguration = SourceConfiguration()
) throws -> [SourceFinding] {
  let validation = try SourceValidation(
    model, path: "Model", configuration, folder: folder.url, mode: .conformance)
  return validation.findings(try validation.tree())
}
