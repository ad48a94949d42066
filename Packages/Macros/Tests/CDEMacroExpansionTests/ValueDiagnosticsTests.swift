import Testing

@Suite("Diagnostics of values and their defaults")
struct ValueDiagnosticsTests {
  @Test(
    "A type that is known to be no attribute type names the one to declare",
    arguments: [
      ("UInt8", "Int16"), ("UInt16?", "Int32?"), ("UInt", "Int"), ("CGFloat", "Double"),
      ("TimeInterval", "Double"), ("NSDecimalNumber?", "Decimal?"), ("NSString?", "String?"),
      ("Foundation.NSDate?", "Date?"), ("Character", "String"), ("NSNumber?", "Int?"),
    ])
  func unstorable(type: String, replacement: String) {
    for marker in ["", "@Attribute ", "@Attribute(.unique) "] {
      let expansion = Expansion.model("\(marker)var a: \(type)")
      #expect(expansion.messages.count == 1 && expansion.messages[0].node == type, "\(marker)")
      #expect(expansion.errors[0].contains("Declare it as `\(replacement)`"))
      #expect(!expansion.errors[0].contains("elationship"))
      #expect(expansion.messages[0].fixIts[0].source.contains("var a: \(replacement)\n"))
    }
  }

  @Test(
    "A value without a storage method is told how to be stored, and nothing of relationships",
    arguments: ["Status = .open", "Status? = .open", "[String: Int]?", "(Int, Int)?", "(() -> Void)?"])
  func value(declaration: String) {
    let expansion = Expansion.model("var a: \(declaration)")
    #expect(expansion.messages.count == 1)
    #expect(expansion.errors[0].contains("`@Attribute(storageMethod: .raw)`"))
    #expect(!expansion.errors[0].contains("elationship"))
    #expect(
      expansion.messages[0].fixIts[0].source.contains("@Attribute(storageMethod: .raw) var a: \(declaration)")
    )
  }

  @Test("Where a type may be a value or a model, the message says what to do for both")
  func either() {
    let required = Expansion.model("var status: Status")
    #expect(required.messages.count == 1)
    #expect(required.errors[0].hasPrefix("`Status` is not stored as it is; say how: an enumeration"))
    let optional = Expansion.model("var status: Status?")
    #expect(optional.errors[0].contains("an enumeration with raw values is stored with"))
    #expect(
      optional.messages[0].fixIts[3].source.contains(
        "@Attribute(storageMethod: .codable) var status: Status?"))
  }

  @Test("A collection of values is told to be stored as JSON")
  func collection() {
    let expansion = Expansion.model("var words: [String]")
    #expect(expansion.errors[0].contains("store it as JSON with `@Attribute(storageMethod: .codable)`"))
    #expect(!expansion.errors[0].contains("relationships"))
    #expect(
      expansion.messages[0].fixIts[0].source.contains(
        "@Attribute(storageMethod: .codable) var words: [String]?"))
  }

  @Test("An unmarked optional to-many relationship is one error, whose fix leaves none")
  func optionalToMany() throws {
    for type in ["Set<Tag>", "[Tag]"] {
      let expansion = Expansion.model("var tags: \(type)?")
      let error = try expansion.onlyError(at: "\(type)?")
      #expect(error.text.contains("Optional to-many relationship"))
      #expect(expansion.errors[0].contains("must declare @Relationship(persistentName: ..., inverse: ..., "))
      let fixed = expansion.messages[0].fixIts[0].source
      #expect(
        fixed.contains(
          "\n  @Relationship(inverse: \"<#inverse#>\", deleteRule: .nullify)\n  var tags: \(type)\n"))
      let again = Expansion(fixed.replacing("<#inverse#>", with: "items"))
      #expect(again.messages.isEmpty)
    }
  }

  @Test(
    "A default that is another value each time is an error",
    arguments: [
      "Date = Date()", "Date? = Date()", "Date = .now", "Date = Date.now", "Date = .init()", "UUID = UUID()",
    ])
  func changing(declaration: String) {
    for marker in ["", "@Attribute(.unique) "] {
      let expansion = Expansion.model("\(marker)var a: \(declaration)")
      #expect(expansion.messages.count == 1)
      #expect(expansion.errors[0].contains("is another value each time"))
      #expect(expansion.errors[0].contains("Set the value in `awakeFromInsert()`"))
    }
  }

  @Test(
    "A default that cannot be read without running code is an error that names the forms",
    arguments: [
      "String = standard", "String = \"a\\(b)\"", "String = \"a\" + \"b\"", "Int = .max", "Int = 1 + 1",
      "Int = 1.5",
      "Bool = !true", "Double = .pi", "Decimal = Decimal(a)", "Date = start",
      "Data = Data(repeating: 0, count: 1)",
      "UUID = UUID(uuidString: text)!", "URL = home",
    ])
  func unreadable(declaration: String) {
    let expansion = Expansion.model("var a: \(declaration)")
    #expect(expansion.messages.count == 1)
    #expect(expansion.errors[0].contains("is none of the forms that can be read so ("))
  }

  @Test(
    "The forms that the runtime reads pass",
    arguments: [
      "String = \"a\"", "String? = nil", "Bool = true", "Int = -1_000", "Int64 = 0xFF", "Int16 = +1",
      "Float = 1.5",
      "Double = -1e3", "Double = 1", "Decimal = 1.5", "Decimal = Decimal(string: \"1.5\")",
      "Decimal = Decimal(-2)",
      "Date = .distantPast", "Date = Date.distantFuture", "Date = Date(timeIntervalSince1970: 1)",
      "Date = .init(timeIntervalSinceReferenceDate: -1.5)", "Foundation.Date = Foundation.Date.distantPast",
      "Data = Data()", "Data = .init()", "Data = Data(base64Encoded: \"AA==\")!",
      "UUID = \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"",
      "UUID = UUID(uuidString: \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\")!", "URL = URL(string: \"a:b\")!",
      "URL = URL(fileURLWithPath: \"/a\")",
    ])
  func readable(declaration: String) {
    #expect(Expansion.model("var a: \(declaration)").messages.isEmpty)
  }

  @Test(
    "A default that breaks its own rule is an error at the default",
    arguments: [
      (".range(1...9)", "Int = 0", "0"), (".range(1...9)", "Double = 9.5", "9.5"),
      (".range(...(-1))", "Int16? = 0", "0"), (".length(1...)", "String = \"\"", "\"\""),
      (".length(...3)", "String = \"long\"", "\"long\""),
      (".matching(\"[a-z]+\")", "String = \"A1\"", "\"A1\""),
      (".matching(\"[a-z]\")", "String = \"ab\"", "\"ab\""),
    ])
  func broken(rule: String, declaration: String, node: String) throws {
    let expansion = Expansion.model("@Attribute(\(rule)) var a: \(declaration)")
    let error = try expansion.onlyError(at: node)
    #expect(error.text.contains("breaks the attribute's own rule `\(rule)`"))
  }

  @Test(
    "A default that keeps its rules passes",
    arguments: [
      (".range(0...9)", "Int = 9"), (".range((-1.5)...)", "Double = -1.5"),
      (".length(1...3)", "String = \"abc\""),
      (".matching(\"[a-z]+\")", "String = \"abc\""), (".length(1...)", "String? = nil"),
    ])
  func kept(rule: String, declaration: String) {
    #expect(Expansion.model("@Attribute(\(rule)) var a: \(declaration)").messages.isEmpty)
  }

  @Test("A required attribute may go without a default: a program can set it before it saves")
  func required() {
    #expect(Expansion.model("var title: String\n@Attribute(.unique) var code: String").messages.isEmpty)
  }

  @Test("A to-many relationship has a setter that only says how its objects are changed")
  func readOnly() {
    let expansion = Expansion.model(
      "@Relationship(inverse: \"item\", deleteRule: .nullify) var tags: Set<Tag>")
    let text =
      "to-many relationships are changed by addToTags(_:) and removeFromTags(_:), which keep the other side right"
    #expect(expansion.lines.contains("@available(*, unavailable, message: \"\(text)\")"))
  }

  @Test("A main model actor that is not marked @MainActor is one warning that marks it")
  func unmarkedMainActor() throws {
    let expansion = Expansion("@NSMainModelActor\nfinal class Reader {}")
    let message = try #require(expansion.messages.first)
    #expect(expansion.messages.count == 1 && message.severity == .warning && message.node == "Reader")
    #expect(message.text.contains("is not marked @MainActor"))
    #expect(message.fixIts[0].source == "@MainActor @NSMainModelActor\nfinal class Reader {}")
    #expect(Expansion("@MainActor @NSMainModelActor\nfinal class Reader {}").messages.isEmpty)
    #expect(Expansion("@NSMainModelActor\n@Swift.MainActor\nfinal class Reader {}").messages.isEmpty)
  }
}
