import Testing

@Suite("Diagnostics of storage methods and rules")
struct StorageDiagnosticsTests {
  /// One error at `node`, with `text` in it; the source after its first fix-it holds `fixed`.
  private func check(
    _ declaration: String, at node: String, _ text: String, fixed: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let expansion = Expansion.model(declaration)
    #expect(
      expansion.messages.count == 1, "\(expansion.messages.map(\.text))", sourceLocation: sourceLocation)
    guard let message = expansion.messages.first else { return }
    #expect(message.node == node, sourceLocation: sourceLocation)
    #expect(message.line != nil && message.severity == .error, sourceLocation: sourceLocation)
    #expect(message.text.contains(text), "\(message.text)", sourceLocation: sourceLocation)
    if let fixed {
      #expect(
        message.fixIts.first?.source.contains("\n  \(fixed)\n") == true, "\(message.fixIts)",
        sourceLocation: sourceLocation)
    }
  }

  @Test("A transient attribute is stored nowhere, so it has no storage method")
  func transient() {
    for method in [".raw", ".codable", ".composition", ".transformed(name: \"X\")"] {
      check(
        "@Attribute(.transient, storageMethod: \(method)) var a: Status?", at: ".transient",
        "trait `.transient` only supports `.default` storage",
        fixed: "@Attribute(storageMethod: \(method)) var a: Status?")
    }
    #expect(Expansion.model("@Attribute(.transient, storageMethod: .default) var a: Int").messages.isEmpty)
    check(
      "@Attribute(.unique, .transient) var a: Int", at: ".transient", "cannot be combined with `.unique`",
      fixed: "@Attribute(.unique) var a: Int")
    check(
      "@Attribute(.transient, .unique) var a: Int", at: ".transient", "cannot be combined with `.unique`",
      fixed: "@Attribute(.unique) var a: Int")
  }

  @Test("A type that default storage does not take is offered the other methods")
  func defaultStorage() {
    let expansion = Expansion.model("@Attribute var a: Status?")
    #expect(
      expansion.messages[0].fixIts.map(\.name) == [
        "Use @Ignore", "Store it by its raw value", "Store it as JSON",
      ])
    #expect(
      expansion.messages[0].fixIts[1].source.contains("@Attribute(storageMethod: .raw) var a: Status?"))
    let named = Expansion.model("@Attribute(.unique, persistentName: \"b\") var a: Status")
    #expect(
      named.messages[0].fixIts[1].source.contains(
        "@Attribute(.unique, persistentName: \"b\", storageMethod: .raw) var a: Status"))
    check(
      "@Attribute(storageMethod: .default) var a: [Int]?", at: "[Int]?",
      "`.default` storage only supports primitive")
  }

  @Test("Raw storage needs a type with raw values")
  func raw() {
    check(
      "@Attribute(storageMethod: .raw) var a: Int", at: "Int", "`.raw` requires a RawRepresentable type",
      fixed: "@Attribute var a: Int")
    check(
      "@Attribute(.unique, storageMethod: .raw) var a: String?", at: "String?",
      "`.raw` requires a RawRepresentable type", fixed: "@Attribute(.unique) var a: String?")
    check(
      "@Attribute(storageMethod: .raw) var a: [Status]?", at: "[Status]?",
      "`.raw` requires a RawRepresentable type")
  }

  @Test("Composition storage needs a struct")
  func composition() {
    check(
      "@Attribute(storageMethod: .composition) var a: String?", at: "String?",
      "`.composition` requires a @Composition struct type", fixed: "@Attribute var a: String?")
    check(
      "@Attribute(storageMethod: .composition) var a: Set<Place>?", at: "Set<Place>?",
      "`.composition` requires a @Composition struct type")
  }

  @Test("Transformers are given by type or by a name that is written out")
  func transformers() {
    let type = "requires a transformer metatype argument"
    check("@Attribute(storageMethod: .transformed(X())) var a: [Int]?", at: "X()", type)
    check("@Attribute(storageMethod: .transformed(x)) var a: [Int]?", at: "x", type)
    check("@Attribute(storageMethod: .transformed()) var a: [Int]?", at: ".transformed()", type)
    check("@Attribute(storageMethod: .transformed) var a: [Int]?", at: ".transformed", type)
    check(
      "@Attribute(storageMethod: .transformed(name: n)) var a: [Int]?", at: "n",
      "`.transformed(name: ...)` requires a string literal transformer name")
    check(
      "@Attribute(storageMethod: .transformed(name: \"a\\(1)\")) var a: [Int]?", at: "\"a\\(1)\"",
      "`.transformed(name: ...)` requires a string literal transformer name")
    check(
      "@Attribute(storageMethod: .transformed(name: \"\")) var a: [Int]?", at: "\"\"",
      "requires a non-empty transformer name")
  }

  @Test("Storage methods and policies must be spelled out")
  func spellings() {
    check(
      "@Attribute(storageMethod: method) var a: Int?", at: "method",
      "`storageMethod` must be written as `.default`, `.raw`, `.codable`")
    check(
      "@Attribute(storageMethod: .json) var a: Int?", at: ".json", "`storageMethod` must be written as")
    check(
      "@Attribute(storageMethod: .codable, decodeFailurePolicy: .ignore) var a: Int?", at: ".ignore",
      "must be written as `.fallbackToDefaultValue` or `.debugAssertNil`",
      fixed: "@Attribute(storageMethod: .codable, decodeFailurePolicy: .fallbackToDefaultValue) var a: Int?")
    #expect(
      Expansion.model("@Attribute(storageMethod: nil, decodeFailurePolicy: nil) var a: Int").messages.isEmpty)
  }

  @Test("A policy belongs to storage that decodes")
  func policy() {
    let text = "only supported for `.raw`, `.codable`, and `.transformed` "
    check(
      "@Attribute(decodeFailurePolicy: .debugAssertNil) var a: Int", at: ".debugAssertNil", text,
      fixed: "@Attribute var a: Int")
    check(
      "@Attribute(storageMethod: .composition, decodeFailurePolicy: .debugAssertNil) var a: Place?",
      at: ".debugAssertNil", text, fixed: "@Attribute(storageMethod: .composition) var a: Place?")
  }

  @Test(
    "Decoded storage is optional and has no default but nil",
    arguments: [
      (".codable", "codable"), (".transformed(X.self)", "transformed"), (".composition", "composition"),
    ])
  func decoded(method: String, name: String) {
    check(
      "@Attribute(storageMethod: \(method)) var a: Place", at: "Place",
      "storageMethod `.\(name)` currently requires an optional property",
      fixed: "@Attribute(storageMethod: \(method)) var a: Place?")
    check(
      "@Attribute(storageMethod: \(method)) var a: Place? = Place()", at: "Place()",
      "storageMethod `.\(name)` only supports nil as an explicit default value",
      fixed: "@Attribute(storageMethod: \(method)) var a: Place?")
    let both = Expansion.model("@Attribute(storageMethod: \(method)) var a: Place = Place()")
    #expect(both.messages.count == 2)
  }

  @Test("Rules have literal arguments and fit the type")
  func rules() {
    check(
      "@Attribute(.range(low...high)) var a: Int", at: "low...high", "requires a range of number literals")
    check("@Attribute(.range(0..<5)) var a: Int", at: "0..<5", "requires a range of number literals")
    check("@Attribute(.range) var a: Int", at: ".range", "requires a range of number literals")
    check("@Attribute(.range(9...1)) var a: Int", at: "9...1", "upper bound below its lower one")
    check("@Attribute(.length(-1...5)) var a: String", at: "-1...5", "range of non-negative integer literals")
    check("@Attribute(.length(1.5...)) var a: String", at: "1.5...", "range of non-negative integer literals")
    check(
      "@Attribute(.matching(p)) var a: String", at: "p", "requires a regular expression as a string literal")
    check("@Attribute(.matching(\"\")) var a: String", at: "\"\"", "requires a regular expression")
    check("@Attribute(.range(0...1)) var a: Bool", at: ".range(0...1)", "only supports attributes of numbers")
    check(
      "@Attribute(.range(0...1)) var a: String?", at: ".range(0...1)", "only supports attributes of numbers")
    check("@Attribute(.length(1...)) var a: Data", at: ".length(1...)", "only supports attributes of String")
    check(
      "@Attribute(.matching(\"x\")) var a: Int", at: ".matching(\"x\")", "only supports attributes of String")
    check(
      "@Attribute(.matching(\"x\"), storageMethod: .raw) var a: Status", at: ".matching(\"x\")",
      "in `.raw` storage")
    check(
      "@Attribute(.indexed, persistentName: \"b\") var a: Int", at: ".indexed",
      "only supports the traits `.unique`, `.transient` and `.preserveValueOnDeletion`",
      fixed: "@Attribute(persistentName: \"b\") var a: Int")
  }
}
