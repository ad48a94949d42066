import Testing

@Suite("Accessors and schema of storage methods")
struct StorageTests {
  private func accessors(_ declaration: String) -> (get: String, set: String) {
    let expansion = Expansion.model(declaration)
    #expect(expansion.messages.isEmpty, "\(expansion.messages.map(\.text))")
    let lines = expansion.lines
    func after(_ word: String) -> String {
      lines.firstIndex(of: word).map { Self.code(lines[$0 + 1]) } ?? ""
    }
    return (after("get {"), after("set {"))
  }

  /// A line without the comment behind it.
  private static func code(_ line: String) -> String {
    String(line.split(separator: "  //").first ?? "")
  }

  @Test(
    "Raw storage reads through init(rawValue:), with the declared default where there is one",
    arguments: [
      ("var a: Status", "_cdRequiredRaw(N)"),
      ("var a: Status = .draft", "_cdRaw(N, default: .draft)"),
      ("var a: Status?", "_cdRaw(N)"),
      ("var a: Status? = nil", "_cdRaw(N)"),
      ("var a: Status? = .draft", "_cdRaw(N, fallback: .draft)"),
    ])
  func raw(declaration: String, get: String) {
    for spelling in [
      ".raw", "AttributeStorageMethod.raw", "CoreDataEvolution.AttributeStorageMethod.raw",
    ] {
      let found = accessors("@Attribute(storageMethod: \(spelling)) \(declaration)")
      #expect(found.get == get.replacingN)
      #expect(
        found.set == "_cdSetValue(N, newValue\(declaration.contains("?") ? "?" : "").rawValue)".replacingN)
    }
  }

  @Test(
    "An asserting policy gives nil, or the default of a property that is not optional",
    arguments: [
      (".raw", "var a: Status", "_cdRequiredRaw(N, asserts: true)"),
      (".raw", "var a: Status = .draft", "_cdRaw(N, default: .draft, asserts: true)"),
      (".raw", "var a: Status? = .draft", "_cdRaw(N, asserts: true)"),
      (".codable", "var a: Settings?", "_cdCodable(N, asserts: true)"),
      (".transformed(name: \"X\")", "var a: [String]?", "_cdTransformed(N, asserts: true)"),
    ])
  func asserting(method: String, declaration: String, get: String) {
    let policy = "decodeFailurePolicy: .debugAssertNil"
    #expect(accessors("@Attribute(storageMethod: \(method), \(policy)) \(declaration)").get == get.replacingN)
    let fallback = "decodeFailurePolicy: AttributeDecodeFailurePolicy.fallbackToDefaultValue"
    #expect(
      !accessors("@Attribute(storageMethod: \(method), \(fallback)) \(declaration)").get.contains("asserts"))
  }

  @Test(
    "Decoded storage has accessors and a schema of its own",
    arguments: [
      (".codable", "[String: Int]?", "Codable", ".codable"),
      (
        ".transformed(Words.self)", "[String]?", "Transformed",
        ".transformed(transformerName: Words.transformerName.rawValue)"
      ),
      (
        ".transformed(name: \"A.B\")", "Set<Int>? = nil", "Transformed",
        ".transformed(transformerName: \"A.B\")"
      ),
      (
        ".composition", "Outer.Place?", "Composition",
        ".composition(fields: Outer.Place.__cdRuntimeCompositionFields)"
      ),
    ])
  func decoded(method: String, type: String, name: String, schema: String) {
    let declaration = "@Attribute(persistentName: \"p\", storageMethod: \(method)) var a: \(type)"
    let found = accessors(declaration)
    #expect(found.get == "_cd\(name)(N)".replacingN && found.set == "_cdSet\(name)(N, newValue)".replacingN)
    #expect(Expansion.model(declaration).text.contains("storage: \(schema)"))
    let outside = Expansion("final class Item: NSManagedObject {\n\(declaration)\n}")
    #expect(outside.messages.isEmpty && outside.contains("_cd\(name)(forKey: \"p\")"))
    #expect(outside.contains("_cdSet\(name)(forKey: \"p\", newValue)"))
  }

  @Test("The schema of raw storage asks the type for its raw type and the default for its raw value")
  func rawSchema() {
    let expansion = Expansion.model("@Attribute(storageMethod: .raw) var a: Status? = .draft")
    #expect(
      expansion.text.contains(
        "storage: .raw(backingTypeName: Swift.String(describing: Status.RawValue.self))"))
    #expect(expansion.text.contains("defaultRawValue: CDRuntimeRawValue(.draft as Status?)"))
    let required = Expansion.model("@Attribute(storageMethod: .raw) var a: Status = .none")
    #expect(required.text.contains("defaultRawValue: CDRuntimeRawValue(.none as Status)"))
    let outside = Expansion(
      "class Item: NSManagedObject {\n@Attribute(storageMethod: .raw) var a: Status = .draft\n}")
    #expect(outside.contains("_cdRaw(forKey: \"a\", default: .draft)"))
    #expect(outside.contains("setValue(newValue.rawValue, forKey: \"a\")"))
  }

  @Test("Custom storage takes part in Keys, the initialiser and observation")
  func elsewhere() {
    let expansion = Expansion.model(
      "@Attribute(persistentName: \"s\", storageMethod: .codable) var settings: Settings?",
      arguments: "(generateInit: true, observation: .mainActor)")
    #expect(expansion.messages.isEmpty)
    #expect(expansion.contains("case settings = \"s\""))
    #expect(expansion.contains("nonisolated convenience init(settings: Settings?) {"))
    #expect(
      expansion.contains(
        "__cdAccess(\\Item.settings)\nreturn _cdCodable(Item.__CDOrdinal.settings)  // Settings is decoded on any "
          + "isolation. In a module that defaults to the main actor, declare it `nonisolated`."))
  }

  @Test(
    "Rules go into the schema",
    arguments: [
      (".range(0...255)", "Int", ".range(minimum: \"0\", maximum: \"255\")"),
      (".range((-1.5)...)", "Double?", ".range(minimum: \"-1.5\", maximum: nil)"),
      (".range(...1_000)", "Decimal", ".range(minimum: nil, maximum: \"1000\")"),
      (".range(-5 ... -1)", "Int16", ".range(minimum: \"-5\", maximum: \"-1\")"),
      (".length(1...64)", "String", ".length(minimum: 1, maximum: 64)"),
      (".length(...64)", "String?", ".length(minimum: nil, maximum: 64)"),
      (".matching(\"[a-z]\\\\d+\")", "String", ".matching(\"[a-z]\\\\d+\")"),
      ("AttributeTrait.matching(#\"\\d\"#)", "String", ".matching(\"\\\\d\")"),
    ])
  func rules(trait: String, type: String, schema: String) {
    let expansion = Expansion.model("@Attribute(\(trait)) var a: \(type)")
    #expect(expansion.messages.isEmpty, "\(expansion.messages.map(\.text))")
    #expect(expansion.text.contains("validations: [\(schema)]"))
    let both = Expansion.model("@Attribute(.unique, \(trait), persistentName: \"p\") var a: \(type)")
    #expect(both.messages.isEmpty && both.text.contains("isUnique: true"))
  }
}

extension String {
  fileprivate var replacingN: String {
    split(separator: "(N", omittingEmptySubsequences: false).joined(separator: "(Item.__CDOrdinal.a")
  }
}
