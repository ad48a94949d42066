import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("Classes that differ from their model")
struct ConformanceTests {
  /// A change of the generated file, what validation finds, and whether `--fix` restores the file byte by byte.
  struct Drift: CustomTestStringConvertible {
    var old: String
    var new: String
    var rule: SourceFinding.Rule
    var isFixed = false
    /// The text that the fix leaves, where it is not the old one.
    var result: String?
    var subject: String

    init(
      _ subject: String, _ rule: SourceFinding.Rule, _ old: String, _ new: String, fixed: Bool = false,
      result: String? = nil
    ) {
      self.subject = subject
      self.rule = rule
      self.old = old
      self.new = new
      isFixed = fixed
      self.result = result
    }

    var testDescription: String { "\(rule.rawValue): \(new)" }
  }

  static let drifts: [Drift] = [
    // Relationships
    Drift(
      "Paper.journal", .missingRelationship,
      "@Relationship(inverse: \"papers\", deleteRule: .nullify) var journal: Journal?",
      "var journal: Journal?",
      fixed: true),
    Drift(
      "Keyword.papers", .missingRelationship,
      "@Relationship(inverse: \"keywords\", deleteRule: .nullify) var papers: Set<Paper>",
      "/* of the word */ var papers: Set<Paper>",
      fixed: true,
      result:
        "/* of the word */ @Relationship(inverse: \"keywords\", deleteRule: .nullify) var papers: Set<Paper>"),
    Drift(
      "Paper.journal", .inverse, "inverse: \"papers\", deleteRule: .nullify) var journal",
      "inverse: \"paper\", deleteRule: .nullify) var journal", fixed: true),
    Drift(
      "Journal.papers", .deleteRule, "inverse: \"journal\", deleteRule: .deny",
      "inverse: \"journal\", deleteRule: .cascade", fixed: true),
    Drift(
      "Paper.annotations", .deleteRule, "@Relationship(inverse: \"paper\", deleteRule: .cascade) var",
      "@Relationship(\n    inverse: \"paper\",  // the paper\n    deleteRule: RelationshipDeleteRule.nullify\n  ) var",
      fixed: true,
      result: "@Relationship(\n    inverse: \"paper\",  // the paper\n    deleteRule: .cascade\n  ) var"),
    Drift("Paper.keywords", .count, ", maximumModelCount: 12", ""),
    Drift("Paper.keywords", .type, "var keywords: Set<Keyword>", "var keywords: [Keyword]"),
    Drift("Paper.journal", .type, "var journal: Journal?", "var journal: Keyword?"),
    Drift(
      "Section.aPaperWithAVeryLongNameOfItsRelationship", .name, "deleteRule: .nullify)\n  var paper: Paper?",
      "deleteRule: .nullify)\n  var thePaper: Paper?"),
    // Attributes
    Drift(
      "Paper.description", .persistentName,
      "@Attribute(persistentName: \"description\") var descriptionValue",
      "var descriptionValue", fixed: true),
    Drift(
      "Paper.title", .persistentName, "@Attribute(.length(1...400)) var title",
      "@Attribute(.length(1...400), persistentName: \"titel\") var title", fixed: true),
    Drift("Keyword.word", .unique, "@Attribute(.unique) var word", "@Attribute() var word", fixed: true),
    Drift("Keyword.word", .unique, "@Attribute(.unique) var word", "@Attribute var word", fixed: true),
    Drift("Keyword.word", .unique, "@Attribute(.unique) var word", "var word", fixed: true),
    Drift(
      "Paper.venueCity", .unique, "  var venueCity: String?", "  @Attribute(.unique) var venueCity: String?",
      fixed: true),
    Drift(
      "Paper.stars", .unique, "@Attribute(.range(0...5)) var stars",
      "@Attribute(AttributeTrait.unique, .range(0...5)) var stars", fixed: true),
    Drift("Paper.scratch", .transient, "@Attribute(.transient) var scratch", "var scratch", fixed: true),
    Drift(
      "Paper.home", .transient, "  var home: URL?", "  @Attribute(.transient)\n  var home: URL?", fixed: true),
    Drift(
      "Paper.secret", .preservation, "@Attribute(.preserveValueOnDeletion) var secret", "var secret",
      fixed: true),
    Drift(
      "Paper.status", .storageMethod, "@Attribute(storageMethod: .raw) var status", "var status", fixed: true),
    Drift(
      "Paper.kind", .storageMethod, "@Attribute(storageMethod: .raw) var kind: PaperKind = .value2",
      "var kind: Int32 = 2"),
    Drift(
      "Paper.words", .transformer, "storageMethod: .transformed(name: \"Words\")",
      "storageMethod: .transformed(name: \"Letters\")", fixed: true),
    Drift("Paper.words", .storageMethod, ".transformed(name: \"Words\")", ".codable"),
    Drift("Paper.settings", .decodeFailurePolicy, ", decodeFailurePolicy: .debugAssertNil", "", fixed: true),
    Drift(
      "Paper.settings", .storageMethod,
      "@Attribute(storageMethod: .codable, decodeFailurePolicy: .debugAssertNil)\n  var settings",
      "var settings",
      fixed: true,
      result: "@Attribute(storageMethod: .codable, decodeFailurePolicy: .debugAssertNil) var settings"),
    Drift("Paper.settings", .type, "var settings: PaperSettings?", "var settings: OtherSettings?"),
    Drift("Paper.pages", .type, "var pages: Int32?", "var pages: Int64?"),
    Drift("Journal.papersCount", .type, "var papersCount: Int = 0", "var papersCount: Int64 = 0"),
    Drift("Paper.pages", .optionality, "var pages: Int32?", "var pages: Int32"),
    Drift("Paper.isOpen", .optionality, "var isOpen: Bool = true", "var isOpen: Bool? = true"),
    Drift("Paper.isOpen", .defaultValue, "var isOpen: Bool = true", "var isOpen: Bool = false", fixed: true),
    Drift("Paper.title", .defaultValue, " = \"Untitled\"", "", fixed: true),
    Drift(
      "Paper.price", .defaultValue, "var price: Decimal? = 9.5", "var price: Decimal? = nil", fixed: true),
    Drift("Paper.class", .defaultValue, "var `class`: Int16 = 0", "var `class`: Int16 = 0x10", fixed: true),
    Drift("Paper.pages", .defaultValue, "var pages: Int32?", "var pages: Int32? = 7"),
    Drift(
      "Paper.published", .defaultValue, "Date(timeIntervalSinceReferenceDate: 700000000.0)", ".distantPast"),
    Drift(
      "Paper.status", .defaultValue, "var status: PaperStatus = .draft",
      "var status: PaperStatus = .published"),
    Drift("Paper.weight", .missingProperty, "  var weight: Double?\n", ""),
    Drift("Paper.weight", .missingProperty, "  var weight: Double?\n", "  @Ignore var weight: Double?\n"),
    Drift(
      "Paper.colour", .unknownProperty, "  var weight: Double?\n",
      "  var weight: Double?\n  var colour: String?\n"),
    // Types and classes
    Drift(
      "Paper.place", .composition, "latitude: Double?\n", "latitude: Double?\n  var altitude: Double?\n"),
    Drift("Paper.kind", .enumeration, "enum PaperKind: Int32", "enum PaperKind: Int64"),
    Drift("Review", .superclass, "final class Review: Annotation", "final class Review: NSManagedObject"),
    Drift(
      "Annotation", .entityOption, "@PersistentModel(isAbstract: true)\nclass Annotation",
      "@PersistentModel\nclass Annotation"),
    Drift("Keyword", .missingClass, "@PersistentModel\nfinal class Keyword", "final class Keyword"),
    Drift(
      "", .syntax, "final class Keyword: NSManagedObject {", "final class Keyword: NSManagedObject { var 1: }"
    ),
  ]

  @Test(
    "What drifted is found at its line; --fix restores it byte by byte, or leaves the file as it is",
    arguments: drifts)
  func drift(_ drift: Drift) throws {
    let original = try #require(try PaperFixture.sources().files.first?.text)
    let parts = original.components(separatedBy: drift.old)
    try #require(parts.count > 1, "The fixture has no \(drift.old)")
    let changed = parts[0] + drift.new + parts[1...].joined(separator: drift.old)
    let folder = try SourceFolder()
    try folder.write(changed)
    let (model, configuration) = (try PaperFixture.model(), try PaperFixture.configuration())
    let found = try findings(folder, model, configuration)
    let finding = try #require(
      found.first { $0.rule == drift.rule && $0.subject == drift.subject },
      "\(found.map { "\($0.rule) \($0.subject)" })")
    #expect(
      found.count == 1 || drift.rule == .syntax || drift.rule == .missingClass, "\(found.map(\.message))")
    #expect(finding.isFixable == drift.isFixed)
    #expect(finding.message.hasSuffix(".") && finding.remedy.hasSuffix("."))
    if ![
      .superclass, .missingProperty, .composition, .enumeration, .missingClass, .entityOption, .syntax,
      .unknownProperty,
    ].contains(drift.rule) {
      // The line of the change, or one of its lines.
      let line = parts[0].count { $0 == "\n" } + 1
      #expect((line...(line + drift.new.count { $0 == "\n" })).contains(finding.line))
    }

    let validation = try SourceValidation(model, path: "Papers", configuration, folder: folder.url)
    let preview = try validation.answer(fixing: .preview)
    #expect(preview.hasFindings && text(preview).contains("Nothing was written."))
    #expect(try folder.text() == changed)
    let answer = try validation.answer(fixing: .write)
    #expect(answer.hasFindings != drift.isFixed, "\(text(answer))")
    let expected =
      drift.isFixed
      ? parts[0] + (drift.result ?? drift.old) + parts[1...].joined(separator: drift.old) : changed
    #expect(try folder.text() == expected)
    if drift.isFixed { #expect(try findings(folder, model, configuration) == []) }
  }

  @Test(
    "Several drifts of one attribute are one edit, and arguments beside them keep their text and their comments"
  )
  func several() throws {
    let model = try sourceModel(
      """
      <entity name="Note"><attribute name="mood" attributeType="String" defaultValueString="calm"/>
      <uniquenessConstraints><uniquenessConstraint><constraint value="mood"/></uniquenessConstraint></uniquenessConstraints>
      </entity>
      """)
    let folder = try SourceFolder()
    try folder.write(
      """
      @PersistentModel final class Note: NSManagedObject {\r
        // naïve 🎈
        @Attribute(
          .transient,  // why?
          .length(1...9), /* three */
          persistentName: "moode"
        ) var mood: String = "wild"\r
      }
      """)
    let validation = try SourceValidation(model, path: "Small", .init(), folder: folder.url)
    #expect(
      try validation.findings(validation.tree()).map(\.rule.rawValue).sorted() == [
        "defaultValue", "persistentName", "transient", "unique",
      ])
    #expect(try !validation.answer(fixing: .write).hasFindings)
    #expect(
      try folder.text() == """
        @PersistentModel final class Note: NSManagedObject {\r
          // naïve 🎈
          @Attribute(
            .length(1...9), .unique
          ) var mood: String = "calm"\r
        }
        """)
  }

  @Test("A default of the model is not written into a property of another type", arguments: [" = 3", ""])
  func otherType(value: String) throws {
    let model = try sourceModel(
      """
      <entity name="Note"><attribute name="mood" attributeType="String" defaultValueString="calm"/></entity>
      """)
    let folder = try SourceFolder()
    let source = "@PersistentModel final class Note: NSManagedObject {\n  var mood: Int\(value)\n}\n"
    try folder.write(source)
    let validation = try SourceValidation(model, path: "Small", .init(), folder: folder.url)
    #expect(try validation.findings(validation.tree()).map(\.rule.rawValue).contains("type"))
    #expect(try validation.answer(fixing: .write).hasFindings)
    #expect(try folder.text() == source)
  }

  @Test("Without rules the storage and the names of the sources count")
  func lenient() throws {
    let model = try sourceModel(
      """
      <entity name="Note"><attribute name="big" optional="YES" attributeType="Integer 64"/>
      <attribute name="blob" optional="YES" attributeType="Binary"/>
      <attribute name="mood" attributeType="String" defaultValueString="calm"/>
      <attribute name="shape" optional="YES" attributeType="Transformable"/></entity>
      """)
    let folder = try SourceFolder()
    try folder.write(
      """
      enum Mood: String { case calm, wild }
      @PersistentModel final class Note: NSManagedObject {
        @Attribute(persistentName: "big") var count: Swift.Int64?
        @Attribute(storageMethod: .codable) var blob: [Int]?
        @Attribute(storageMethod: .raw) var mood: Mood = Mood.calm
        @Attribute(storageMethod: .composition) var shape: Shape?
        @Ignore var selected = false
        var isWild: Bool { mood == .wild }
        static var all: [Note] = []
      }
      """)
    #expect(try findings(folder, model) == [])
  }

  @Test("ignoreOptionality leaves optionality out, and of validation only")
  func ignoring() throws {
    let model = try sourceModel(
      "<entity name=\"Note\"><attribute name=\"text\" attributeType=\"String\"/></entity>")
    let folder = try SourceFolder()
    try folder.write("@PersistentModel final class Note: NSManagedObject { var text: String? }")
    #expect(try findings(folder, model).map(\.rule) == [.optionality])
    let ignoring = try configuration(
      #"{"validate": {"attributeRules": {"Note": {"text": {"ignoreOptionality": true}}}}}"#)
    #expect(try findings(folder, model, ignoring) == [])
    #expect(throws: ToolError.self) {
      try configuration(#"{"generate": {"attributeRules": {"Note": {"text": {"ignoreOptionality": true}}}}}"#)
    }
  }

  @Test("A property of a declaration with others, and a file that does not parse, are not edited")
  func notCertain() throws {
    let model = try sourceModel(
      "<entity name=\"Note\"><attribute name=\"a\" attributeType=\"Integer 16\" defaultValueString=\"1\"/><attribute name=\"b\" attributeType=\"Integer 16\" defaultValueString=\"1\"/></entity>"
    )
    let folder = try SourceFolder()
    try folder.write("@PersistentModel final class Note: NSManagedObject { var a: Int16 = 1, b: Int16 = 2 }")
    #expect(try findings(folder, model).map(\.isFixable) == [false])
    try folder.write(
      "@PersistentModel final class Note: NSManagedObject {\n var a: Int16 = 2\n var b: Int16 = 1 ) }")
    let found = try findings(folder, model)
    #expect(found.contains { $0.rule == .syntax && $0.line == 3 } && found.allSatisfy { !$0.isFixable })
  }

  @Test("A file that changes between reading and writing is not written")
  func race() throws {
    let model = try sourceModel(
      "<entity name=\"Note\"><attribute name=\"a\" attributeType=\"Integer 16\" defaultValueString=\"1\"/></entity>"
    )
    let folder = try SourceFolder()
    try folder.write("@PersistentModel final class Note: NSManagedObject { var a: Int16 = 2 }")
    let validation = try SourceValidation(model, path: "Small", .init(), folder: folder.url)
    let tree = try validation.tree()
    let edits = SourceEdits(validation.findings(tree), tree)
    try folder.write("// other")
    #expect(throws: ToolError.self) { try edits.write(tree) }
    #expect(try folder.text() == "// other")
  }

  @Test("A link stays a link, and a file keeps its permissions")
  func links() throws {
    let model = try sourceModel(
      "<entity name=\"Note\"><attribute name=\"a\" attributeType=\"Integer 16\" defaultValueString=\"1\"/></entity>"
    )
    let (folder, elsewhere) = (try SourceFolder(), try SourceFolder())
    try elsewhere.write("@PersistentModel final class Note: NSManagedObject { var a: Int16 = 2 }")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o640], ofItemAtPath: elsewhere.file("Models.swift").path)
    try FileManager.default.createSymbolicLink(
      at: folder.file("Link.swift"), withDestinationURL: elsewhere.file("Models.swift"))
    _ = try SourceValidation(model, path: "Small", .init(), folder: folder.url).answer(fixing: .write)
    #expect(try elsewhere.text().contains("Int16 = 1"))
    let attributes = try FileManager.default.attributesOfItem(atPath: elsewhere.file("Models.swift").path)
    #expect(attributes[.posixPermissions] as? Int == 0o640)
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("Link.swift").path).hasSuffix(
        "Models.swift"))
  }

  @Test("A class whose entity has another name is found by entityName, @objc and @_objcRuntimeName")
  func entityNames() throws {
    let model = try sourceModel("<entity name=\"A\"/><entity name=\"B\"/><entity name=\"C\"/>")
    let folder = try SourceFolder()
    try folder.write(
      """
      enum Models {
        @PersistentModel(entityName: "A") final class One: NSManagedObject {}
      }
      extension Models {
        #if canImport(ObjectiveC)
        @objc(B)
        #endif
        @PersistentModel final class Two: NSManagedObject {}
      }
      @_objcRuntimeName(C) @PersistentModel final class Three: NSManagedObject {}
      @PersistentModel final class Four: NSManagedObject {}
      """)
    let found = try findings(folder, model)
    #expect(found.map(\.rule) == [.unknownClass, .superclass] || found.map(\.rule) == [.unknownClass])
    #expect(found.first { $0.rule == .unknownClass }?.subject == "Four")
  }

  @Test("A type of the class itself comes before one of the same name elsewhere")
  func scopes() throws {
    let model = try sourceModel(
      """
      <entity name="A"><attribute name="mood" optional="YES" attributeType="Integer 16"/></entity>
      <entity name="B"><attribute name="mood" optional="YES" attributeType="String"/></entity>
      """)
    let folder = try SourceFolder()
    let source = """
      @PersistentModel final class A: NSManagedObject {
        enum Mood: Int16 { case calm }
        @Attribute(storageMethod: .raw) var mood: Mood?
      }
      @PersistentModel final class B: NSManagedObject {
        enum Mood: String { case calm }
        @Attribute(storageMethod: .raw) var mood: Mood?
      }
      """
    try folder.write(source)
    #expect(try findings(folder, model) == [])
    try folder.write(source.replacing("Mood: String", with: "Mood: Int"))
    #expect(try findings(folder, model).map { "\($0.rule) \($0.line)" } == ["enumeration 7"])
  }
}
