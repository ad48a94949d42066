import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("Classes with @Model that differ from their model")
struct SwiftDataConformanceTests {
  static let entities = """
    <entity name="Bookmark">
      <attribute name="addedOn" attributeType="Date"/>
      <attribute name="heading" optional="YES" attributeType="String" elementID="title"/>
      <attribute name="url" attributeType="URI"/>
      <relationship name="folder" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Folder" inverseName="bookmarks" inverseEntity="Folder"/>
      <relationship name="home" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Folder" inverseName="pinned" inverseEntity="Folder"/>
      <uniquenessConstraints><uniquenessConstraint><constraint value="url"/></uniquenessConstraint></uniquenessConstraints>
    </entity>
    <entity name="Folder">
      <attribute name="scratch" optional="YES" transient="YES" attributeType="String"/>
      <relationship name="bookmarks" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Bookmark" inverseName="folder" inverseEntity="Bookmark"/>
      <relationship name="pinned" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Bookmark" inverseName="home" inverseEntity="Bookmark"/>
    </entity>
    """
  static let source = """
    @Model
    final class Bookmark {
      var addedOn: Date
      @Attribute(originalName: "title") var heading: String?
      @Attribute(.unique) var url: URL
      var folder: Folder?
      var home: Folder?
      @Transient var isSelected = false
      init() {}
    }

    @Model
    final class Folder {
      @Attribute(.ephemeral) var scratch: String?
      @Relationship(deleteRule: .cascade, inverse: \\Bookmark.folder) var bookmarks: [Bookmark]? = []
      @Relationship(inverse: \\Bookmark.home) var pinned: [Bookmark]? = []
      init() {}
    }

    """

  static let drifts: [ConformanceTests.Drift] = [
    .init("Bookmark.url", .unique, "@Attribute(.unique) var url", "var url", fixed: true),
    .init(
      "Bookmark.addedOn", .unique, "  var addedOn",
      "  #Unique<Bookmark>([\\.addedOn], [\\.url, \\.addedOn])\n  var addedOn"),
    .init(
      "Bookmark.heading", .persistentName, "@Attribute(originalName: \"title\") var heading", "var heading",
      fixed: true),
    .init(
      "Bookmark.heading", .persistentName, "originalName: \"title\"", "originalName: \"name\"", fixed: true),
    .init("Folder.scratch", .transient, "@Attribute(.ephemeral) var scratch", "var scratch", fixed: true),
    .init("Folder.bookmarks", .deleteRule, "deleteRule: .cascade, inverse", "inverse", fixed: true),
    .init("Folder.bookmarks", .inverse, "\\Bookmark.folder", "\\Bookmark.home", fixed: true),
    .init(
      "Bookmark.home", .inverse, "@Relationship(inverse: \\Bookmark.home) var pinned", "var pinned",
      fixed: true,
      result: "var pinned"),
    .init("Bookmark.addedOn", .type, "var addedOn: Date", "var addedOn: String"),
    .init("Bookmark.addedOn", .optionality, "var addedOn: Date", "var addedOn: Date?"),
    .init("Folder.pinned", .type, "var pinned: [Bookmark]?", "var pinned: [Bookmark]"),
    .init("Bookmark.folder", .missingProperty, "  var folder: Folder?\n", ""),
    .init(
      "Bookmark.extra", .unknownProperty, "  var folder: Folder?\n",
      "  var folder: Folder?\n  var extra = 1\n"),
    .init("Folder", .missingClass, "@Model\nfinal class Folder", "final class Folder"),
  ]

  private static var configuration: SourceConfiguration {
    var configuration = SourceConfiguration()
    configuration.validate.kind = .swiftData
    return configuration
  }

  @Test("Sources that agree have no findings, and those that the generator writes agree")
  func clean() throws {
    let model = try sourceModel(Self.entities)
    let folder = try SourceFolder()
    try folder.write(Self.source)
    #expect(try findings(folder, model, Self.configuration) == [])
    for path in [PaperFixture.modelPath] {
      let model = try LoadedModel(path)
      var configuration = Self.configuration
      configuration.generate.kind = .swiftData
      try folder.write(SourceGeneration(model, configuration).sources().text)
      // Composites have types of their own, and what SwiftData does not express is no property.
      let found = try findings(folder, model, configuration)
      #expect(found.map(\.message) == [])
    }
  }

  @Test("What drifted is found, and --fix puts right what is certain", arguments: drifts)
  func drift(_ drift: ConformanceTests.Drift) throws {
    let model = try sourceModel(Self.entities)
    let parts = Self.source.components(separatedBy: drift.old)
    try #require(parts.count == 2, "The source has no \(drift.old), or several.")
    let folder = try SourceFolder()
    try folder.write(parts.joined(separator: drift.new))
    let found = try findings(folder, model, Self.configuration)
    let finding = try #require(
      found.first { $0.rule == drift.rule && $0.subject == drift.subject },
      "\(found.map { "\($0.rule) \($0.subject)" })")
    #expect(finding.isFixable == drift.isFixed)
    let answer = try SourceValidation(model, path: "Small", Self.configuration, folder: folder.url).answer(
      fixing: .write)
    #expect(answer.hasFindings != drift.isFixed, "\(text(answer))")
    if drift.isFixed, drift.result == nil { #expect(try folder.text() == Self.source) }
    if !drift.isFixed { #expect(try folder.text() == parts.joined(separator: drift.new)) }
  }

  @Test("Of the versions of a schema the one that is like the model counts")
  func versions() throws {
    let model = try sourceModel(
      "<entity name=\"Note\"><attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"words\" attributeType=\"Integer 64\"/></entity>"
    )
    let folder = try SourceFolder()
    let versions = [
      "enum V2 { @Model final class Note { var text: String?; var words: Int = 0 } }",
      "enum V1 { @Model final class Note { var text: Int? } }",
    ]
    for order in [versions, versions.reversed()] {
      try folder.write(order.joined(separator: "\n"))
      #expect(try findings(folder, model, Self.configuration) == [])
    }
  }
}
