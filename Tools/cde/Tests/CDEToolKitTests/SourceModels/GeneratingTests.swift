import CDEModelClasses
@_spi(CDE) import CDESQLiteFaults
import CDEModelFiles
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEDiagrams
@testable import CDEToolKit

@Suite("Generating classes of models")
struct GeneratingTests {
  @Test("The compiled fixture is what the generator writes now")
  func fixture() throws {
    let file = try #require(try PaperFixture.sources().files.first)
    #expect(file.name == "PapersModels.swift")
    let known = String(decoding: try Data(contentsOf: PaperFixture.generated), as: UTF8.self)
    #expect(known == file.text)
  }

  @Test("A model made of the compiled classes has the version hashes of the source model")
  func hashes() throws {
    let source = try PaperFixture.model().model
    let made = try NSManagedObjectModel.makeRuntimeModel(
      Annotation.self, Journal.self, Keyword.self, Paper.self, Review.self, PaperSection.self, TypeModel.self,
      compositions: .columns)
    #expect(made.entityVersionHashesByName == source.entityVersionHashesByName)
    #expect(try PaperFixture.sources().keepsVersion == true)
    for (name, entity) in source.entitiesByName {
      for (key, attribute) in entity.attributesByName where !["status", "kind"].contains(key) {
        let other = made.entitiesByName[name]?.attributesByName[key]
        #expect((attribute.defaultValue as? NSObject) == (other?.defaultValue as? NSObject), "\(name).\(key)")
        #expect(
          attribute.validationPredicates.map(\.canonicalFormat)
            == other?.validationPredicates.map(\.canonicalFormat))
      }
      for (key, relationship) in entity.relationshipsByName {
        #expect(made.entitiesByName[name]?.relationshipsByName[key]?.deleteRule == relationship.deleteRule)
      }
    }
    let paper = made.entitiesByName["Paper"]?.attributesByName
    #expect(paper?["status"]?.defaultValue as? String == "draft")
    #expect((paper?["kind"]?.defaultValue as? NSNumber)?.intValue == 2)
  }

  @Test("The compiled classes store and read what the model has")
  @MainActor
  func working() throws {
    let container = NSPersistentContainer(name: "Papers", managedObjectModel: try PaperFixture.model().model)
    container.persistentStoreDescriptions = [.init(url: ProcessFolder.newURL("papers"))]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    try #require(failure == nil)
    let context = container.viewContext
    let paper = Paper(context: context)
    #expect(paper.status == .draft && paper.kind == .value2 && paper.stars == 3)
    paper.status = .inReview
    paper.venue = PaperVenue(city: "Oslo", name: "NPCS")
    paper.place = Place(latitude: 59.9, name: "Oslo")
    paper.settings = PaperSettings(theme: "dark")
    let section = PaperSection(context: context)
    section.heading = "Introduction"
    paper.addToSections(section)
    try context.save()
    context.reset()
    let found = try #require(try context.fetch(Paper.fetchRequest()).first)
    #expect(found.value(forKey: "status") as? String == "in review")
    #expect(found.venueCity == "Oslo" && found.venue.name == "NPCS" && found.place?.latitude == 59.9)
    #expect(found.settings?.theme == "dark" && found.sections.first?.paper === found)
  }

  @Test("A formatter leaves the files alone, at 100 columns and at 110", arguments: [100, 110])
  func formatting(width: Int) throws {
    let folder = try SourceFolder()
    try folder.write(
      "{\"version\": 1, \"lineLength\": \(width), \"indentation\": {\"spaces\": 2}}", to: ".swift-format")
    let texts =
      try PaperFixture.sources().files.map(\.text) + [
        SourceGeneration(LoadedModel(PaperFixture.modelPath), SourceConfiguration()).sources().text
      ]
    for (index, text) in texts.enumerated() {
      try folder.write(text, to: "\(index).swift")
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["swift", "format", "format", "--in-place", folder.file("\(index).swift").path]
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(try folder.text("\(index).swift") == text)
    }
  }

  @Test("A file for each entity: written, unchanged, replaced, and removed when its entity is gone")
  func folder() throws {
    let folder = try SourceFolder()
    let output = folder.file("Sources/Models")
    let old = try sourceModel(
      """
      <entity name="A"><attribute name="x" optional="YES" attributeType="String"/></entity>
      <entity name="B"><attribute name="y" optional="YES" attributeType="String"/></entity>
      """)
    func run(_ model: LoadedModel, dry: Bool = false) throws -> String {
      text(
        try Generation(SourceGeneration(model, SourceConfiguration()).sources(), in: output).run(
          isDryRun: dry), .csv)
    }
    #expect(try run(old, dry: true).contains("create,\(output.path)/A.swift"))
    #expect(!FileManager.default.fileExists(atPath: output.path))
    #expect(try run(old).contains("create,\(output.path)/B.swift"))
    let before = try Data(contentsOf: output.appendingPathComponent("A.swift"))
    #expect(try run(old).contains("unchanged,\(output.path)/A.swift"))
    let new = try sourceModel(
      "<entity name=\"A\"><attribute name=\"x\" optional=\"YES\" attributeType=\"Date\"/></entity>")
    let answer = try run(new, dry: true)
    #expect(
      answer.contains("replace,\(output.path)/A.swift,\r\n")
        && answer.contains("remove,\(output.path)/B.swift"))
    #expect(try Data(contentsOf: output.appendingPathComponent("A.swift")) == before)
    _ = try run(new)
    #expect(try FileManager.default.contentsOfDirectory(atPath: output.path) == ["A.swift"])
    let written = String(
      decoding: try Data(contentsOf: output.appendingPathComponent("A.swift")), as: UTF8.self)
    #expect(written.contains("var x: Date?") && written.contains("// cde-managed: "))
  }

  @Test("A file without the mark is named and stays, and nothing else is written")
  func foreignFile() throws {
    let folder = try SourceFolder()
    try folder.write("// mine\n", to: "Paper.swift")
    let sources = try PaperFixture.sources { $0.generate.singleFile = false }
    let error = #expect(throws: ToolError.self) {
      try Generation(sources, in: folder.url).run(isDryRun: false)
    }
    #expect(error?.message.contains("Paper.swift was not generated, so it is not replaced.") == true)
    #expect(try folder.names() == ["Paper.swift"])
    #expect(try folder.text("Paper.swift") == "// mine\n")
  }

  @Test("A file of another model is not replaced, and not removed")
  func otherModel() throws {
    let folder = try SourceFolder()
    let one = try sourceModel("<entity name=\"A\"/>", named: "One")
    let two = try sourceModel("<entity name=\"B\"/>", named: "Two")
    let three = try sourceModel("<entity name=\"A\"/>", named: "Three")
    for model in [one, two] {
      _ = try Generation(SourceGeneration(model, .init()).sources(), in: folder.url).run(isDryRun: false)
    }
    #expect(try folder.names() == ["A.swift", "B.swift"])
    #expect(throws: ToolError.self) {
      try Generation(SourceGeneration(three, .init()).sources(), in: folder.url).run(isDryRun: false)
    }
  }

  @Test(
    "A managed file that was edited by hand is replaced with a word; one that is left over and edited stays")
  func edited() throws {
    let folder = try SourceFolder()
    let both = try sourceModel("<entity name=\"A\"/><entity name=\"B\"/>")
    func run(_ model: LoadedModel) throws -> String {
      text(
        try Generation(SourceGeneration(model, .init()).sources(), in: folder.url).run(isDryRun: false), .csv)
    }
    _ = try run(both)
    for name in ["A.swift", "B.swift"] { try folder.write(folder.text(name) + "// mine\n", to: name) }
    let answer = try run(try sourceModel("<entity name=\"A\"/>"))
    #expect(answer.contains("replace,\(folder.url.path)/A.swift,had been edited by hand"))
    #expect(answer.contains("keep,\(folder.url.path)/B.swift"))
    #expect(try !folder.text("A.swift").contains("mine") && folder.text("B.swift").contains("mine"))
  }

  @Test("Stubs are written once, and stay as they become")
  func stubs() throws {
    let folder = try SourceFolder()
    let model = try sourceModel("<entity name=\"A\"/>")
    var configuration = SourceConfiguration()
    configuration.generate.emitExtensionStubs = true
    configuration.generate.headerTemplate = "// Of {{model}}"
    for _ in 0..<2 {
      _ = try Generation(SourceGeneration(model, configuration).sources(), in: folder.url).run(
        isDryRun: false)
      #expect(try folder.text("A+Extensions.swift").contains("extension A {"))
      try folder.write("extension A { var mine: Int { 1 } }\n", to: "A+Extensions.swift")
    }
    #expect(try folder.text("A+Extensions.swift") == "extension A { var mine: Int { 1 } }\n")
    #expect(try folder.text("A.swift").hasPrefix("// Of Small\n// Generated by"))
  }

  @Test("With --kind swiftdata the text is that of generate-swiftdata, and its parts are files")
  func swiftData() throws {
    let model = try LoadedModel(PaperFixture.modelPath)
    var generator = SwiftDataGenerator(model.model)
    let text = try generator.source()
    var configuration = SourceConfiguration()
    configuration.generate.kind = .swiftData
    let sources = try SourceGeneration(model, configuration).sources()
    #expect(sources.text == text)
    #expect(sources.files.map(\.name) == model.model.sortedEntities.map { "\($0.name!).swift" })
    for file in sources.files {
      let declaration = file.text.split(separator: "import Foundation\n\n", maxSplits: 1)[1]
      #expect(text.contains(declaration) && declaration.contains("class "))
    }
  }

  @Test("A compiled model and a store make the classes of their source")
  func otherSources() throws {
    let trips = PaperFixture.tests.appendingPathComponent(
      "../../../Tests/Consumers/PortedApp/Sources/Model/Trips.xcdatamodeld"
    ).standardizedFileURL
    let compiled = ProcessFolder.newURL("Trips").appendingPathExtension("momd")
    _ = try LoadedModel.compile(trips, to: compiled, module: nil)
    func classes(_ model: LoadedModel) throws -> String {
      try SourceGeneration(model, SourceConfiguration()).sources().text
    }
    let expected = try classes(LoadedModel(trips.path))
    #expect(try classes(LoadedModel(compiled.path)) == expected)
    let store = ProcessFolder.newURL("Trips").appendingPathExtension("sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try LoadedModel(trips.path).model)
    let opened = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: nil)
    try coordinator.remove(opened)
    #expect(try classes(LoadedModel(store.path)) == expected)
    #expect(expected.contains("final class PackingItem: Item {"))
    #expect(expected.contains("// Photo.data may be stored in files of its own"))
  }

  @Test("What no class expresses is a comment and a remark, and the answer says that the version is another")
  func remarks() throws {
    let model = try sourceModel(
      """
      <entity name="Note">
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="shout" optional="YES" attributeType="String" derived="YES" derivationExpression="uppercase:(text)"/>
        <attribute name="text" optional="YES" attributeType="String" elementID="words"/>
        <relationship name="owner" optional="YES" maxCount="1" deletionRule="No Action" destinationEntity="Note" inverseName="owned" inverseEntity="Note"/>
        <relationship name="owned" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Note" inverseName="owner" inverseEntity="Note"/>
        <relationship name="lonely" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Note"/>
      </entity>
      """)
    let sources = try SourceGeneration(model, SourceConfiguration()).sources()
    #expect(sources.keepsVersion == false && sources.remarks.count == 5)
    #expect(sources.text.contains("  // Note.shout is derived"))
    #expect(
      sources.text.contains(
        "  // Note.text has the renaming identifier words, which only a model's file has.\n  var text"))
    #expect(!sources.text.contains("var shout") && !sources.text.contains("var lonely"))
    #expect(sources.text.contains("@Relationship(inverse: \"owned\", deleteRule: .nullify) var owner: Note?"))
  }

  @Test("A model of sixty entities is generated in one file, and its sources conform")
  func sixtyEntities() throws {
    let mom = ProcessFolder.newURL("wide").appendingPathExtension("mom")
    try ModelCompiler.data(of: wideModel(60)).write(to: mom)
    let model = try LoadedModel(mom.path)
    var configuration = SourceConfiguration()
    configuration.generate.singleFile = true
    let sources = try SourceGeneration(model, configuration).sources()
    #expect(sources.files.count == 1 && sources.text.components(separatedBy: "@PersistentModel").count == 61)
    let folder = try SourceFolder()
    _ = try Generation(sources, in: folder.url).run(isDryRun: false)
    #expect(try findings(folder, model) == [])
  }

  @Test(
    "Names that Swift has are other ones, with the persistent name",
    arguments: [
      (
        "Data", "hash", "final class DataModel",
        "@Attribute(persistentName: \"hash\") var hashProperty: String?"
      ),
      ("Set", "class", "@PersistentModel(entityName: \"Set\")", "  var `class`: String?"),
      (
        "protocol", "self", "final class protocolModel",
        "@Attribute(persistentName: \"self\") var selfValue: String?"
      ),
      ("Item", "init", "final class Item", "@Attribute(persistentName: \"init\") var initValue: String?"),
    ])
  func names(entity: String, attribute: String, type: String, property: String) throws {
    let model = try sourceModel(
      "<entity name=\"\(entity)\"><attribute name=\"\(attribute)\" optional=\"YES\" attributeType=\"String\"/></entity>"
    )
    let text = try SourceGeneration(model, SourceConfiguration()).sources().text
    #expect(text.contains(type))
    #expect(text.contains(property))
  }

  @Test("Access level and initialiser are those of the configuration")
  func options() throws {
    let text = try PaperFixture.sources {
      $0.generate.accessLevel = .public
      $0.generate.generateInit = true
    }.text
    #expect(
      text.contains(
        "@PersistentModel(generateInit: true, entityName: \"Section\")\npublic final class PaperSection"))
    #expect(
      text.contains("public enum PaperStatus: String") && text.contains(" public var latitude: Double?"))
  }
}
