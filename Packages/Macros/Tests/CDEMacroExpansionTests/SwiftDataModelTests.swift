import Testing

@Suite("SwiftData's model classes")
struct SwiftDataModelTests {
  @Test("A property gets an initial accessor, a getter and a setter by its ordinal")
  func accessors() {
    let expansion = Expansion.swiftData(
      """
      @Model
      final class Trip {
        var title: String
        var days = 3
        init(title: String) { self.title = title }
      }
      """)
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        @storageRestrictions(accesses: _$backing, initializes: _title)
        init(initialValue) {
          _$backing.initialize(_$Ordinal.title, initialValue)
          _title = _SwiftDataNoType()
        }
        get { _$backing.get(self, _$Ordinal.title, \\Trip.title) }
        set { _$backing.set(self, _$Ordinal.title, \\Trip.title, newValue) }
        """), "\(expansion.text)")
    #expect(
      expansion.contains("static var title: Swift.Int { 0 }\nstatic var days: Swift.Int { 1 }"),
      "\(expansion.text)")
    #expect(expansion.text.contains("extension Trip: nonisolated CDESwiftData.PersistentModel {"))
  }

  @Test("An array that may be of models is changed in place")
  func arrays() {
    let expansion = Expansion.swiftData(
      """
      @Model
      final class Trip {
        var stops: [Stop] = []
        var names: [String] = []
        var others: [Stop]?
        @Attribute(.transformable(by: "Other")) var route: [Stop] = []
        init() {}
      }
      """)
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        _modify {
          var models = _$backing.lend(self, _$Ordinal.stops, \\Trip.stops)
          defer { _$backing.takeBack(self, _$Ordinal.stops, \\Trip.stops, models) }
          yield &models
        }
        """), "\(expansion.text)")
    #expect(expansion.text.components(separatedBy: "_modify").count == 2, "\(expansion.text)")
  }

  @Test("The metadata of the schema has names, key paths, defaults and options as they are written")
  func metadata() {
    let expansion = Expansion.swiftData(
      """
      @Model
      public final class Trip {
        #Unique<Trip>([\\.title, \\.note], [\\.start, \\.end])
        @Attribute(.unique, originalName: "name") public var title: String = ""
        @Relationship(deleteRule: .cascade, inverse: \\Stop.trip) public var stops: [Stop] = []
        public var note: String?
        init() {}
      }
      """)
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        public static nonisolated var schemaMetadata: [CDESwiftData.Schema.PropertyMetadata] {
          [
            CDESwiftData.Schema.PropertyMetadata(name: "title", keypath: \\Trip.title, defaultValue: ("" as String) as Any?, metadata: CDESwiftData.Schema.Attribute(.unique, originalName: "name")),
            CDESwiftData.Schema.PropertyMetadata(name: "stops", keypath: \\Trip.stops, defaultValue: ([] as [Stop]) as Any?, metadata: CDESwiftData.Schema.Relationship(deleteRule: .cascade, inverse: \\Stop.trip)),
            CDESwiftData.Schema.PropertyMetadata(name: "note", keypath: \\Trip.note, defaultValue: nil, metadata: nil),
            CDESwiftData.Schema.PropertyMetadata(name: "", keypath: \\Trip.self, metadata: CDESwiftData.Schema.Unique<Trip>([\\.title, \\.note], [\\.start, \\.end]))
          ]
        }
        """), "\(expansion.text)")
  }

  @Test("Constants, computed, static and transient properties stay as they are")
  func leftAlone() {
    let expansion = Expansion.swiftData(
      """
      @Model
      final class Trip {
        let kind = "trip"
        static let limit = 3
        @Transient var seen = false
        var title: String = ""
        var long: Bool { title.count > 9 }
        init() {}
      }
      """)
    #expect(expansion.messages.isEmpty)
    #expect(expansion.text.components(separatedBy: "@storageRestrictions").count == 2)
  }

  @Test(
    "A class that inherits counts its properties after those of its parent, and overrides what it adds to")
  func inheritance() {
    let expansion = Expansion.swiftData(
      """
      @Model
      class BusinessTrip: Trip {
        var budget: Double = 0
      }
      """, inherits: true)
    #expect(expansion.messages.isEmpty)
    #expect(expansion.text.contains("static var budget: Swift.Int { Trip._$propertyCount + 0 }"))
    #expect(expansion.text.contains("override class nonisolated var schemaMetadata"))
    #expect(expansion.text.contains("required nonisolated init(_$object object: CDESwiftData._ModelObject)"))
    #expect(expansion.text.contains("super.init(_$object: object)"))
    #expect(!expansion.text.contains("extension BusinessTrip"))
  }

  @Test("A struct becomes a class by the fix-it")
  func noClass() throws {
    let error = try Expansion.swiftData("@Model\nstruct Trip {\n  var title = \"\"\n}").onlyError(
      at: "@Model")
    #expect(error.text.contains("can only be attached to a class"))
    #expect(error.fixIts.first?.source.contains("final class Trip") == true)
  }

  @Test("A class without an initialiser for what needs one gets it by the fix-it")
  func missingInitialiser() throws {
    let error = try Expansion.swiftData(
      "@Model\nfinal class Trip {\n  var title: String\n  var start: Date\n  var note: String?\n}"
    ).onlyError(at: "Trip")
    #expect(error.text.contains("sets `title`, `start`"))
    let source = try #require(error.fixIts.first?.source)
    #expect(
      source.contains("init(title: String, start: Date) {\n    self.title = title\n    self.start = start"))
  }

  @Test(
    "What can't be persisted is named where it stands",
    arguments: [
      ("lazy var cache = 3", "cache", "is `lazy`"),
      ("weak var other: Trip?", "other", "is `weak`"),
      ("var a = 1, b = 2", "a = 1, b = 2", "declaration of its own"),
      ("var done: () -> Void = {}", "() -> Void", "is a closure"),
      ("var size: (Int, Int) = (0, 0)", "(Int, Int)", "is a tuple"),
      ("@Attribute(.unique) let key = 3", "let", "is a `var`"),
      ("let key: Int", "key", "has no value for it"),
      ("@Transient var cache: Int", "cache", "has no value for it"),
      ("@Relationship var title: String = \"\"", "String", "needs a model"),
      ("@Relationship(inverse: \"trip\") var stops: [Stop] = []", "\"trip\"", "is a key path"),
      ("#if DEBUG\n  var extra = 1\n#endif", "var extra = 1", "inside `#if`"),
    ])
  func refused(member: String, node: String, text: String) throws {
    let expansion = Expansion.swiftData(
      "@Model\nfinal class Trip {\n  \(member)\n  init() {}\n}")
    let error = try expansion.onlyError(at: node)
    #expect(error.text.contains(text), "\(error.text)")
  }

  @Test(
    "An inverse of another class may be the destination's, by an alias or by inheritance",
    arguments: ["stops: Stops = []", "stops: [Stop] = []", "stop: MountainStop?"])
  func alias(_ property: String) {
    let expansion = Expansion.swiftData(
      "@Model\nfinal class Trip {\n  @Relationship(inverse: \\Halt.trip) var \(property)\n  init() {}\n}")
    #expect(expansion.messages.isEmpty)
  }

  @Test("An inverse of the class itself, and not of the destination, is a warning with the class as a fix-it")
  func inverseRoot() throws {
    let expansion = Expansion.swiftData(
      "@Model\nfinal class Trip {\n  @Relationship(inverse: \\Trip.stops) var stops: [Stop] = []\n  init() {}\n}"
    )
    let message = try #require(expansion.messages.first)
    #expect(message.severity == .warning && expansion.messages.count == 1)
    #expect(message.fixIts.first?.source.contains("\\Stop.stops") == true)
  }

  @Test("A generic class and a class in a function are refused")
  func hidden() throws {
    let generic = try Expansion.swiftData("@Model\nfinal class Box<T> {\n  var a = 1\n}").onlyError(at: "<T>")
    #expect(generic.text.contains("generic class"))
    let local = Expansion.swiftData("func f() {\n  @Model\n  final class Trip {\n    var a = 1\n  }\n}")
    #expect(local.errors.contains { $0.contains("inside a function") })
  }

  @Test("Markers outside of a model are refused")
  func misplaced() throws {
    let error = try Expansion.swiftData("struct A {\n  @Attribute(.unique) var a = 1\n}").onlyError(
      at: "@Attribute(.unique)")
    #expect(error.text.contains("stored property of a class with @Model"))
  }

  @Test("A model actor gets its executor, its container and an initialiser, unless it has one")
  func actor() {
    let expansion = Expansion.swiftData("@ModelActor\npublic actor Importer {}")
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        public nonisolated let modelExecutor: any CDESwiftData.ModelExecutor

        public nonisolated let modelContainer: CDESwiftData.ModelContainer

        public init(modelContainer: CDESwiftData.ModelContainer) {
          let modelContext = CDESwiftData.ModelContext(modelContainer)
          self.modelExecutor = CDESwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
          self.modelContainer = modelContainer
        }
        """), "\(expansion.text)")
    #expect(expansion.text.contains("extension Importer: CDESwiftData.ModelActor {"))
    let own = Expansion.swiftData(
      "@ModelActor\nactor Importer {\n  init(modelContainer: ModelContainer) { fatalError() }\n}")
    #expect(own.text.components(separatedBy: "init(modelContainer").count == 2)
    let wrong = Expansion.swiftData("@ModelActor\nclass Importer {}")
    #expect(wrong.errors == ["@ModelActor can only be attached to an actor."])
  }
}
