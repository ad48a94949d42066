import CDEManagedModel
import CDEModelRuntime
import CDETestSupport
import CDETesting
import Foundation
import Testing

private let trilogy: [ObjectTree] = [
  ObjectTree(
    "Shelf", "top",
    [
      "name": "Top",
      "books": [
        ["title": "Two", "pages": 2, "topics": ["sea", ["name": "storms"]], "prequel": "one"],
        .object(ObjectTree("Book", "one", ["title": "One", "pages": 1, "sequel": "two?"])),
        "loose",
      ],
    ]),
  ObjectTree("Book", "loose", ["title": "Loose", "topics": ["sea"]]),
  ObjectTree("Topic", "sea", ["name": "the sea"]),
]

@Suite("Object trees", .store(model: Library.model), .inMemory)
@MainActor
struct ObjectTreeTests {
  let container = TestStore.current.container
  var context: NSManagedObjectContext { container.viewContext }

  /// The graph above, without the mistake in it.
  var graph: [ObjectTree] {
    var graph = trilogy
    guard case .list(var books)? = graph[0].values["books"], case .object(var one) = books[1] else {
      return []
    }
    one.values["sequel"] = nil
    books[1] = .object(one)
    graph[0].values["books"] = .list(books)
    return graph
  }

  @Test("A graph is made in one go: nested, by name from before and behind, ordered and in circles")
  func making() throws {
    let made = try graph.make(in: context)
    #expect(made.roots.map { $0.entity.name } == ["Shelf", "Book", "Topic"])
    let shelf: Shelf = try made.object("top")
    #expect(shelf.books.map(\.title) == ["Two", "One", "Loose"])
    #expect(shelf.books[0].prequel === made["one"])
    #expect(shelf.books[1].sequel === shelf.books[0])
    #expect(Set(shelf.books[0].topics.map(\.name)) == ["the sea", "storms"])
    #expect(try made.object("sea", as: Topic.self).books.count == 2)
    try context.save()
    #expect(try context.count(for: Book.fetchRequest()) == 3)
    #expect(try context.count(for: Topic.fetchRequest()) == 2)
  }

  @Test("Both sides of a relationship may say something of it, in any order")
  func bothSides() throws {
    let shelf: ObjectTree = ObjectTree("Shelf", "s", ["books": [["title": "a"]]])
    let book: ObjectTree = ObjectTree("Book", "b", ["title": "b", "shelf": "s", "topics": ["t"]])
    let topic: ObjectTree = ObjectTree("Topic", "t", ["books": [["title": "c"]]])
    for trees in [[shelf, book, topic], [topic, book, shelf]] {
      let made = try trees.make(in: context)
      #expect(try made.object("s", as: Shelf.self).books.map(\.title) == ["a", "b"])
      #expect(Set(try made.object("t", as: Topic.self).books.map(\.title)) == ["b", "c"])
    }
  }

  nonisolated static let every = ObjectTree(Book.self, "every") {
    $0.set(\.title, "Every")
    $0.set(\.pages, 7)
    $0.set(\.rating, 4.5)
    $0.set(\.isLent, true)
    $0.set(\.price, Decimal(string: "12.90"))
    $0.set(\.due, Date(timeIntervalSinceReferenceDate: 700_000_000.25))
    $0.set(\.code, UUID(uuidString: "6F1B1A52-0D7A-4E0B-9D0F-3F5A1B2C3D4E"))
    $0.set(\.link, URL(string: "https://example.org/every"))
    $0.set(\.cover, Data([1, 2, 3]))
    $0.set(\.shelf, .object(ObjectTree(Shelf.self) { $0.set(\.name, "S") }))
    $0.set(\.topics, [.object(ObjectTree(Topic.self, "t") { $0.set(\.name, "T") })])
  }

  @Test("Key paths set properties with their types, and JSON says the same")
  func typedAndJSON() throws {
    let json = """
      [{"$entity": "Book", "$name": "every", "title": "Every", "pages": 7, "rating": 4.5, "isLent": true,
        "price": "12.90", "due": "2023-03-08T20:26:40.250Z", "code": "6F1B1A52-0D7A-4E0B-9D0F-3F5A1B2C3D4E",
        "link": "https://example.org/every", "cover": "AQID", "shelf": {"name": "S"},
        "topics": [{"$name": "t", "name": "T"}]}]
      """
    let decoded = try JSONDecoder().decode([ObjectTree].self, from: Data(json.utf8))
    for tree in [Self.every, decoded[0]] {
      let book: Book = try tree.make(in: context).object("every")
      #expect(book.title == "Every" && book.pages == 7 && book.rating == 4.5 && book.isLent)
      #expect(book.price == Decimal(string: "12.90"))
      #expect(book.due == Date(timeIntervalSinceReferenceDate: 700_000_000.25))
      #expect(book.code == UUID(uuidString: "6F1B1A52-0D7A-4E0B-9D0F-3F5A1B2C3D4E"))
      #expect(book.link?.absoluteString == "https://example.org/every")
      #expect(book.cover == Data([1, 2, 3]))
      #expect(book.shelf?.name == "S" && book.topics.map(\.name) == ["T"])
      // Each is read back in its own form.
      #expect(try ObjectTree(reading: book, like: tree) == tree)
    }
    let again = try JSONDecoder().decode(ObjectTree.self, from: JSONEncoder().encode(Self.every))
    let book: Book = try again.make(in: context).object("every")
    #expect(try ObjectTree(reading: book, like: Self.every) == Self.every)
  }

  @Test("A date that no text says exactly survives JSON")
  func dates() throws {
    for seconds in [0, 0.1, 1e-7, 123.456_789, -5e9, 1e15] {
      let tree = ObjectTree("Book", "b", ["due": .date(Date(timeIntervalSinceReferenceDate: seconds))])
      let again = try JSONDecoder().decode(ObjectTree.self, from: JSONEncoder().encode(tree))
      let book: Book = try again.make(in: context).object("b")
      #expect(book.due == Date(timeIntervalSinceReferenceDate: seconds))
    }
  }

  nonisolated static let mistakes: [(ObjectTree, TestSupportError.Code, place: String, says: String)] = [
    (ObjectTree("Boook", "b"), .unknownEntity, "Boook \"b\"", "It has: Book, Shelf, Topic."),
    (ObjectTree(nil, "b"), .unknownEntity, "(no entity) \"b\"", "does not say its entity"),
    (ObjectTree("Book", nil, ["titel": "x"]), .unknownProperty, "Book[0].titel", "has no property \"titel\""),
    (
      ObjectTree("Book", "b", ["pages": "many"]), .wrongType, "Book \"b\".pages",
      "an integer of 16 bits, not \"many\""
    ),
    (ObjectTree("Book", "b", ["pages": 40_000]), .wrongType, "Book \"b\".pages", "16 bits, not 40000"),
    (ObjectTree("Book", "b", ["price": "12 €"]), .wrongType, "Book \"b\".price", "a decimal number"),
    (ObjectTree("Book", "b", ["due": "tomorrow"]), .wrongType, "Book \"b\".due", "ISO 8601"),
    (ObjectTree("Book", "b", ["cover": "?"]), .wrongType, "Book \"b\".cover", "Base 64"),
    (ObjectTree("Book", "b", ["code": "x"]), .wrongType, "Book \"b\".code", "a UUID"),
    (ObjectTree("Book", "b", ["title": ["a": 1]]), .wrongType, "Book \"b\".title", "a text, not {a 1}"),
    (ObjectTree("Book", "b", ["isLent": 1]), .wrongType, "Book \"b\".isLent", "true or false"),
    (ObjectTree("Book", "b", ["shelf": 3]), .wrongType, "Book \"b\".shelf", "an object, or the name of one"),
    (
      ObjectTree("Book", "b", ["topics": "t"]), .wrongType, "Book \"b\".topics", "a list of objects and names"
    ),
    (
      ObjectTree("Book", "b", ["topics": [["t"]]]), .wrongType, "Book \"b\".topics[0]",
      "an object, or the name"
    ),
    (
      ObjectTree("Book", "b", ["topics": ["b"]]), .wrongType, "Book \"b\".topics[0]", "takes objects of Topic"
    ),
    (
      ObjectTree("Book", "b", ["shelf": ["books": ["b", "c"]]]), .unresolvedReference,
      "Book \"b\".shelf.books[1]", "Named are: b."
    ),
    (
      ObjectTree("Book", "b", ["sequel": .object(ObjectTree("Book", "b"))]), .duplicateName,
      "Book \"b\".sequel", "which Book \"b\" has already"
    ),
    (
      ObjectTree("Book", "b", ["shelf": .object(ObjectTree("Topic"))]), .wrongType, "Book \"b\".shelf",
      "takes objects of Shelf"
    ),
    (
      ObjectTree(Book.self, "b") { $0.set(\.title.count, 3) }, .unknownProperty, "Book \"b\".",
      "has no property"
    ),
  ]

  @Test("Mistakes are errors that name their place, and nothing is made", arguments: mistakes)
  func mistake(tree: ObjectTree, code: TestSupportError.Code, place: String, says: String) throws {
    let error = #expect(throws: TestSupportError.self) { try tree.make(in: context) }
    #expect(error?.code == code)
    #expect(error?.place?.hasPrefix(place) == true, "\(String(describing: error?.place))")
    #expect(error?.message.contains(says) == true, "\(String(describing: error))")
    #expect(!context.hasChanges)
  }

  @Test("A name without an object is found out in a large graph, and nothing is made")
  func unresolved() throws {
    let error = #expect(throws: TestSupportError.self) { try trilogy.make(in: context) }
    #expect(error?.code == .unresolvedReference)
    #expect(error?.place == "Shelf \"top\".books[1].sequel")
    #expect(context.insertedObjects.isEmpty)
  }

  @Test("Asking for an object that was not made, or as another class, is an error")
  func objects() throws {
    let made = try graph.make(in: context)
    #expect(made["missing"] == nil)
    #expect(throws: TestSupportError.self) { try made.object("missing", as: Book.self) }
    let error = #expect(throws: TestSupportError.self) { try made.object("top", as: Book.self) }
    #expect(error?.message.contains("of the class Shelf, not Book") == true)
  }

  @Test("A graph is read back as the tree it was made of, whatever order its members come in")
  func readingLike() throws {
    try graph.make(in: context)
    try context.save()
    context.reset()
    let shelf = try #require(try context.fetch(Shelf.fetchRequest()).first)
    #expect(try ObjectTree(reading: shelf, like: graph[0]) == graph[0])
    var other = graph[0]
    other.values["name"] = "Bottom"
    let read = try ObjectTree(reading: shelf, like: other)
    #expect(read != other)
    #expect(read.values["name"] == "Top")
    let topics = ObjectTree("Book", nil, ["topics": [["name": "storms"], ["name": "the sea"]]])
    let book = try #require(shelf.books.first)
    #expect(try ObjectTree(reading: book, like: topics) == topics)
    let fewer = ObjectTree("Book", nil, ["topics": [["name": "storms"]]])
    #expect(
      try ObjectTree(reading: book, like: fewer).description.hasPrefix(
        "Book {topics [{name \"storms\"}, \"Topic/p"))
    #expect(throws: TestSupportError.self) { try ObjectTree(reading: book, like: ["titel": "x"]) }
  }

  @Test("A name is one object's: what refers to another by it is not as it should be")
  func names() throws {
    let made = try [
      ObjectTree("Book", "x", ["title": "x", "sequel": ["title": "y", "topics": ["t"]], "topics": ["u"]]),
      ObjectTree("Topic", "t", ["name": "t"]), ObjectTree("Topic", "u", ["name": "u"]),
    ].make(in: context)
    let expected = ObjectTree("Book", nil, ["topics": ["same"], "sequel": ["topics": ["same"]]])
    #expect(try ObjectTree(reading: made.roots[0], like: expected) != expected)
  }

  @Test("Paths read what they name")
  func readingPaths() throws {
    let made = try graph.make(in: context)
    let tree = try ObjectTree(
      reading: made.roots[0], "name", "books.title", "books.topics.name", "books.sequel.title")
    #expect(
      tree
        == ObjectTree(
          "Shelf", nil,
          [
            "name": "Top",
            "books": [
              ["title": "Two", "topics": [["name": "storms"], ["name": "the sea"]], "sequel": nil],
              ["title": "One", "topics": [], "sequel": ["title": "Two"]],
              ["title": "Loose", "topics": [["name": "the sea"]], "sequel": nil],
            ],
          ]))
    for path in ["titel", "books", "books.titel", "name.length"] {
      let error = #expect(throws: TestSupportError.self) { try ObjectTree(reading: made.roots[0], path) }
      #expect(error?.code == .unknownProperty)
    }
  }

  @Test("Trees fill a case's store", .store(model: Library.model), .template { try trees.make(in: $0) })
  func template() throws {
    #expect(try context.fetch(Topic.fetchRequest()).map(\.name) == ["from a tree"])
  }
}

private let trees = [ObjectTree("Topic", nil, ["name": "from a tree"])]

private enum Parts {
  @Sendable static func model() -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [attribute("latitude", .doubleAttributeType), attribute("label", .stringAttributeType)]
    let made = attribute("made", .transformableAttributeType)
    made.valueTransformerName = "SomebodysTransformer"
    let thing = NSEntityDescription()
    thing.name = "Thing"
    thing.properties = [attribute("form", .transformableAttributeType), place, made]
    let base = NSEntityDescription()
    base.name = "Base"
    base.isAbstract = true
    let model = NSManagedObjectModel()
    model.entities = [thing, base]
    return model
  }
}

@Suite("Trees of values that have parts", .store(model: Parts.model), .inMemory)
@MainActor
struct PartsTests {
  var context: NSManagedObjectContext { TestStore.current.container.viewContext }

  @Test("Composites and property lists are written as objects and lists, saved, and read back")
  func parts() throws {
    let tree = ObjectTree(
      "Thing", nil,
      [
        "place": ["latitude": 1.5, "label": "x"], "form": ["n": 1, "b": true, "d": 0.5, "list": ["a", "b"]],
      ])
    let object = try tree.make(in: context).roots[0]
    try context.save()
    context.refresh(object, mergeChanges: false)
    #expect((object.value(forKey: "place") as? [String: Any])?["latitude"] as? Double == 1.5)
    let read = try ObjectTree(reading: object, "place", "form")
    #expect(read == tree)
  }

  @Test("Mistakes in parts, abstract entities and values of custom transformers are errors with their place")
  func mistakes() throws {
    let trees: [(ObjectTree, String)] = [
      (ObjectTree("Thing", "t", ["place": ["height": 1]]), "Thing \"t\".place"),
      (ObjectTree("Thing", "t", ["place": ["latitude": "high"]]), "Thing \"t\".place.latitude"),
      (ObjectTree("Thing", "t", ["place": 3]), "Thing \"t\".place"),
      (ObjectTree("Thing", "t", ["made": "x"]), "Thing \"t\".made"), (ObjectTree("Base", "b"), "Base \"b\""),
    ]
    for (tree, place) in trees {
      let error = #expect(throws: TestSupportError.self) { try tree.make(in: context) }
      #expect(error?.place == place)
    }
    let orphan = NSManagedObjectContext(concurrencyType: .mainQueue)
    #expect(throws: TestSupportError.self) { try ObjectTree("Thing").make(in: orphan) }
  }
}
