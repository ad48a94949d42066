import Testing

@Suite("Diagnostics of a model")
struct ModelDiagnosticsTests {
  @Test(
    "On anything but a class it is one error",
    arguments: [
      ("struct", "final class"), ("actor", "final class"),
    ])
  func notAClass(kind: String, replacement: String) throws {
    let expansion = Expansion("@PersistentModel\n\(kind) Item { var title: String }")
    let message = try expansion.onlyError(at: "@PersistentModel")
    #expect(message.text.contains("can only be attached to a class declaration"))
    #expect(message.fixIts[0].source.contains("\(replacement) Item { var title: String }"))
    #expect(!expansion.text.contains("_cd"))
  }

  @Test(
    "A class that is no managed object is one error at its name",
    arguments: [
      ("", ": NSManagedObject"), (": Codable", ": NSManagedObject, Codable"),
    ])
  func noManagedObject(clause: String, fixed: String) throws {
    let expansion = Expansion("@PersistentModel\nfinal class Item\(clause) { var title: String }")
    let message = try expansion.onlyError(at: "Item")
    #expect(message.text.hasPrefix("@PersistentModel type must inherit from NSManagedObject."))
    #expect(message.fixIts[0].source.contains("final class Item\(fixed) { var title"))
  }

  @Test("A generic class is one error at its parameters, which the fix removes")
  func generic() throws {
    let expansion = Expansion(
      "@PersistentModel\nfinal class Item<Value>: NSManagedObject { var title: String? }")
    let message = try expansion.onlyError(at: "<Value>")
    #expect(message.text.contains("@PersistentModel does not support generic classes"))
    #expect(message.fixIts[0].source.contains("final class Item: NSManagedObject {"))
  }

  @Test("NSManagedObject may be spelled with its module")
  func qualifiedBase() {
    let expansion = Expansion("@PersistentModel\nclass Item: CoreData.NSManagedObject, Codable {}")
    #expect(expansion.messages.isEmpty && expansion.text.contains("enum __CDOrdinal"))
  }

  @Test("A wrong observation mode is one error", arguments: [".background", "mode", "Other.none"])
  func observation(mode: String) throws {
    let expansion = Expansion.model("var title: String", arguments: "(observation: \(mode))")
    let message = try expansion.onlyError(at: mode)
    #expect(message.text == "@PersistentModel argument `observation` must be `.none` or `.mainActor`.")
    #expect(message.fixIts[0].source.contains("(observation: .mainActor)"))
  }

  @Test("Flags must be literals, labels must exist, an entity name must be a name")
  func arguments() {
    for (arguments, text) in [
      ("(generateInit: flag)", "`generateInit` must be the literal `true` or `false`"),
      ("(generateToManyCount: !true)", "`generateToManyCount` must be the literal"),
      ("(generateInits: true)", "unknown argument label `generateInits`"),
      ("(entityName: name)", "`entityName` must be a string literal"),
      ("(entityName: \"a\\(b)\")", "`entityName` must be a string literal"),
      ("(entityName: \"1a\")", "must be a string literal that is a valid entity name"),
    ] {
      let expansion = Expansion.model("var title: String", arguments: arguments)
      #expect(expansion.messages.count == 1 && expansion.errors[0].contains(text), "\(arguments)")
    }
  }

  @Test("Several properties in one var are an error that can be split")
  func severalProperties() throws {
    let expansion = Expansion.model("var a, b: String\nvar c: Int")
    let message = try #require(expansion.messages.first)
    #expect(expansion.messages.count == 1)
    #expect(
      message.text.contains(
        "does not support declaring multiple stored properties in one `var` declaration"))
    #expect(message.fixIts[0].source.contains("\n  var a: String\n  var b: String\n  var c: Int"))
    #expect(expansion.contains("[\"c\"]"))
  }

  @Test(
    "A property without a type is an error at its name",
    arguments: [
      ("\"\"", "String"), ("true", "Bool"), ("1", "Int"), ("1.5", "Double"),
    ])
  func missingType(value: String, type: String) throws {
    let expansion = Expansion.model("public var title = \(value)")
    let message = try expansion.onlyError(at: "title")
    #expect(message.fixIts[0].source.contains("public var title: \(type) = \(value)"))
    #expect(message.fixIts[1].source.contains("  @Ignore public var title = \(value)"))
  }

  @Test("Observers on a persisted property are an error")
  func observers() throws {
    let expansion = Expansion.model("var title: String = \"\" { didSet { print(1) } }")
    let message = try #require(expansion.messages.first)
    #expect(message.text.contains("cannot have `willSet` or `didSet`"))
    #expect(message.fixIts[0].source.contains("var title: String = \"\"\n}"))
  }

  @Test("A count that clashes with a declared property is an error at that property")
  func countClash() throws {
    let members = "@Relationship(inverse: \"i\", deleteRule: .deny) var tags: Set<Tag>\nvar tagsCount: Int"
    let expansion = Expansion.model(members)
    let message = try #require(expansion.messages.first)
    #expect(expansion.messages.count == 1 && message.node == "tagsCount" && message.line == 4)
    #expect(message.text.contains("Generated to-many count property 'tagsCount' conflicts"))
    #expect(message.fixIts[0].source.contains("@PersistentModel(generateToManyCount: false)\n"))
    #expect(Expansion.model(members, arguments: "(generateToManyCount: false)").messages.isEmpty)
    let other = Expansion.model(members, arguments: "(generateInit: true, entityName: \"I\")")
    #expect(
      other.messages[0].fixIts[0].source.contains(
        "(generateInit: true, generateToManyCount: false, entityName: \"I\")"))
  }

  @Test("The same persistent name twice is an error")
  func persistentNameTwice() {
    let expansion = Expansion.model("var a: Int\n@Attribute(persistentName: \"a\") var b: Int")
    #expect(expansion.errors.count == 1)
    #expect(expansion.errors[0].contains("`b` and `a` have the same persistent name `a`"))
  }

  @Test("A persisted property inside #if is an error; others may stand there")
  func conditional() {
    let expansion = Expansion.model(
      "#if DEBUG\nvar a: Int\n@Ignore var b: Int = 0\nlet c = 1\nvar d: Int { 2 }\n#endif\nvar e: Int")
    #expect(expansion.errors.count == 1 && expansion.messages[0].node == "var a: Int")
    #expect(expansion.errors[0].contains("cannot stand inside `#if`"))
    #expect(expansion.contains("[\"e\"]"))
  }

  @Test("An ignored property needs its type where it becomes a parameter")
  func ignoredType() {
    #expect(Expansion.model("@Ignore var a = 0").messages.isEmpty)
    let expansion = Expansion.model("@Ignore var a = 0", arguments: "(generateInit: true)")
    #expect(expansion.errors.count == 1 && expansion.messages[0].node == "a")
  }

  @Test("An ignored property needs a value, unless the class has initialisers of its own")
  func ignoredValue() throws {
    let expansion = Expansion.model("@Ignore var a: Cache")
    let message = try #require(expansion.messages.first)
    #expect(expansion.messages.count == 1 && message.node == "a" && message.line == 3)
    #expect(message.text.contains("must have a default value"))
    #expect(message.fixIts[0].source.contains("@Ignore var a: Cache?\n"))
    for fine in ["@Ignore var a: Cache?", "@Ignore var a: Cache = .init()", "@Ignore @Wrapped var a: Cache"] {
      #expect(Expansion.model(fine).messages.isEmpty, "\(fine)")
    }
    #expect(Expansion.model("@Ignore var a: Cache\ninit(a: Cache) { self.a = a }").messages.isEmpty)
  }

  @Test("A name that every managed object has is an error", arguments: ["description", "isDeleted"])
  func reservedName(name: String) throws {
    let expansion = Expansion.model("var \(name): Bool?")
    let error = try expansion.onlyError(at: name)
    #expect(error.text.contains("`persistentName: \"\(name)\"`"))
    #expect(Expansion.model("@Attribute(persistentName: \"\(name)\") var other: Bool?").messages.isEmpty)
  }

  #if !canImport(ObjectiveC)
    @Test("NSManaged does not link here: an error that removes it")
    func managed() throws {
      let expansion = Expansion.model("@NSManaged var title: String\nvar a: Int")
      let message = try #require(expansion.messages.first)
      #expect(expansion.messages.count == 1 && message.severity == .error)
      #expect(message.node == "@NSManaged" && message.text.contains("would not link"))
      #expect(message.fixIts[0].source.contains("\n  var title: String\n"))
      #expect(expansion.contains("[\"a\"]") && expansion.text.contains("@NSManaged var title: String\n"))
    }

    @Test("In an observed model the message also says that it is not observed")
    func managedObserved() {
      let expansion = Expansion.model(
        "@NSManaged var title: String", arguments: "(observation: .mainActor)")
      #expect(expansion.messages.count == 1)
      #expect(
        expansion.errors[0].contains(
          "@NSManaged property `title` will not participate in Observation"))
    }
  #endif
}

@Suite("Entity names")
struct EntityNameTests {
  private func entity(_ attributes: String, _ arguments: String = "") -> (String?, [Expansion.Message]) {
    let expansion = Expansion(
      "\(attributes)\n@PersistentModel\(arguments)\nfinal class Item: NSManagedObject {}")
    let line = expansion.lines.first { $0.hasPrefix("NSFetchRequest<Item>(entityName: ") }
    return (line.map { String($0.dropFirst(34).dropLast(2)) }, expansion.messages)
  }

  @Test("The entity is named by argument, by runtime name, and else after the class")
  func sources() {
    #expect(entity("").0 == "Item")
    #expect(entity("@_objcRuntimeName(Thing)").0 == "Thing")
    #expect(entity("#if canImport(ObjectiveC)\n@objc(Thing)\n#endif").0 == "Thing")
    #expect(entity("@_objcRuntimeName(Other)", "(entityName: \"Thing\")").0 == "Thing")
    #expect(entity("@_objcRuntimeName(Other)", "(entityName: \"Thing\")").1.isEmpty)
    #expect(entity("#if canImport(ObjectiveC)\n@objc(Thing)\n#endif").1.isEmpty)
  }

  #if !canImport(ObjectiveC)
    @Test("A bare @objc names the entity too, with a warning that says what to write here")
    func bare() throws {
      let same = entity("@objc(Item)")
      #expect(same.0 == "Item" && same.1.count == 1)
      let message = try #require(same.1.first)
      #expect(message.severity == .warning && message.node == "@objc(Item)")
      #expect(message.fixIts[0].source.hasPrefix("@PersistentModel\n"))
      #expect(
        message.fixIts[1].source.hasPrefix("#if canImport(ObjectiveC)\n@objc(Item)\n#endif\n"))

      let other = entity("@objc(Thing)")
      #expect(other.0 == "Thing")
      let second = try #require(other.1.first)
      #expect(second.text.contains("@PersistentModel(entityName: \"Thing\")"))
      #expect(second.fixIts[0].source.hasPrefix("@_objcRuntimeName(Thing)\n@PersistentModel\n"))
    }
  #endif
}
