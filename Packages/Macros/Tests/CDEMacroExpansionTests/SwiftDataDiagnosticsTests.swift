import Testing

@Suite("What @Model says of classes and properties")
struct SwiftDataDiagnosticsTests {
  @Test(
    "What contradicts itself in a property is named where it stands, and a fix-it mends it",
    arguments: [
      ("@Attribute(.unique, .unique) var a = 1", ".unique", "already", "@Attribute(.unique) var a"),
      (
        "@Attribute(.ephemeral, .unique) var a = 1", ".unique", "out of the store",
        "@Attribute(.ephemeral) var"
      ),
      ("@Relationship(.unique) var a: [Stop] = []", ".unique", "only one model", "@Relationship var a"),
      (
        "@Relationship(minimumModelCount: 3, maximumModelCount: 2) var a: [Stop] = []", "2", "at most 2",
        "maximumModelCount: 3)"
      ),
      ("@Relationship(maximumModelCount: 2) var a: Stop?", "2", "one model", "@Relationship var a"),
      ("@Relationship var a: Set<Stop> = []", "Set<Stop>", "an array", "var a: [Stop]"),
      ("@Relationship var a: [String] = []", "[String]", "is a value", "  var a: [String]"),
      ("@Relationship var a: [String: Stop] = [:]", "[String: Stop]", "an array", nil),
      ("@Published var a = 1", "@Published", "can't have a wrapper", "  var a = 1"),
      ("var a: Any?", "Any?", "of type `Any`", "@Transient var a"),
      ("var a: [any Shape] = []", "[any Shape]", "of a protocol", "@Transient var a"),
      ("var a: [String: Any] = [:]", "[String: Any]", "of type `Any`", "@Transient var a"),
      ("var a: Int.Type = Int.self", "Int.Type", "a type", "@Transient var a"),
      ("var a: Character = \"x\"", "Character", "of type `Character`", "var a: String"),
      ("var a: UIImage?", "UIImage?", "of type `UIImage`", "var a: Data?"),
    ] as [(String, String, String, String?)])
  func properties(member: String, node: String, text: String, mended: String?) throws {
    let expansion = Expansion.swiftData("@Model\nfinal class Trip {\n  \(member)\n  init() {}\n}")
    let error = try expansion.onlyError(at: node)
    #expect(error.text.contains(text), "\(error.text)")
    if let mended {
      #expect(error.fixIts.first?.source.contains(mended) == true, "\(error.fixIts)")
    }
  }

  @Test("A type that a transformer stores is whatever the transformer takes")
  func transformable() {
    let expansion = Expansion.swiftData(
      "@Model\nfinal class Trip {\n  @Attribute(.transformable(by: \"Colour\")) var a: UIColor?\n  init() {}\n}"
    )
    #expect(expansion.messages.isEmpty)
  }

  @Test("A property without a type and a value is named, and gets a place for the type")
  func untyped() throws {
    let expansion = Expansion.swiftData("@Model\nfinal class Trip {\n  var title\n  init() {}\n}")
    let error = try expansion.onlyError(at: "title")
    #expect(error.text.contains("neither a type nor a value"))
    #expect(error.fixIts.first?.source.contains("var title: <#type#>") == true)
  }

  @Test("Two properties can't take over the values of one")
  func originalNames() throws {
    let error = try Expansion.swiftData(
      """
      @Model
      final class Trip {
        @Attribute(originalName: "a") var b = 1
        @Attribute(originalName: "a") var c = 1
        init() {}
      }
      """
    ).onlyError(at: "\"a\"")
    #expect(error.text.contains("`b` had the name `a` too") && error.line == 4)
    #expect(error.fixIts.first?.source.contains("@Attribute var c") == true)
  }

  @Test("Constraints name stored properties")
  func unstored() throws {
    let error = try Expansion.swiftData(
      """
      @Model
      final class Trip {
        #Unique<Trip>([\\.title, \\.label])
        var title = ""
        var label: String { title }
        init() {}
      }
      """
    ).onlyError(at: "\\.label")
    #expect(error.text.contains("`label` is not stored"))
    let transient = Expansion.swiftData(
      """
      @Model
      final class Trip {
        #Index<Trip>(.binary([\\.seen]))
        @Transient var seen = false
        init() {}
      }
      """)
    #expect(transient.errors.count == 1)
  }

  @Test("What is unique twice is a warning")
  func repeatedConstraints() throws {
    let both = Expansion.swiftData(
      """
      @Model
      final class Trip {
        #Unique<Trip>([\\.title], [\\.title, \\.year])
        @Attribute(.unique) var title = ""
        var year = 0
        init() {}
      }
      """)
    let message = try #require(both.messages.first)
    #expect(message.severity == .warning && both.messages.count == 1 && message.node == "[\\.title]")
    #expect(message.fixIts.first?.source.contains("@Attribute var title") == true)
    let twice = Expansion.swiftData(
      """
      @Model
      final class Trip {
        #Unique<Trip>([\\.a, \\.b], [\\.b, \\.a])
        var a = 0
        var b = 0
        init() {}
      }
      """)
    #expect(twice.messages.map(\.node) == ["[\\.b, \\.a]"])
  }

  @Test("An enumeration, an actor and attributes of the class that no model can have are refused")
  func classes() throws {
    let actor = try Expansion.swiftData("@Model\nactor Trip {\n  var a = 1\n}").onlyError(at: "@Model")
    #expect(actor.fixIts.first?.source.contains("final class Trip") == true)
    let enumeration = try Expansion.swiftData("@Model\nenum Trip { case a }").onlyError(at: "@Model")
    #expect(enumeration.fixIts.isEmpty)
    let observable = try Expansion.swiftData("@Model @Observable\nfinal class Trip {\n  var a = 1\n}")
      .onlyError(at: "@Observable")
    #expect(
      observable.fixIts.first?.source.contains("@Model final class") == true
        || observable.fixIts.first?.source.contains("@Model \nfinal class") == true)
    let isolated = try Expansion.swiftData("@MainActor @Model\nfinal class Trip {\n  var a = 1\n}")
      .onlyError(at: "@MainActor")
    #expect(isolated.fixIts.first?.source.hasPrefix("@Model") == true)
  }

  @Test("An implicitly unwrapped property has a default of the optional type")
  func implicitlyUnwrapped() {
    let expansion = Expansion.swiftData(
      "@Model\nfinal class Trip {\n  var a: String! = \"x\"\n  init() {}\n}")
    #expect(expansion.messages.isEmpty && expansion.text.contains("(\"x\" as String?) as Any?"))
  }

  @Test("A property of a class that is written by hand has SwiftData's own accessors")
  func writtenOut() {
    let expansion = Expansion.swiftData(
      "final class Trip {\n  @_PersistedProperty var title: String\n  init() {}\n}")
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        @storageRestrictions(accesses: _$backingData, initializes: _title)
        init(initialValue) {
          _$backingData.setValue(forKey: \\.title, to: initialValue)
          _title = _SwiftDataNoType()
        }
        get {
          _$observationRegistrar.access(self, keyPath: \\.title)
          return self.getValue(forKey: \\.title)
        }
        """), "\(expansion.text)")
    let observed = Expansion.swiftData(
      "final class Trip {\n  @_PersistedProperty var title: String = \"\" { didSet { print(1) } }\n  init() {}\n}"
    )
    #expect(observed.errors.count == 1 && observed.messages.first?.node == "title")
  }

  @Test("A setter runs the observers of its property, unless one of them sets it")
  func observers() {
    let expansion = Expansion.swiftData(
      "@Model\nfinal class Trip {\n  var a: Int { willSet(next) { b = next } didSet { b = oldValue + a } }\n"
        + "  @Transient var b = 0\n  init() { a = 1 }\n}")
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        set {
        if _a.isObserved { return _$backing.set(self, _$Ordinal.a, \\Trip.a, newValue) }
        _a.isObserved = true
        defer { _a.isObserved = false }
        let oldValue = _$backing.get(self, _$Ordinal.a, \\Trip.a)
        let next = newValue
        ({ () -> Swift.Void in
        b = next
        })()
        _$backing.set(self, _$Ordinal.a, \\Trip.a, newValue)
        ({ () -> Swift.Void in
        b = oldValue + self.a
        })()
        """), "\(expansion.text)")
    #expect(expansion.text.contains("var _a: CDESwiftData._ObservedProperty"))
  }

  @Test("The equality of a class may stand in an extension, so the first comparison looks for it")
  func equality() {
    let expansion = Expansion.swiftData("@Model\nfinal class Trip {\n  var a = 1\n  init() {}\n}")
    #expect(expansion.text.contains("_$equality.compare(one, other) { $0 == $1 }"))
    let own = Expansion.swiftData(
      "@Model\nfinal class Trip {\n  var a = 1\n  init() {}\n"
        + "  static func == (one: Trip, other: Trip) -> Bool { one.a == other.a }\n}")
    #expect(!own.text.contains("_$equality"))
  }

  @Test("The class of an inverse may be named with the types around it")
  func nestedInverse() throws {
    func expand(_ inverse: String) -> Expansion {
      Expansion.swiftData(
        "@Model\nfinal class Trip {\n  @Relationship(inverse: \(inverse)) var stops: [Stop] = []\n  init() {}\n}"
      )
    }
    #expect(expand("\\Shop.Stop.trip").messages.isEmpty)
    #expect(expand("\\Stop.trip").messages.isEmpty)
    let message = try #require(expand("\\Shop.Trip.stops").messages.first)
    #expect(message.text.contains("not of `Shop.Trip`"))
    #expect(message.fixIts.first?.source.contains("inverse: \\Stop.stops)") == true)
  }
}
