@_spi(CDE) import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

extension JSONValue {
  var list: [JSONValue] { if case .array(let values) = self { values } else { [] } }
  var words: String? { if case .string(let text) = self { text } else { nil } }
  var number: Int? { if case .number(let text) = self { Int(text) } else { nil } }

  /// The values at a place of rows of a listing.
  func column(_ place: Int) -> [JSONValue] { (self["rows"]?.list ?? []).map { $0.list[place] } }

  /// The member of a list with a name.
  func named(_ name: String) -> JSONValue? { list.first { $0["name"] == .string(name) } }
}

@Suite("The pages of a store", .timeLimit(.minutes(3)))
struct StudioTests {
  @Test("The model and the counts, those of sub-entities included")
  func model() throws {
    let library = try Library()
    defer { library.remove() }
    let studio = try Studio(library.place)
    let overview = try studio.overview()
    #expect(overview["name"]?.words == "Library.sqlite" && overview["writable"] == .bool(false))
    let author = overview["entities"]?.named("Author")
    #expect(author?["parent"]?.words == "Person")
    #expect(author?["label"] == .array([.string("firstName"), .string("lastName")]))
    let owner = overview["entities"]?.named("Book")?["properties"]?.named("owner")
    #expect(
      owner?["to"]?.words == "Person" && owner?["many"] == .bool(false) && owner?["inverse"]?.words == "books"
    )
    let counts = try studio.counts()["counts"]
    #expect(counts?["Book"]?.number == 12 && counts?["Person"]?.number == 2 && counts?["Author"]?.number == 1)
  }

  @Test("Rows are filtered, sorted, name their relations, and count them")
  func rows() throws {
    let library = try Library()
    defer { library.remove() }
    let studio = try Studio(library.place)
    var query = StudioQuery(entity: "Book")
    query.predicate = "owner.firstName == 'Ada' AND pages > 300"
    query.sort = ["-pages"]
    let rows = try studio.rows(query)
    #expect(rows.column(0).compactMap(\.words) == (4...9).reversed().map { "Book/p\($0)" })
    #expect(rows["total"]?.number == 6 && rows["whole"] == .bool(true))
    let columns = try studio.overview()["entities"]?.named("Book")?["properties"]?.list.compactMap {
      $0["name"]?.words
    }
    let owner = try #require(columns?.firstIndex(of: "owner"))
    #expect(rows.column(owner + 1).first?["name"]?.words == "Ada Byron")
    let people = try studio.rows(StudioQuery(entity: "Person"))
    // The books are the last column.
    #expect(people["rows"]?.list.map { $0.list.last?.number } == [9, 3])
    query = StudioQuery(entity: "Book")
    query.owner = "Author/p2.books"
    #expect(try studio.rows(query).column(0).compactMap(\.words) == ["Book/p10", "Book/p11", "Book/p12"])
    query = StudioQuery(entity: "Tag")
    query.owner = "Book/p1.tags"
    #expect(try studio.count(query)["count"]?.number == 1)
  }

  @Test(
    "What is wrong is one sentence",
    arguments: [
      ("Bok", "", ""), ("Book", "pages >", ""), ("Book", "pags > 1", ""), ("Book", "", "-nothing"),
      ("Book", "", "tags"), ("Book", "title MATCHES '['", ""), ("Book", "title > 1 + notes", ""),
    ])
  func mistakes(entity: String, predicate: String, sort: String) throws {
    let library = try Library()
    defer { library.remove() }
    let studio = try Studio(library.place)
    var query = StudioQuery(entity: entity)
    query.predicate = predicate
    query.sort = sort.isEmpty ? [] : [sort]
    for start in [0, 5] {
      let error = try #require(#expect(throws: (any Error).self) { try studio.rows(query, at: start) })
      let message = StudioFailure(error).message
      #expect(StudioFailure(error).kind == .wrong)
      #expect(message.last.map { ".?".contains($0) } == true && !message.contains("\n"), "\(message)")
    }
  }

  @Test("An object's page has its values, the first members, and its history")
  func object() throws {
    let library = try Library()
    defer { library.remove() }
    try Library.write(at: library.url) { context in
      context.transactionAuthor = "importer"
      let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
      books.first { $0.value(forKey: "title") as? String == "Volume 1" }?.setValue(7, forKey: "pages")
    }
    let studio = try Studio(library.place)
    let id = try #require(
      try studio.find("volume 1").list.first { $0["name"]?.words == "Volume 1" }?["id"]?.words)
    let page = try studio.object(id)
    #expect(page["name"]?.words == "Volume 1")
    let values = page["attributes"]
    #expect(values?.named("pages")?["value"]?.words == "7")
    #expect(values?.named("price")?["value"]?.words == "9.1")
    #expect(values?.named("notes")?["value"]?.words == #"["shelf",3]"#)
    let cover = values?.named("cover")
    #expect(
      cover?["bytes"]?.number == 6 && cover?["picture"] == .bool(true) && cover?["text"] == .bool(false))
    #expect(try studio.bytes(of: id, "cover") == Data([0x89, 0x50, 0x4E, 0x47, 1, 2]))
    #expect(page["relationships"]?.named("owner")?["objects"]?.list.first?["name"]?.words == "Ada Byron")
    let history = try studio.history(of: id).list
    #expect(history.map { $0["changes"]?.list.first?["kind"]?.words } == ["updated", "inserted"])
    #expect(history.first?["source"]?.words == "importer")
    #expect(history.first?["changes"]?.list.first?["properties"] == .array([.string("pages")]))
    let ada = try studio.object("Person/p1", members: 4)
    #expect(ada["relationships"]?.named("books")?["count"]?.number == 9)
    #expect(ada["relationships"]?.named("books")?["objects"]?.list.count == 4)
    #expect(ada["attributes"]?.named("address")?["elements"]?.named("city")?["value"]?.words == "London")
    let more = try studio.members(of: "Person/p1", "books", at: 4)
    #expect(more["objects"]?.list.count == 5)
    for missing in ["Book/p99", "nonsense", "Absent/p1"] {
      let failure = #expect(throws: StudioFailure.self) { try studio.object(missing) }
      #expect(failure?.kind == .missing)
    }
  }

  @Test("Objects are found by parts of their names, whatever case and accents, and by their IDs")
  func finding() throws {
    let library = try Library()
    defer { library.remove() }
    let studio = try Studio(library.place)
    func found(_ text: String, _ entity: String? = nil) throws -> [String] {
      try studio.find(text, entity: entity).list.compactMap { $0["name"]?.words }
    }
    #expect(try found("BYRÓN ada") == ["Ada Byron"])
    #expect(try found("bell", "Person") == ["Currer Bell"])
    #expect(try found("bell", "Book") == [])
    #expect(try found("Tag/p1") == ["engines"])
    #expect(try found("", "Person") == ["Currer Bell", "Ada Byron"])
    #expect(try found("nothing") == [])
  }

  @Test(
    "A condition is completed by what may follow",
    arguments: [
      ("ti", "title", "String"), ("owner.", "owner.firstName", "String"),
      ("owner.address.", "owner.address.city", "String"),
      ("tags.@", "tags.@count", "number"), ("title ", "BEGINSWITH[cd]", "operator"),
      ("pages ", "BETWEEN", "operator"),
      ("title == ", "\"\"", "value"), ("owner.isActive == ", "TRUE", "value"),
      ("title == \"a b\" ", "AND", "word"),
      ("title == 'x' AND NOT pa", "pages", "Integer 32"), ("(we", "weight", "Double"),
      ("title BEGINS", "BEGINSWITH[cd]", "operator"),
    ])
  func completion(text: String, choice: String, kind: String) throws {
    let library = try Library { _ in }
    defer { library.remove() }
    let answer = try Studio(library.place).completions(of: text, entity: "Book")
    let found = answer["choices"]?.list.first { $0["text"]?.words == choice }
    #expect(found?["kind"]?.words == kind, "\(answer.text())")
    let from = try #require(answer["from"]?.number)
    let word = String(decoding: Array(text.utf16)[from...], as: UTF16.self)
    #expect(choice.lowercased().hasPrefix(word.lowercased()))
  }

  @Test("Entities and properties of other letters and of predicates' words are found, and IDs are readable")
  func names() throws {
    let entity = NSEntityDescription()
    entity.name = "Größe"
    entity.properties = [
      Library.attribute("null", .integer32AttributeType), Library.attribute("any", .stringAttributeType),
      Library.attribute("größe", .doubleAttributeType),
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let library = try Library { _ in }
    defer { library.remove() }
    let url = library.folder.appendingPathComponent("Words.sqlite")
    let container = try Library.container(at: url, model)
    try container.viewContext.performAndWait {
      _ = Library.insert("Größe", ["null": 5, "any": "a", "größe": 1.5], container.viewContext)
      try container.viewContext.save()
    }
    let studio = try Studio(.file(url))
    var query = StudioQuery(entity: "Größe")
    for (typed, word) in [("nu", "#null"), ("an", "#any"), ("grö", "größe"), ("", "#null"), ("#nu", "#null")]
    {
      let choices = try #require(try studio.completions(of: typed, entity: "Größe")["choices"]?.list)
      #expect(
        choices.contains { $0["text"]?.words == word && $0["kind"]?.words != "number" },
        "\(typed): \(choices)")
      query.predicate = "\(word) != nil"
      #expect(try studio.rows(query).column(0) == [.string("Größe/p1")], "\(word)")
    }
    let session = try QuerySession(OpenedStore(.file(url)))
    #expect(session.completions(of: "Größe where nu") == ["#null", "NULL"])
    #expect(session.completions(of: "Größe sort nu") == ["null"])
    #expect(try studio.object("Größe/p1")["id"]?.words == "Größe/p1")
    #expect(try studio.object("Gr%C3%B6%C3%9Fe/p1")["id"]?.words == "Größe/p1")
  }

  @Test("Inside a text nothing is completed")
  func completionInText() throws {
    let library = try Library { _ in }
    defer { library.remove() }
    let studio = try Studio(library.place)
    #expect(try studio.completions(of: "title == \"ti", entity: "Book")["choices"]?.list == [])
    #expect(
      try studio.completions(of: "pages > ti", entity: "Book")["choices"]?.list.first?["text"]?.words
        == "title")
  }

  @Test("Looking at everything changes no byte and no name in the folder")
  func unchanged() throws {
    let library = try Library()
    defer { library.remove() }
    let before = try library.contents()
    let studio = try Studio(library.place)
    _ = try (studio.overview(), studio.counts(), studio.object("Book/p1"), studio.history(of: "Book/p1"))
    var query = StudioQuery(entity: "Book")
    query.predicate = "pages > 3"
    _ = try (
      studio.rows(query), studio.rows(query, at: 3), studio.count(query), studio.find("a"), studio.commits()
    )
    for entry in try studio.slowQueries().list { _ = try studio.plan(try #require(entry["number"]?.number)) }
    let failure = #expect(throws: StudioFailure.self) {
      try studio.edit(StudioEdit(.object([.init("delete", .array([.string("Book/p1")]))])))
    }
    #expect(failure?.kind == .refused && failure?.message.contains("--write") == true)
    studio.close()
    #expect(try library.contents() == before)
  }

  @Test("A commit of another program changes the next answer, and is told")
  func commits() async throws {
    let library = try Library()
    defer { library.remove() }
    let studio = try Studio(library.place)
    #expect(try studio.count(StudioQuery(entity: "Tag"))["count"]?.number == 1)
    let (told, telling) = AsyncStream.makeStream(of: JSONValue.self)
    let task = Task { try await studio.follow { telling.yield($0) } }
    var news = told.makeAsyncIterator()
    let first = try #require(await news.next())
    #expect(first["commits"] == .array([]))
    try Library.write(at: library.url) { context in
      context.transactionAuthor = "importer"
      _ = Library.insert("Tag", ["name": "second"], context)
    }
    var commits: [JSONValue] = []
    while commits.isEmpty, let next = await news.next() { commits = next["commits"]?.list ?? [] }
    task.cancel()
    #expect(commits.first?["author"]?.words == "importer")
    #expect(commits.first?["changes"]?.list.first?["inserted"]?.number == 1)
    #expect(try studio.count(StudioQuery(entity: "Tag"))["count"]?.number == 2)
    let known = try studio.commits()
    #expect(known["total"]?.number == 2 && known["commits"]?.list.first?["author"]?.words == "importer")
    let number = try #require(known["commits"]?.list.first?["transaction"]?.number)
    #expect(try studio.commit(number)["changes"]?.list.first?["id"]?.words == "Tag/p2")
  }

  @Test("A store without a history is shown as any other, and its commits change the answers")
  func withoutHistory() throws {
    let library = try Library { _ in }
    defer { library.remove() }
    let file = library.folder.appendingPathComponent("Plain.sqlite")
    func add(_ name: String) throws {
      let container = NSPersistentContainer(name: "plain", managedObjectModel: Library.model())
      container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
      container.loadPersistentStores { _, error in #expect(error == nil) }
      let context = container.newBackgroundContext()
      try context.performAndWait {
        _ = Library.insert("Tag", ["name": name], context)
        try context.save()
      }
      for store in container.persistentStoreCoordinator.persistentStores {
        try container.persistentStoreCoordinator.remove(store)
      }
    }
    try add("one")
    let studio = try Studio(.file(file))
    #expect(try studio.overview()["history"] == .bool(false))
    #expect(try studio.commits()["history"] == .bool(false))
    #expect(try studio.history(of: "Tag/p1").list == [])
    #expect(try studio.counts()["counts"]?["Tag"]?.number == 1)
    try add("two")
    #expect(try studio.counts()["counts"]?["Tag"]?.number == 2)
  }

  @Test("Slow queries have their statements, SQLite's plan, and an index that helps")
  func queries() throws {
    let library = try Library()
    defer { library.remove() }
    let studio = try Studio(library.place)
    var query = StudioQuery(entity: "Book")
    query.predicate = "title == 'Volume 3'"
    _ = try studio.rows(query)
    let entry = try #require(
      try studio.slowQueries().list.first { $0["text"]?.words == "Book where title == 'Volume 3'" })
    #expect(entry["query"]?["where"]?.words == query.predicate)
    let plan = try studio.plan(try #require(entry["number"]?.number))
    let statement = try #require(plan["statements"]?.list.first)
    #expect(statement["sql"]?.words?.contains("'Volume 3'") == true)
    #expect(statement["plan"]?.list.first?["scan"] == .bool(true))
    #expect(plan["index"]?.words?.contains("property=\"title\"") == true)
    #expect(throws: StudioFailure.self) { try studio.plan(999) }
  }

  @Test("The list of slow queries keeps the slowest")
  func log() throws {
    let log = QueryLog(limit: 3)
    let library = try Library()
    defer { library.remove() }
    let store = try OpenedStore(library.place) { $0.observer = log }
    func fetch(_ text: String, times: Int = 1) throws {
      try log.timing(text, nil) {
        for _ in 0..<times {
          _ = try store.readAnew { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) }
        }
      }
    }
    try fetch("slow", times: 400)
    for number in 1...5 { try fetch("fast \(number)") }
    try fetch("slow", times: 400)
    #expect(log.slowest.count == 3)
    #expect(log.slowest.first?.text == "slow" && log.slowest.first?.runs == 2)
    log.timing("nothing read", nil) {}
    #expect(!log.slowest.contains { $0.text == "nothing read" })
  }
}
