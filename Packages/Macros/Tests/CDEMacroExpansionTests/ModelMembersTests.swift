import Foundation
import Testing

@Suite("Members of a model")
struct ModelMembersTests {
  @Test("A whole model expands to exactly this")
  func wholeModel() {
    let expansion = Expansion.model(
      """
      var title: String = ""
      @Relationship(inverse: "items", deleteRule: .nullify) var tag: Tag?
      """)
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        final class Item: NSManagedObject {
          var title: String {
            get {
              _cdRequired(Item.__CDOrdinal.title)
            }
            set {
              _cdSetValue(Item.__CDOrdinal.title, newValue)
            }
          }
          var tag: Tag? {
            get {
              _cdToOne(Item.__CDOrdinal.tag)
            }
            set {
              _cdSetToOne(Item.__CDOrdinal.tag, newValue)
            }
          }

          nonisolated enum Keys: Swift.String {
            case title = "title"
          }

          nonisolated enum __CDOrdinal {
            @inline(__always) static var title: CDOrdinal {
              0
            }
            @inline(__always) static var tag: CDOrdinal {
              1
            }
          }

          nonisolated override class var __cdPlainClass: NSManagedObject.Type? {
            Item.self
          }

          nonisolated static var __cdPropertyNames: [Swift.String] {
            ["title", "tag"]
          }

          nonisolated static var __cdSwiftNames: [Swift.String] {
            ["title", "tag"]
          }

          nonisolated static func predicateKey(for keyPath: Swift.AnyKeyPath) -> Swift.String? {
            func matches(_ candidate: Swift.PartialKeyPath<Item>) -> Swift.Bool {
              keyPath == candidate
            }
            if matches(\\.title) {
              return "title"
            }
            if matches(\\.tag) {
              return "tag"
            }
            return nil
          }

          nonisolated static let __cdRuntimeEntitySchema: CDRuntimeEntitySchema = \
        __cdMakeRuntimeEntitySchema()

          private nonisolated static func __cdMakeRuntimeEntitySchema() -> CDRuntimeEntitySchema {
            var attributes: [CDRuntimeAttributeSchema] = []
            attributes.append(CDRuntimeAttributeSchema(swiftName: "title", persistentName: "title", \
        swiftTypeName: "String", isOptional: false, defaultValueExpression: "\\"\\"", \
        storage: .primitive(.string), isUnique: false, isTransient: false))
            var relationships: [CDRuntimeRelationshipSchema] = []
            relationships.append(CDRuntimeRelationshipSchema(swiftName: "tag", persistentName: "tag", \
        targetTypeName: "Tag", inverseName: "items", deleteRule: .nullify, minimumModelCount: nil, \
        maximumModelCount: nil, kind: .toOne, isOptional: true))
            return CDRuntimeEntitySchema(entityName: "Item", managedObjectClassName: \
        NSStringFromClass(Item.self), attributes: attributes, relationships: relationships, \
        uniquenessConstraints: [])
          }

          nonisolated enum Paths {
            static let title = CDPath<Item, String>(swiftPath: ["title"], persistentPath: ["title"], \
        storageMethod: .default)
            static let tag = CDToOneRelationPath<Item, Tag>(swiftPath: ["tag"], persistentPath: ["tag"])
          }

          nonisolated struct PathRoot: Swift.Sendable {
            var title: CDPath<Item, String> {
              Paths.title
            }
            var tag: CDToOneRelationPath<Item, Tag> {
              Paths.tag
            }
          }

          nonisolated static var path: PathRoot {
            PathRoot()
          }

          nonisolated static let __cdRelationshipProjectionTable: [Swift.String: CDFieldMeta] = \
        __cdMakeRelationshipProjectionTable()

          private nonisolated static func __cdMakeRelationshipProjectionTable() -> [Swift.String: CDFieldMeta] {
            var table = CDFieldTableBuilder()
            table.attribute("title", "title")
            return table.entries
          }

          nonisolated static let __cdFieldTable: [Swift.String: CDFieldMeta] = __cdMakeFieldTable()

          private nonisolated static func __cdMakeFieldTable() -> [Swift.String: CDFieldMeta] {
            var table = CDFieldTableBuilder(__cdRelationshipProjectionTable)
            table.toOne("tag", "tag", Tag.self)
            return table.entries
          }

          @dynamicMemberLookup
          nonisolated struct __CDRelationshipNames {
            var `tag`: Swift.Void { () }
            @available(*, deprecated, message: "Item has no relationship of this persistent name, but another \
        model's @Relationship names it as its inverse; correct `inverse:` there, or add the relationship to Item.")
            subscript(dynamicMember name: Swift.String) -> Swift.Void { () }
          }

          private nonisolated static func __cdCheckRelationships() {
            // Item.tag: Tag must be a @PersistentModel class, with the inverse items.
            _CDRelationshipCheck.check(Tag.self, inverse: Tag.__CDRelationshipNames().`items`)
          }

          nonisolated class func fetchRequest() -> NSFetchRequest<Item> {
            NSFetchRequest<Item>(entityName: "Item")
          }
        }

        extension Item: nonisolated PersistentEntity {}

        extension Item: nonisolated CDRuntimeSchemaProviding {}
        """), "\(expansion.text)")
  }

  @Test("The unobserved modes are the same, and name nothing of Observation")
  func unobserved() {
    let plain = Expansion.model("var title: String")
    let none = Expansion.model("var title: String", arguments: "(observation: .none)")
    #expect(plain.text == none.text)
    #expect(!plain.text.contains("Observ") && !plain.text.contains("__cdAccess"))
  }

  @Test("Keys hold attributes by persistent name, ordinals and names every property in order")
  func keysAndSlots() {
    let expansion = Expansion.model(
      """
      @Relationship(inverse: "a", deleteRule: .deny) var first: Set<Tag>
      @Attribute(persistentName: "z_date") var date: Date?
      @Ignore var scratch: Int = 0
      var `default`: Bool = false
      """)
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        nonisolated enum Keys: Swift.String {
        case date = "z_date"
        case `default` = "default"
        }
        """))
    #expect(expansion.contains("@inline(__always) static var first: CDOrdinal {\n0\n}"))
    #expect(expansion.contains("@inline(__always) static var date: CDOrdinal {\n1\n}"))
    #expect(expansion.contains("@inline(__always) static var `default`: CDOrdinal {\n2\n}"))
    #expect(expansion.contains("[\"first\", \"z_date\", \"default\"]"))
    #expect(expansion.contains("@Ignore var scratch: Int = 0") || expansion.contains("var scratch: Int = 0"))
  }

  @Test("Without attributes there is an uninhabited key type")
  func noAttributes() {
    let expansion = Expansion.model("")
    #expect(
      expansion.contains("nonisolated enum Keys: Swift.RawRepresentable {\ntypealias RawValue = Swift.String")
    )
    #expect(expansion.text.contains("attributes: [], relationships: [], uniquenessConstraints: []"))
  }

  @Test("Predicate keys are persistent names; counts ask for @count")
  func predicateKeys() {
    let members = "@Relationship(persistentName: \"t\", inverse: \"a\", deleteRule: .deny) var tags: [Tag]"
    let counted = Expansion.model(members)
    #expect(counted.contains("if matches(\\.tags) {\nreturn \"t\"\n}"))
    #expect(counted.contains("if matches(\\.tagsCount) {\nreturn \"t.@count\"\n}"))
    let uncounted = Expansion.model(members, arguments: "(generateToManyCount: false)")
    #expect(!uncounted.text.contains("tagsCount"))
  }

  @Test("The schema carries traits, defaults as source text, and uniqueness")
  func schema() {
    let expansion = Expansion.model(
      """
      @Attribute(.unique, persistentName: "code_") var code: Swift.Int64 = 1_000
      @Attribute(AttributeTrait.transient) var cache: Foundation.Data?
      var link: Optional<URL> = URL(string: "http://a")
      """)
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        var attributes: [CDRuntimeAttributeSchema] = []
        attributes.append(CDRuntimeAttributeSchema(swiftName: "code", persistentName: "code_", \
        swiftTypeName: "Swift.Int64", isOptional: false, defaultValueExpression: "1_000", \
        storage: .primitive(.int64), isUnique: true, isTransient: false))
        attributes.append(CDRuntimeAttributeSchema(swiftName: "cache", persistentName: "cache", \
        swiftTypeName: "Foundation.Data", isOptional: true, defaultValueExpression: nil, \
        storage: .primitive(.data), isUnique: false, isTransient: true))
        attributes.append(CDRuntimeAttributeSchema(swiftName: "link", persistentName: "link", \
        swiftTypeName: "URL", isOptional: true, defaultValueExpression: "URL(string: \\"http://a\\")", \
        storage: .primitive(.url), isUnique: false, isTransient: false))
        var uniquenessConstraints: [CDRuntimeUniquenessConstraint] = []
        uniquenessConstraints.append(CDRuntimeUniquenessConstraint(persistentPropertyNames: ["code_"]))
        """), "\(expansion.text)")
  }

  @Test(
    "A class that overrides the initialiser of fetched objects does not say that it is plain",
    arguments: [
      "required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {\n"
        + "super.init(entity: entity, insertInto: context)\n}",
      "#if DEBUG\nvar seen: Int { 1 }\n#endif",
    ])
  func overriddenInitializer(member: String) {
    #expect(!Expansion.model("var a: String\n\(member)").text.contains("__cdPlainClass"))
    #expect(
      Expansion.model("var a: String\ninit(a: String) {\nfatalError()\n}").text.contains("__cdPlainClass"))
  }

  @Test("Methods that check one value are called by the names of their properties")
  func validationMethods() {
    let pointer = "_ value: UnsafeMutablePointer<AnyObject?>"
    let text = Expansion.model(
      """
      @Attribute(persistentName: "title_") var title: String
      var uRL: String
      func validateTitle(\(pointer)) throws {
      }
      func validateOther(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
      }
      func validateAll() throws {
      }
      func validateText(_ value: String) throws {
      }
      static func validateURL(\(pointer)) throws {
      }
      func validate(\(pointer)) throws {
      }
      """
    ).text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      text.contains(
        "override class var _cdValidatedKeys: [Swift.String] { super._cdValidatedKeys + [\"title_\", \"other\", \"Other\"] }"
      ),
      "\(text)")
    #expect(text.contains("case \"title_\": try validateTitle(value)"), "\(text)")
    #expect(text.contains("case \"other\", \"Other\": try validateOther(value)"), "\(text)")
    #expect(!text.contains("try validateText"))
    #expect(!Expansion.model("var a: String").text.contains("_cdValidate"))
  }

  @Test(
    "Every primitive maps to its schema type",
    arguments: [
      ("String", "string"), ("Bool", "bool"), ("Int", "int64"), ("Int16", "int16"), ("Int32", "int32"),
      ("Int64", "int64"), ("Float", "float"), ("Double", "double"), ("Decimal", "decimal"),
      ("Date", "date"), ("Data", "data"), ("UUID", "uuid"), ("URL", "url"),
    ])
  func primitives(type: String, schema: String) {
    let expansion = Expansion.model("var a: \(type)\nvar b: \(type)?\nvar c: (\(type))!")
    #expect(expansion.messages.isEmpty)
    #expect(expansion.text.components(separatedBy: ".primitive(.\(schema))").count == 4)
    #expect(expansion.contains("get {\n_cdRequired(Item.__CDOrdinal.a)\n}"))
    #expect(expansion.contains("get {\n_cdValue(Item.__CDOrdinal.b)\n}"))
    #expect(expansion.contains("get {\n_cdValue(Item.__CDOrdinal.c)\n}"))
  }

  @Test("A fetchRequest() of the type's own replaces the generated one", arguments: ["class", "static"])
  func ownFetchRequest(kind: String) {
    let own = Expansion.model("\(kind) func fetchRequest() -> NSFetchRequest<Item> { fatalError() }")
    #expect(!own.text.contains("nonisolated class func fetchRequest"))
    let other = Expansion.model("\(kind) func fetchRequest(limit: Int) -> Int { limit }")
    #expect(other.text.contains("nonisolated class func fetchRequest()"))
  }

  @Test("generateInit takes attributes and ignored properties in order, without relationships")
  func generatedInit() {
    let expansion = Expansion.model(
      """
      var title: String = "x"
      @Ignore var scratch: [Int] = []
      @Relationship(inverse: "items", deleteRule: .nullify) var tag: Tag?
      @Attribute(.transient) var cache: Int?
      """, arguments: "(generateInit: true)")
    #expect(
      expansion.contains(
        """
        nonisolated convenience init(title: String, scratch: [Int], cache: Int?) {
          self.init(entity: Self.entity(), insertInto: nil)
          self.title = title
          self.scratch = scratch
          self.cache = cache
        }
        """), "\(expansion.text)")
    let empty = Expansion.model("", arguments: "(generateInit: true)")
    #expect(!empty.text.contains("convenience init"))
  }

  @Test("To-many relationships get helpers; only ordered ones insert at an index")
  func helpers() {
    let expansion = Expansion.model(
      """
      @Relationship(inverse: "items", deleteRule: .nullify) var tags: Set<Tag>
      @Relationship(inverse: "item", deleteRule: .cascade) var notes: Array<Note>
      """)
    for part in [
      "var tagsCount: Swift.Int {\n_cdToManyCount(Item.__CDOrdinal.tags)",
      "func addToTags(_ value: Tag) {\n_cdAdd(Item.__CDOrdinal.tags, value)",
      "func addToTags(_ values: Swift.Set<Tag>) {\n_cdAdd(Item.__CDOrdinal.tags, contentsOf: values)",
      "func removeFromTags(_ value: Tag) {\n_cdRemove(Item.__CDOrdinal.tags, value)",
      "func removeFromTags(_ values: Swift.Set<Tag>) {\n_cdRemove(Item.__CDOrdinal.tags, contentsOf: values)",
      "func addToNotes(_ values: [Note]) {\n_cdAdd(Item.__CDOrdinal.notes, contentsOf: values)",
      "func insertIntoNotes(_ value: Note, at index: Swift.Int) {\n"
        + "_cdInsert(Item.__CDOrdinal.notes, value, at: index)",
    ] {
      #expect(expansion.contains("nonisolated \(part)\n}"), "\(part)")
    }
    #expect(!expansion.text.contains("insertIntoTags"))
    #expect(expansion.contains("var tags: Set<Tag> {\nget {\n_cdToManySet(Item.__CDOrdinal.tags)\n}"))
    #expect(expansion.contains("get {\n_cdToManyArray(Item.__CDOrdinal.notes)\n}"))
  }

  @Test("What is no instance variable is left alone")
  func leftAlone() {
    let expansion = Expansion.model(
      """
      let constant = 1
      static var shared = 2
      class var kind: Int { 3 }
      lazy var later = 4
      var computed: [Int] { [5] }
      var both: [Int] { get { [] } set {} }
      """)
    #expect(expansion.messages.isEmpty)
    #expect(expansion.contains("nonisolated static var __cdPropertyNames: [Swift.String] {\n[]\n}"))
  }
}
