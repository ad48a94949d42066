import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("Configurations of source models")
struct ConfigurationTests {
  @Test(
    "A wrong configuration is one sentence that names the key, its place and the remedy",
    arguments: [
      (
        #"{"generat": {}}"#,
        "“generat” of cde.json is unknown; the keys there are $schemaVersion, generate, proposals, validate."
      ),
      (#"{"generate": {"outputdir": "x"}}"#, "“generate.outputdir” of cde.json is unknown"),
      (#"{"generate": {"sourceDir": "x"}}"#, "“generate.sourceDir” of cde.json is unknown"),
      (#"{"generate": []}"#, "“generate” of cde.json must be an object in braces."),
      (#"{"generate": {"singleFile": "yes"}}"#, "“generate.singleFile” of cde.json must be true or false."),
      (
        #"{"generate": {"accessLevel": "open"}}"#,
        "“generate.accessLevel” of cde.json must be one of internal, public, package."
      ),
      (#"{"generate": {"singleFile": true, "splitByEntity": true}}"#, "contradicts “singleFile”"),
      (
        #"{"generate": {"typeMappings": {"Integer 8": {"swiftType": "Int"}}}}"#,
        "“generate.typeMappings.Integer 8” of cde.json is no attribute type; the types are Binary Data, Boolean"
      ),
      (
        #"{"generate": {"typeMappings": {"Integer 16": {"swiftType": "Int"}}}}"#,
        "must be Int16, because Int would be another attribute type."
      ),
      (#"{"generate": {"typeMappings": {"Integer 16": "Int16"}}}"#, "must be an object in braces."),
      (
        #"{"generate": {"attributeRules": {"Note": {"text": {"swiftTyp": "X"}}}}}"#,
        "“generate.attributeRules.Note.text.swiftTyp” of cde.json is unknown"
      ),
      (
        #"{"generate": {"attributeRules": {"Note": {"text": {"swiftName": "two words"}}}}}"#,
        "must be a name in Swift, which “two words” is not."
      ),
      (
        #"{"generate": {"attributeRules": {"Note": {"text": {"swiftType": "String?"}}}}}"#,
        "must be a type without a question mark"
      ),
      (
        #"{"generate": {"attributeRules": {"Note": {"text": {"swiftType": "Int } class X {"}}}}}"#,
        "must be a type in Swift"
      ),
      (
        #"{"generate": {"attributeRules": {"Note": {"text": {"storageMethod": "json"}}}}}"#,
        "must be one of default, raw, codable, composition, transformed."
      ),
      (
        #"{"generate": {"attributeRules": {"Note": {"text": {"storageMethod": "raw", "transformerName": "T"}}}}}"#,
        "goes with the storage method transformed only"
      ),
      (
        #"{"validate": {"relationshipRules": {"Note": {"owner": {"swiftType": "X"}}}}}"#,
        "“validate.relationshipRules.Note.owner.swiftType” of cde.json is unknown; the keys there are swiftName."
      ),
      (#"{"validate": {"mode": "strict"}}"#, "must be one of conformance, exact."),
      (
        #"{"validate": {"mode": "exact", "mode": "exact"}}"#,
        "“validate” of cde.json has the key “mode” twice"
      ),
      (#"{"$schemaVersion": 2}"#, "must be 1"),
      (
        #"{"proposals": {"enumerations": [{"entity": "Note", "attribute": "text", "swiftType": "Mood", "values": []}]}}"#,
        "“proposals.enumerations[0]” of cde.json must have “values” that are not empty"
      ),
      (
        #"{"proposals": {"compositions": [{"entity": "Note"}]}}"#,
        "“proposals.compositions[0]” of cde.json lacks “swiftName”."
      ),
      (#"{"generate": {"modelPath": ""}}"#, "“generate.modelPath” of cde.json is empty"),
      ("{\n\"generate\": {\n", "Line 3 is no JSON"),
    ])
  func wrong(text: String, message: String) {
    let error = #expect(throws: ToolError.self) { try configuration(text) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.hasSuffix(".") == true && error?.status == .failed)
  }

  @Test(
    "A rule that contradicts the model is an error of generate, and a finding of validate at its line",
    arguments: [
      (
        #"{"Nota": {"text": {"swiftName": "x"}}}"#, "The model has no entity Nota. It has Note.",
        "attributeRules.Nota"
      ),
      (
        #"{"Note": {"texts": {"swiftName": "x"}}}"#,
        "The entity Note declares no attribute texts. Its own are count, text.", "attributeRules.Note.texts"
      ),
      (
        #"{"Note": {"text": {"swiftType": "Int"}}}"#,
        "Note.text is String, which is String in Swift and not Int.", "attributeRules.Note.text"
      ),
      (
        #"{"Note": {"text": {"storageMethod": "raw"}}}"#, "The storage method raw needs the Swift type.",
        "attributeRules.Note.text"
      ),
      (
        #"{"Note": {"text": {"storageMethod": "codable", "swiftType": "X"}}}"#,
        "The storage method codable needs an attribute of type Binary Data, and text is String.",
        "attributeRules.Note.text.storageMethod"
      ),
      (
        #"{"Note": {"text": {"decodeFailurePolicy": "debugAssertNil"}}}"#,
        "A decode failure policy goes with", "attributeRules.Note.text.decodeFailurePolicy"
      ),
      (
        #"{"Note": {"text": {"swiftName": "count"}}}"#,
        "count and text of Note are both named count in Swift.", "attributeRules.Note.text"
      ),
    ])
  func contradiction(rules: String, message: String, place: String) throws {
    let model = try sourceModel(
      "<entity name=\"Note\"><attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"count\" optional=\"YES\" attributeType=\"Integer 16\"/></entity>"
    )
    let folder = try SourceFolder()
    try folder.write("{\n  \"generate\": {\n\"attributeRules\":\n\(rules)\n}\n}", to: "cde.json")
    let configuration = try SourceConfiguration(contentsOf: folder.file("cde.json"))
    let error = #expect(throws: ToolError.self) { try SourceGeneration(model, configuration).sources() }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    let finding = try findings(folder, model, configuration).first { $0.rule == .rules }
    #expect(finding?.subject == place && finding?.line == 4)
    #expect(finding?.file == folder.file("cde.json").path)
  }

  @Test("Skeletons are configurations, and the full one has every key")
  func skeletons() throws {
    for preset in ConfigurationText.Preset.allCases {
      _ = try configuration(ConfigurationText.skeleton(preset))
    }
    let full = ConfigurationText.skeleton(.full)
    for key in SourceConfiguration.generateKeys + ["sourceDir", "mode"] {
      #expect(full.contains("\"\(key)\""))
    }
    let folder = try SourceFolder()
    let file = folder.file("cde.json")
    _ = try ConfigurationText.write(full, to: file, replaces: false)
    #expect(throws: ToolError.self) { try ConfigurationText.write("{}", to: file, replaces: false) }
    #expect(try folder.text("cde.json") == full)
    _ = try ConfigurationText.write("{}", to: file, replaces: true)
    #expect(try folder.text("cde.json") == "{}")
  }

  @Test(
    "A bootstrapped configuration generates what none does, in both styles",
    arguments: ConfigurationText.Style.allCases)
  func bootstrap(style: ConfigurationText.Style) throws {
    let model = try PaperFixture.model()
    let plain = try SourceGeneration(model, SourceConfiguration()).sources()
    let text = try ConfigurationText.bootstrap(
      model, path: "Papers.xcdatamodeld", version: nil, style: style, data: nil)
    let configuration = try configuration(text)
    #expect(configuration.generate.modelPath == "Papers.xcdatamodeld")
    #expect(try SourceGeneration(model, configuration).sources().text == plain.text)
    #expect(text.contains("\"isOpen\"") == (style == .explicit))
    #expect(text.contains("\"transformerName\": \"Words\""))
  }

  @Test("validate takes over what it does not say itself from generate")
  func inheritance() throws {
    let found = try configuration(
      #"{"generate": {"modelPath": "a", "outputDir": "b", "attributeRules": {"A": {"b": {"swiftName": "c"}}}}, "validate": {"modelVersion": "2"}}"#
    ).effectiveValidation
    #expect(found.modelPath == "a" && found.sourceDir == "b" && found.modelVersion == "2")
    #expect(found.attributeRules["A"]?["b"]?.swiftName == "c")
  }

  @Test("The resolved form has names, types, storage, remarks and problems")
  func inspection() throws {
    let json = try SourceGeneration(PaperFixture.model(), PaperFixture.configuration()).resolved().answer()
      .jsonValue
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.text().utf8)) as? [String: Any])
    #expect(object["model"] as? String == "Papers" && object["keepsVersion"] as? Bool == true)
    let entities = try #require(object["entities"] as? [[String: Any]])
    #expect(entities.compactMap { $0["swiftName"] as? String }.contains("PaperSection"))
    let paper = try #require(entities.first { $0["name"] as? String == "Paper" })
    let attributes = try #require(paper["attributes"] as? [[String: Any]])
    let settings = try #require(attributes.first { $0["persistentName"] as? String == "settings" })
    #expect(
      settings["storageMethod"] as? String == "codable" && settings["swiftType"] as? String == "PaperSettings"
    )
    #expect((object["enumerations"] as? [[String: Any]])?.count == 2)
  }
}
