import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("Paths and snapshots of attributes with a storage of their own")
struct StoredPathTests {
  private let types: [any CDRuntimeSchemaProviding.Type] = [Article.self, Author.self, Topic.self]

  init() { WordsTransformer.register() }

  private func article(_ context: NSManagedObjectContext) throws -> Article {
    let article = Article(context: context)
    article.slug = "a"
    article.status = .review
    article.priority = .high
    article.level = nil
    article.settings = Settings(theme: "dark", sizes: [1, 2])
    article.scores = ["x": 1]
    article.words = ["b", "c"]
    article.keywords = ["k"]
    article.place = Place(latitude: 1.5, longitude: 2, name: nil)
    try context.save()
    return article
  }

  @Test("Tables and paths know the storage method")
  func methods() {
    #expect(Article.path.status.storageMethod == .raw)
    #expect(Article.path.settings.storageMethod == .codable)
    #expect(Article.path.words.storageMethod == .transformed)
    #expect(Article.path.place.storageMethod == .composition)
    #expect(Article.path.place.longitude.raw == "place.lng")
    #expect(Article.path.everything.date.persistentPath == ["all", "date"])
    #expect(type(of: Article.path.place.name) == CDPath<Article, String?>.self)
    #expect(Author.path.articles.any.status.storageMethod == .raw)
    #expect(
      Article.__cdMeta(forSwiftPath: "place")
        == CDFieldMeta(
          kind: .composition, swiftPath: ["place"], persistentPath: ["place"], storageMethod: .composition,
          supportsStoreSort: false))
    #expect(
      Article.__cdMeta(forSwiftPath: "place.longitude")
        == CDFieldMeta(
          kind: .attribute, swiftPath: ["place", "longitude"], persistentPath: ["place", "lng"],
          storageMethod: .default, supportsStoreSort: true))
    #expect(Place.__cdCompositionFieldTable.keys.sorted() == ["latitude", "longitude", "name"])
    #expect(
      Place.__cdCompositionFieldTable["longitude"]
        == CDCompositionFieldMeta(swiftPath: ["longitude"], persistentPath: ["lng"]))
    #expect(Place.path.longitude.raw == "lng")
    #expect(Author.__cdFieldTable["articles.place.latitude"]?.isToManyRelationship == true)
  }

  @Test("Filters compare raw values and the fields of compositions")
  func filters() throws {
    #expect(Article.path.status.equals(Status.review).canonicalFormat == "status_raw == \"review\"")
    #expect(Article.path.status.notEquals(Status.draft).canonicalFormat == "status_raw != \"draft\"")
    #expect(Article.path.priority.equals(Priority.high).canonicalFormat == "priority == 9")
    // The case alone, optional or not, behind a quantifier or not.
    #expect(Article.path.status.equals(.review).canonicalFormat == "status_raw == \"review\"")
    #expect(Article.path.status.notEquals(.review).canonicalFormat == "status_raw != \"review\"")
    #expect(Article.path.priority.equals(.high).canonicalFormat == "priority == 9")
    #expect(Article.path.priority.notEquals(.high).canonicalFormat == "priority != 9")
    #expect(
      Author.path.articles.any.status.equals(.draft).canonicalFormat
        == Author.path.articles.any.status.equals(Status.draft).canonicalFormat)
    #expect(
      Author.path.articles.any.priority.notEquals(.low).canonicalFormat
        == Author.path.articles.any.priority.notEquals(Priority.low).canonicalFormat)
    #expect(Article.path.place.latitude.greaterThan(1).canonicalFormat == "place.latitude > 1")
    #expect(
      Author.path.articles.none.status.equals(Status.draft).canonicalFormat
        == "SUBQUERY(articles, $e, $e.status_raw == \"draft\").@count == 0")
    let context = try Stack(types).context()
    let article = try article(context)
    for (predicate, holds) in [
      (Article.path.status.equals(Status.review), true), (Article.path.status.equals(Status.draft), false),
      (Article.path.priority.equals(Priority.high), true), (Article.path.level.equals(Level.two), false),
    ] {
      #expect(try !context.fetch(FetchDescriptor<Article>(predicate: predicate)).isEmpty == holds)
      #expect(predicate.evaluate(with: article) == holds, "\(predicate)")
    }
    #expect(Article.path.place.latitude.greaterThan(1).evaluate(with: article))
    #expect(!Article.path.place.longitude.greaterThan(2).evaluate(with: article))
  }

  @Test("Fields of compositions in columns are compared, sorted by and read from the store")
  func columns() throws {
    let seed = UInt64.random(in: 0..<UInt64.max)
    print("composition paths: seed \(seed)")
    var random = SplitMix(state: seed)
    let stack = try Stack(model: try .makeRuntimeModel(types, compositions: .columns))
    let context = stack.context()
    let author = Author(context: context)
    for index in 0..<30 {
      let article = Article(context: context)
      article.slug = "a\(index)"
      if index % 3 == 0 { article.author = author }
      guard index % 5 != 0 else { continue }
      let place = (0..<2).map { _ in Double(Int.random(in: 0..<5, using: &random)) }
      article.place = Place(latitude: place[0], longitude: place[1], name: index % 2 == 0 ? nil : "n")
    }
    try context.save()
    let all = try context.fetch(FetchDescriptor<Article>())
    let place = Article.path.place
    let cases: [(NSPredicate, (Article) -> Bool)] = [
      (place.latitude.greaterThan(2), { ($0.place?.latitude ?? -1) > 2 }),
      (place.longitude.lessThanOrEqual(1), { $0.place.map { $0.longitude <= 1 } ?? false }),
      (place.longitude.notEquals(1), { $0.place?.longitude != 1 }),
      (place.name.equals("n"), { $0.place?.name == "n" }),
    ]
    for (predicate, holds) in cases {
      let found = try context.fetch(FetchDescriptor<Article>(predicate: predicate))
      #expect(Set(found) == Set(all.filter(holds)), "\(predicate), seed \(seed)")
      #expect(try all.allSatisfy { try predicate.matches($0) == holds($0) }, "\(predicate), seed \(seed)")
    }
    let order = try NSSortDescriptor(Article.self, path: place.longitude, order: .desc)
    let sorted = try context.fetchSnapshots(FetchDescriptor<Article>(sortBy: [order]))
    let longitudes = sorted.map { $0.place?.longitude ?? -1 }
    let wanted = all.map { $0.place?.longitude ?? -1 }.sorted(by: >)
    #expect(longitudes == wanted, "seed \(seed)")
    #expect(Set(sorted.map(\.slug)) == Set(all.map(\.slug)))
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(sorted[0])) as? [String: Any]
    #expect((json?["place"] as? [String: Any])?["longitude"] as? Double == sorted[0].place?.longitude)
    let old = sorted[0]
    let article = try context.object(for: old.handle)
    article.place?.latitude = 77
    let changes = try article.snapshot().changes(since: old)
    #expect(changes.names == ["place"] && changes.contains(\.place))
    let elsewhere = stack.context()
    let target = try elsewhere.object(for: old.handle)
    try elsewhere.apply(changes, to: target)
    #expect(target.place?.latitude == 77 && target.place?.longitude == old.place?.longitude)
  }

  @Test("A query by the field of an archived composition is refused, and told what to do")
  func archivedFields() throws {
    let context = try Stack(types).context()
    let article = try article(context)
    let latitude = Article.path.place.latitude
    for descriptor in [
      FetchDescriptor<Article>(predicate: latitude.greaterThan(1)),
      FetchDescriptor<Article>(predicate: #Predicate { ($0.place?.latitude ?? 0) > 1 }),
      FetchDescriptor<Article>(
        sortBy: [try NSSortDescriptor(Article.self, path: latitude, order: .asc)]),
    ] {
      let error = #expect(throws: (any Error).self) { try context.fetch(descriptor) }
      let text = error.map { "\($0)" } ?? ""
      #expect(text.contains("compositions: .columns") && text.contains("place"), "\(text)")
    }
    #expect(latitude.greaterThan(1).evaluate(with: article))
  }

  @Test("However many key paths name a snapshot's properties, each reads its own")
  func keyPaths() throws {
    let snapshot = try article(try Stack(types).context()).snapshot()
    for round in 0..<2000 {
      let isSlug = round % 2 == 0
      let path = \Article.PathRoot.[attribute: Choice(round: round, name: isSlug ? "slug" : "name")]
      #expect(snapshot[dynamicMember: path] == (isSlug ? "a" : ""))
    }
    #expect(snapshot.slug == "a" && snapshot.status == .review && snapshot.priority == .high)
  }

  @Test("What has no order in the store is no store order")
  func sortErrors() throws {
    func refused<Value>(_ path: CDPath<Article, Value>, _ method: StorageMethod) -> Bool {
      do {
        _ = try NSSortDescriptor(Article.self, path: path, order: .asc)
        return false
      } catch {
        return error == .pathNotStoreSortable(path.swiftPathKey, storageMethod: method)
      }
    }
    #expect(refused(Article.path.settings, .codable))
    #expect(refused(Article.path.words, .transformed))
    #expect(refused(Article.path.place.root, .composition))
    #expect(try NSSortDescriptor(Article.self, path: Article.path.status, order: .asc).key == "status_raw")
    let leaf = try NSSortDescriptor(Article.self, path: Article.path.place.longitude, order: .asc)
    #expect(leaf.key == "place.lng")
  }

  @Test("Snapshots decode what the object decodes", arguments: [true, false])
  func snapshots(isSaved: Bool) throws {
    let context = try Stack(types).context()
    let article = try article(context)
    if !isSaved {
      article.status = .published
      article.settings?.theme = "blue"
      article.words = ["z"]
      article.place?.name = "n"
    }
    let snapshot = try article.snapshot()
    #expect(snapshot.status == article.status)
    #expect(snapshot.priority == .high)
    #expect(article.value(forKey: "level") == nil && snapshot.level == .two && article.level == .two)
    #expect(snapshot.settings == article.settings)
    #expect(snapshot.scores == ["x": 1])
    #expect(snapshot.words == article.words)
    #expect(snapshot.keywords == ["k"])
    #expect(snapshot.place == article.place)
    #expect(snapshot.everything == nil)
    #expect(snapshot.author == nil)
  }

  @Test("Changes of such values are found by what is stored, and applied")
  func changes() throws {
    let stack = try Stack(types)
    let context = stack.context()
    let article = try article(context)
    let old = try article.snapshot()
    article.status = .draft
    article.settings = nil
    article.words = ["w"]
    article.place = Place(latitude: 9, longitude: 9, name: "x")
    article.keywords = ["k"]
    let changes = try article.snapshot().changes(since: old)
    #expect(changes.names == ["status", "settings", "words", "place"])
    let elsewhere = stack.context()
    let twin = try elsewhere.object(for: changes.new.handle)
    try elsewhere.apply(changes, to: twin)
    #expect(twin.status == .draft && twin.settings == nil && twin.words == ["w"])
    #expect(twin.place == Place(latitude: 9, longitude: 9, name: "x"))
    try elsewhere.save()
    #expect(try elsewhere.fetchSnapshots(FetchDescriptor<Article>())[0].place?.latitude == 9)
  }

  @Test("JSON: raw values, codable values as their JSON, transformed ones in base 64, compositions by field")
  func json() throws {
    let context = try Stack(types).context()
    let article = try article(context)
    let data = try JSONEncoder().encode(article.snapshot())
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(json["status"] as? String == "review" && json["priority"] as? Int == 9)
    #expect(json["level"] is NSNull && json["everything"] is NSNull)
    let settings = json["settings"] as? [String: Any]
    #expect(settings?["theme"] as? String == "dark" && settings?["sizes"] as? [Int] == [1, 2])
    #expect(json["words"] as? String == Data("b\nc".utf8).base64EncodedString())
    let place = json["place"] as? [String: Any]
    #expect(place?["latitude"] as? Double == 1.5 && place?["longitude"] as? Double == 2)
    #expect(place?["name"] is NSNull)
    #expect(json["scratch"] == nil && json["cache"] == nil && json["topics"] == nil)
  }

  @Test("JSON of codable values keeps every digit")
  func digits() throws {
    let context = try Stack([Ledger.self]).context()
    let ledger = Ledger(context: context)
    let amounts = Amounts(
      largest: .max, least: .min, price: try #require(Decimal(string: "1234567890123456789.0123456789")),
      share: 0.1, tiny: 1e-300, huge: 1e300)
    ledger.amounts = amounts
    try context.save()
    let data = try JSONEncoder().encode(ledger.snapshot())
    #expect(try JSONDecoder().decode([String: Amounts].self, from: data)["amounts"] == amounts)
  }
}

/// Names a path by a value, so that every key path of it is an object of its own.
private struct Choice: Hashable {
  let round: Int
  let name: String
}

extension Article.PathRoot {
  fileprivate subscript(attribute choice: Choice) -> CDPath<Article, String> {
    CDPath(swiftPath: [choice.name], persistentPath: [choice.name])
  }
}
