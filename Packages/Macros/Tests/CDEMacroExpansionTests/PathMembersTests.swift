import Foundation
import Testing

@Suite("Typed paths of a model")
struct PathMembersTests {
  @Test("Each property has a path of its kind, under both names")
  func paths() {
    let expansion = Expansion.model(
      """
      @Attribute(persistentName: "name") var title: String = ""
      @Attribute(.transient) var draft: Optional<Int>
      @Relationship(persistentName: "g", inverse: "a", deleteRule: .nullify) var group: Group?
      @Relationship(inverse: "b", deleteRule: .nullify) var tags: Set<Tag>
      @Relationship(inverse: "c", deleteRule: .nullify) var notes: [Note]
      @Ignore var cache: Int = 0
      """)
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        nonisolated enum Paths {
        static let title = CDPath<Item, String>(swiftPath: ["title"], persistentPath: ["name"], \
        storageMethod: .default)
        static let draft = CDPath<Item, Int?>(swiftPath: ["draft"], persistentPath: ["draft"], \
        storageMethod: .default)
        static let group = CDToOneRelationPath<Item, Group>(swiftPath: ["group"], persistentPath: ["g"])
        static let tags = CDToManyRelationPath<Item, Tag>(swiftPath: ["tags"], persistentPath: ["tags"])
        static let notes = CDToManyRelationPath<Item, Note>(swiftPath: ["notes"], persistentPath: ["notes"])
        }
        """), "\(expansion.text)")
    #expect(
      expansion.contains(
        """
        nonisolated struct PathRoot: Swift.Sendable {
        var title: CDPath<Item, String> {
        Paths.title
        }
        """))
    #expect(expansion.contains("nonisolated static var path: PathRoot {\nPathRoot()\n}"))
    #expect(
      expansion.contains(
        """
        private nonisolated static func __cdMakeRelationshipProjectionTable() -> [Swift.String: CDFieldMeta] {
        var table = CDFieldTableBuilder()
        table.attribute("title", "name")
        table.attribute("draft", "draft", isStored: false)
        return table.entries
        }
        """))
    #expect(
      expansion.contains(
        """
        private nonisolated static func __cdMakeFieldTable() -> [Swift.String: CDFieldMeta] {
        var table = CDFieldTableBuilder(__cdRelationshipProjectionTable)
        table.toOne("group", "g", Group.self)
        table.toMany("tags", "tags", Tag.self)
        table.toMany("notes", "notes", Note.self)
        return table.entries
        }
        """))
    #expect(!expansion.text.contains("CDPath<Item, Int>"))
  }

  @Test("Storage methods are those of the attributes, and compositions lead on to their fields")
  func storageMethods() {
    let expansion = Expansion.model(
      """
      @Attribute(storageMethod: .raw) var status: Status = .a
      @Attribute(storageMethod: .codable) var settings: Settings?
      @Attribute(storageMethod: .transformed(name: "T")) var words: [String]?
      @Attribute(storageMethod: .composition) var place: Place?
      """)
    #expect(expansion.messages.isEmpty)
    for (path, storage) in [
      ("CDPath<Item, Status>(swiftPath: [\"status\"], persistentPath: [\"status\"]", "raw"),
      ("CDPath<Item, Settings?>(swiftPath: [\"settings\"], persistentPath: [\"settings\"]", "codable"),
      ("CDPath<Item, [String]?>(swiftPath: [\"words\"], persistentPath: [\"words\"]", "transformed"),
    ] {
      #expect(expansion.text.contains("\(path), storageMethod: .\(storage))"), "\(expansion.text)")
    }
    #expect(
      expansion.contains(
        "static let place = CDCompositionPath<Item, Place?, Place>(root: CDPath(swiftPath: [\"place\"], "
          + "persistentPath: [\"place\"], storageMethod: .composition))"))
    #expect(expansion.contains("table.attribute(\"status\", \"status\", .raw)"))
    #expect(expansion.contains("table.composition(\"place\", \"place\", Place.self)"))
  }

  @Test("Paths are as visible as their property, and those to private ones are left out")
  func access() {
    let expansion = Expansion(
      """
      @PersistentModel
      public final class Item: NSManagedObject {
        public var title: String = ""
        var count: Int = 0
        fileprivate var note: String?
        private var secret: Int = 0
        public private(set) var seen: Bool = false
      }
      """)
    #expect(expansion.messages.isEmpty)
    for part in [
      "public nonisolated enum Paths {", "public static let title = CDPath<Item, String>",
      "\n    static let count = CDPath<Item, Int>", "fileprivate static let note = CDPath<Item, String?>",
      "public static let seen = CDPath<Item, Bool>", "public nonisolated struct PathRoot: Swift.Sendable {",
      "public nonisolated static var path: PathRoot {", "public nonisolated static let __cdFieldTable",
      "table.attribute(\"secret\", \"secret\")",
    ] {
      #expect(expansion.text.contains(part), "\(part)\n\(expansion.text)")
    }
    #expect(!expansion.text.contains("static let secret"))
    let hidden = Expansion("@PersistentModel\nprivate final class Item: NSManagedObject { var a: Int = 0 }")
    #expect(hidden.text.contains("fileprivate nonisolated enum Paths {"))
  }

  @Test("A name that is a keyword, and a model without properties")
  func corners() {
    let keyword = Expansion.model("var `default`: Bool = false")
    #expect(
      keyword.contains(
        "static let `default` = CDPath<Item, Bool>(swiftPath: [\"default\"], persistentPath: [\"default\"], "
          + "storageMethod: .default)"))
    #expect(keyword.contains("var `default`: CDPath<Item, Bool> {\nPaths.`default`\n}"))
    let empty = Expansion.model("")
    #expect(empty.contains("nonisolated enum Paths {\n}"))
    #expect(empty.contains("return CDFieldTableBuilder(__cdRelationshipProjectionTable).entries"))
  }

  @Test("The properties' names stand beside their persistent ones")
  func names() {
    let expansion = Expansion.model("@Attribute(persistentName: \"b\") var a: Int = 0\nvar c: Int = 0")
    #expect(
      expansion.contains("nonisolated static var __cdPropertyNames: [Swift.String] {\n[\"b\", \"c\"]\n}"))
    #expect(expansion.contains("nonisolated static var __cdSwiftNames: [Swift.String] {\n[\"a\", \"c\"]\n}"))
  }
}
