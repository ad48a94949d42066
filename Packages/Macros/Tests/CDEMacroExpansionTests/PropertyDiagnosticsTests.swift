import Testing

@Suite("Diagnostics of attributes and markers")
struct AttributeDiagnosticsTests {
  @Test(
    "Wrong arguments are one error at the argument",
    arguments: [
      (
        "(.indexed)", ".indexed",
        "only supports the traits `.unique`, `.transient` and `.preserveValueOnDeletion`"
      ),
      ("(.unique, .transient)", ".transient", "cannot be combined with `.unique`"),
      ("(named: \"x\")", "named", "unknown argument label `named`"),
      ("(persistentName: name)", "name", "must be a string literal or nil"),
      ("(persistentName: \"a\\(1)\")", "\"a\\(1)\"", "must be a string literal or nil"),
      ("(persistentName: \"a b\")", "\"a b\"", "valid Core Data attribute name"),
      ("(persistentName: \"\")", "\"\"", "valid Core Data attribute name"),
      ("(persistentName: \"1a\")", "\"1a\"", "valid Core Data attribute name"),
    ])
  func arguments(arguments: String, node: String, text: String) throws {
    let expansion = Expansion.model("@Attribute\(arguments) var a: Int")
    let error = try expansion.onlyError(at: node)
    #expect(error.text.contains(text))
    #expect(!expansion.text.contains("_cdRequired"))
  }

  @Test("nil as a persistent name is the same as none")
  func nilName() {
    let expansion = Expansion.model("@Attribute(persistentName: nil) var a: Int")
    #expect(expansion.messages.isEmpty && expansion.contains("case a = \"a\""))
  }

  @Test(
    "A type that is no primitive is an error at the type",
    arguments: [
      "Status", "Tag?", "[String]?", "Set<Tag>", "[Tag]",
    ])
  func type(_ type: String) throws {
    let expansion = Expansion.model("@Attribute var a: \(type)")
    let error = try expansion.onlyError(at: type)
    #expect(error.text.contains("`.default` storage only supports primitive"))
    #expect(expansion.messages[0].fixIts[0].source.contains("@Ignore var a: \(type)"))
  }

  @Test(
    "Property markers belong to stored instance variables",
    arguments: [
      "@Attribute", "@Ignore", "@Relationship(inverse: \"a\", deleteRule: .nullify)",
    ])
  func misplaced(marker: String) {
    for declaration in [
      "let a: Int = 1", "static var a: Int = 1", "lazy var a: Int = 1", "var a: Int { 1 }", "func a() {}",
    ] {
      let expansion = Expansion.model("\(marker) \(declaration)")
      #expect(expansion.messages.count == 1, "\(declaration)")
      #expect(expansion.messages[0].node == marker)
      #expect(expansion.errors[0].contains("stored `var` property"))
      #expect(expansion.messages[0].fixIts[0].source.contains("{\n  \(declaration)\n}"))
    }
  }

  @Test("Attribute and relationship at once is an error")
  func both() {
    let expansion = Expansion.model(
      "@Attribute @Relationship(inverse: \"a\", deleteRule: .nullify) var tag: Tag?")
    #expect(expansion.errors.contains { $0.contains("cannot be both an @Attribute and a @Relationship") })
  }

  @Test("Outside a model an attribute goes by its key")
  func outsideModel() {
    let expansion = Expansion(
      """
      final class Item: NSManagedObject {
        @Attribute(persistentName: "t") var title: String?
        @Attribute var count: Int
      }
      """)
    #expect(expansion.messages.isEmpty)
    #expect(expansion.contains("get {\n_cdValue(forKey: \"t\")\n}"))
    #expect(expansion.contains("set {\nsetValue(newValue, forKey: \"t\")\n}"))
    #expect(expansion.contains("get {\n_cdRequired(forKey: \"count\")\n}"))
    let structure = Expansion("struct Item {\n  @Attribute var a: Int\n}")
    #expect(structure.errors.count == 1)
    #expect(structure.errors[0].contains("property of a class that inherits from NSManagedObject"))
  }

  @Test(
    "Expansion helpers and relationships belong into a model",
    arguments: [
      "@_CDRelationship", "@_CDAttribute", "@Relationship(inverse: \"a\", deleteRule: .nullify)",
    ])
  func byHand(marker: String) {
    let expansion = Expansion("class Item: NSManagedObject {\n  \(marker) var tag: Tag?\n}")
    #expect(expansion.errors.count == 1)
    #expect(expansion.errors[0].contains("can only be used inside @PersistentModel types"))
  }
}

@Suite("Diagnostics of relationships")
struct RelationshipDiagnosticsTests {
  private static let marker = "@Relationship(inverse: \"a\", deleteRule: .nullify)"
  private static let form = "must declare @Relationship(persistentName: ..., inverse: ..., deleteRule: ...)"

  @Test(
    "Wrong arguments are one error with a fix-it where there is one",
    arguments: [
      ("(inverse: \"a\")", "requires `deleteRule:`", "(inverse: \"a\", deleteRule: .nullify)"),
      ("(deleteRule: .deny)", "requires `inverse:`", "(inverse: \"<#inverse#>\", deleteRule: .deny)"),
      (
        "(inverse: \"a\", minimumModelCount: 1)", "@Relationship requires `deleteRule:`",
        "(inverse: \"a\", deleteRule: .nullify, minimumModelCount: 1)"
      ),
      (
        "(inverse: \"a\", deleteRule: .noAction)", "does not support `deleteRule: .noAction`",
        "(inverse: \"a\", deleteRule: .nullify)"
      ),
      (
        "(inverse: \"a\", deleteRule: rule)", "must be written as `.nullify`, `.cascade` or `.deny`",
        "(inverse: \"a\", deleteRule: .nullify)"
      ),
    ])
  func fixable(arguments: String, text: String, fixed: String) {
    let expansion = Expansion.model("@Relationship\(arguments) var tag: Tag?")
    #expect(expansion.messages.count == 1 && expansion.errors[0].contains(text))
    #expect(expansion.messages[0].fixIts[0].source.contains("@Relationship\(fixed) var tag: Tag?"))
  }

  @Test(
    "Other wrong arguments are one error at the argument",
    arguments: [
      (
        "minimumModelCount: -1", "-1", "`minimumModelCount:` to be a non-negative integer literal"
      ),
      ("maximumModelCount: n", "n", "`maximumModelCount:` to be a non-negative integer literal"),
      ("minimumModelCount: 3, maximumModelCount: 2", "3", "must not exceed `maximumModelCount`"),
      ("limit: 3", "limit", "unknown argument label `limit`"),
    ])
  func counts(arguments: String, node: String, text: String) throws {
    let expansion = Expansion.model(
      "@Relationship(inverse: \"a\", deleteRule: .deny, \(arguments)) var tags: Set<Tag>")
    let error = try expansion.onlyError(at: node)
    #expect(error.text.contains(text))
  }

  @Test(
    "Names must be literals of the right form",
    arguments: [
      ("inverse: name", "`inverse` must be a string literal"),
      ("inverse: \"\"", "`inverse` must be a string literal"),
      ("persistentName: name, inverse: \"a\"", "must be a string literal or nil"),
      ("persistentName: \"a-b\", inverse: \"a\"", "valid Core Data relationship name"),
    ])
  func names(arguments: String, text: String) {
    let expansion = Expansion.model("@Relationship(\(arguments), deleteRule: .deny) var tag: Tag?")
    #expect(expansion.messages.count == 1 && expansion.errors[0].contains(text))
  }

  @Test(
    "A relationship to values is one error", arguments: ["[Int]", "Set<String>", "Int?", "[Swift.Double]"])
  func values(type: String) {
    let expansion = Expansion.model("\(Self.marker) var values: \(type)")
    #expect(expansion.messages.count == 1)
    #expect(
      expansion.errors[0].contains("requires a relationship type")
        && expansion.errors[0].contains("`\(type)`"))
    #expect(expansion.messages[0].fixIts[0].name == "Remove @Relationship")
  }

  @Test("Rules may be spelled with their type, and counts carry underscores")
  func spellings() {
    for rule in [
      ".cascade", "RelationshipDeleteRule.cascade", "CoreDataEvolution.RelationshipDeleteRule.cascade",
    ] {
      let expansion = Expansion.model(
        "@Relationship(inverse: \"a\", deleteRule: \(rule), maximumModelCount: 1_000) var tags: [Tag]")
      #expect(expansion.messages.isEmpty)
      #expect(
        expansion.text.contains("deleteRule: .cascade, minimumModelCount: nil, maximumModelCount: 1000"))
    }
  }

  @Test(
    "Wrong types are one error at the type, with the right type as the fix",
    arguments: [
      ("Tag", "To-one relationship properties must be optional", "Tag?"),
      ("any Owner", "To-one relationship properties must be optional", "(any Owner)?"),
      ("Set<Tag>?", "Optional to-many relationship", "Set<Tag>"),
      ("[Tag]?", "Optional to-many relationship", "[Tag]"),
      ("Optional<[Tag]>", "Optional to-many relationship", "[Tag]"),
    ])
  func types(type: String, text: String, fixed: String) throws {
    let expansion = Expansion.model("\(Self.marker) var tag: \(type)")
    let error = try expansion.onlyError(at: type)
    #expect(error.text.contains(text))
    #expect(expansion.messages[0].fixIts[0].source.contains("var tag: \(fixed)\n}"))
  }

  @Test(
    "A default value is an error that removes it",
    arguments: [
      ("Set<Tag> = []", "Set<Tag>"), ("[Tag] = [] // why", "[Tag] // why"), ("Tag? = Tag()", "Tag?"),
    ])
  func defaults(type: String, fixed: String) {
    let expansion = Expansion.model("\(Self.marker) var tag: \(type)")
    #expect(expansion.messages.count == 1)
    #expect(expansion.errors[0].contains("must not declare a default value"))
    #expect(expansion.messages[0].fixIts[0].source.contains("var tag: \(fixed)\n}"))
    #expect(Expansion.model("\(Self.marker) var tag: Tag? = nil").messages.isEmpty)
  }

  @Test(
    "A relationship type without a marker is an error that inserts one",
    arguments: [
      "Tag?", "Set<Tag>", "[Tag]", "Array<Tag>", "Swift.Set<Tag>",
    ])
  func missingMarker(type: String) {
    let expansion = Expansion.model("public var tag: \(type)")
    #expect(expansion.messages.count == 1 && expansion.errors[0].contains(Self.form))
    #expect(
      expansion.messages[0].fixIts[0].source.contains(
        "\n  @Relationship(inverse: \"<#inverse#>\", deleteRule: .nullify)\n  public var tag: \(type)\n"))
    #expect(expansion.messages[0].fixIts[1].source.contains("\n  @Ignore public var tag: \(type)\n"))
  }

  @Test("A plain type without a marker names both ways out")
  func plainType() throws {
    let expansion = Expansion.model("var status: Status")
    let error = try expansion.onlyError(at: "Status")
    #expect(error.text.contains(Self.form))
    #expect(expansion.errors[0].contains("To-one relationship properties must be optional"))
  }

  @Test("A collection of primitives is no relationship")
  func primitiveCollection() {
    let expansion = Expansion.model("var words: [String]")
    #expect(expansion.messages.count == 1 && expansion.errors[0].contains("holds values, not models"))
    #expect(expansion.messages[0].fixIts[1].source.contains("@Ignore var words: [String]"))
  }

  @Test("A primitive marked as a relationship is an error at the marker")
  func primitive() throws {
    let expansion = Expansion.model("\(Self.marker) var title: String")
    let error = try expansion.onlyError(at: Self.marker)
    #expect(error.text.contains("requires a relationship type"))
    #expect(expansion.messages[0].fixIts[0].source.contains("\n  var title: String\n"))
  }
}
