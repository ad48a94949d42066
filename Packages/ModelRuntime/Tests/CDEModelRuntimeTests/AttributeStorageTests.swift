import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Storage methods of attributes")
struct AttributeStorageTests {
  static let types: [any CDRuntimeSchemaProviding.Type] = [Article.self, Author.self, Topic.self]

  init() { WordsTransformer.register() }

  static let everything = Everything(
    string: "ä", bool: true, int: -5, int16: .min, int32: .max, int64: .max, float: 1.1, double: 0.1,
    decimal: Decimal(string: "-12345678901234567890.125")!, date: Date(timeIntervalSinceReferenceDate: 5.5),
    data: Data([0, 1, 255]), uuid: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!,
    url: URL(string: "https://example.org/a?b=1")!, nothing: nil)

  private func fill(_ article: Article) {
    article.slug = "first"
    article.title = "Title"
    article.status = .review
    article.priority = .high
    article.settings = Settings(theme: "dark", sizes: [1, 2])
    article.scores = ["a": 1]
    article.words = ["one", "two"]
    article.keywords = ["k"]
    article.place = Place(latitude: 1.5, longitude: -2, name: nil)
    article.everything = Self.everything
    article.scratch = "not stored"
    article.cache = [1]
  }

  private func check(_ article: Article) {
    #expect(article.slug == "first" && article.title == "Title")
    #expect(article.status == .review && article.priority == .high && article.level == .two)
    #expect(article.settings == Settings(theme: "dark", sizes: [1, 2]) && article.scores == ["a": 1])
    #expect(article.words == ["one", "two"] && article.keywords == ["k"])
    #expect(article.place == Place(latitude: 1.5, longitude: -2, name: nil))
    #expect(article.everything == Self.everything)
  }

  @Test("What was set is read before the save, after it, and from the store")
  func roundTrip() throws {
    let stack = try Stack(Self.types)
    let context = stack.context()
    let article = Article(context: context)
    let author = Author(context: context)
    author.name = "Ann"
    fill(article)
    article.author = author
    for name in ["x", "y"] {
      let topic = Topic(context: context)
      topic.name = name
      article.addToTopics(topic)
    }
    check(article)
    try context.save()
    check(article)
    context.reset()
    let request = Article.fetchRequest()
    request.predicate = NSPredicate(
      format: "status_raw == %@ AND priority == 9 AND name BEGINSWITH 'T' AND author.name == 'Ann'", "review")
    request.sortDescriptors = [
      NSSortDescriptor(key: "status_raw", ascending: true), NSSortDescriptor(key: "slug", ascending: false),
    ]
    let found = try #require(try context.fetch(request).first)
    check(found)
    // Twice: what is decoded once is kept.
    check(found)
    #expect(found.scratch == nil && found.cache == [])
    #expect(found.author?.articles == [found] && found.topics.map(\.name) == ["x", "y"])
    #expect(try #require(found.topics.first).articles == [found])
  }

  @Test(
    "Rows that differ in every storage are filtered and sorted as they were written, and slugs stay unique")
  func manyRows() throws {
    let stack = try Stack(
      model: try NSManagedObjectModel.makeRuntimeModel(Self.types, compositions: .columns))
    let context = stack.context()
    let statuses: [Status] = [.draft, .review, .published]
    let authors = ["Ann", "Ben"].map { name in
      let author = Author(context: context)
      author.name = name
      return author
    }
    for number in 0..<12 {
      let article = Article(context: context)
      article.slug = "s\(number)"
      article.title = "Title \(11 - number)"
      article.status = statuses[number % 3]
      article.priority = [nil, .low, .high][number % 4 % 3]
      article.level = number.isMultiple(of: 2) ? .one : .two
      article.settings = Settings(theme: "t\(number)", sizes: [number])
      article.words = ["w\(number)"]
      article.place = Place(latitude: Double(number), longitude: -1, name: number < 6 ? "low" : nil)
      article.scratch = "gone"
      article.author = authors[number % 2]
    }
    try context.save()
    context.reset()

    func slugs(_ predicate: NSPredicate, _ sort: [NSSortDescriptor]) throws -> [String] {
      let request = Article.fetchRequest()
      (request.predicate, request.sortDescriptors) = (predicate, sort)
      return try context.fetch(request).map(\.slug)
    }
    let bySlug = [NSSortDescriptor(key: "slug", ascending: true)]
    let byName = [try NSSortDescriptor(Article.self, path: Article.path.title, order: .desc)]
    #expect(try slugs(Article.path.status.equals(.published), bySlug) == ["s11", "s2", "s5", "s8"])
    #expect(
      try slugs(NSPredicate(format: "priority == nil"), bySlug) == ["s0", "s11", "s3", "s4", "s7", "s8"])
    #expect(try slugs(Article.path.priority.equals(.high), bySlug) == ["s10", "s2", "s6"])
    #expect(try slugs(Article.path.place.latitude.lessThan(3), byName) == ["s2", "s0", "s1"])
    #expect(
      try slugs(NSPredicate(format: "author.name == 'Ben' AND level == 2 AND status_raw != 'draft'"), bySlug)
        == ["s1", "s11", "s5", "s7"])
    let ordered = try slugs(
      NSPredicate(value: true),
      [
        NSSortDescriptor(key: "status_raw", ascending: false),
        try NSSortDescriptor(
          Article.self, path: Article.path.place.latitude, order: .desc),
      ])
    // Review, published, draft; within each the northernmost first.
    #expect(ordered == [10, 7, 4, 1, 11, 8, 5, 2, 9, 6, 3, 0].map { "s\($0)" })
    for article in try context.fetch(Article.fetchRequest()) {
      let number = try #require(Int(article.slug.dropFirst()))
      #expect(article.title == "Title \(11 - number)" && article.words == ["w\(number)"])
      #expect(article.settings == Settings(theme: "t\(number)", sizes: [number]) && article.scratch == nil)
      #expect(
        article.place == Place(latitude: Double(number), longitude: -1, name: number < 6 ? "low" : nil))
      #expect(article.author?.articles.count == 6 && article.author?.articles.contains(article) == true)
    }

    let twin = Article(context: context)
    twin.slug = "s3"
    twin.title = "second of its name"
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .uniquenessConflict && error?.entity == "Article" && error?.property == "slug")
    #expect(twin.isInserted && twin.title == "second of its name")
    twin.slug = "s12"
    try context.save()
    #expect(try context.count(for: Article.fetchRequest()) == 13)
  }

  @Test("#Predicate compares raw storage with the enumeration's values")
  func predicateMacro() throws {
    let context = try Stack(Self.types).context()
    for (slug, status) in [("a", Status.review), ("b", .draft), ("c", .review)] {
      let article = Article(context: context)
      (article.slug, article.status) = (slug, status)
    }
    try context.save()
    let wanted = Status.review
    let request = Article.fetchRequest()
    request.predicate = NSPredicate(#Predicate<Article> { $0.status == wanted && $0.slug != "a" })
    #expect(try context.fetch(request).map(\.slug) == ["c"])
  }

  @Test("Nil is read as nil, and written over a value")
  func nothing() throws {
    let stack = try Stack(Self.types)
    let context = stack.context()
    let article = Article(context: context)
    fill(article)
    try context.save()
    article.priority = nil
    article.settings = nil
    article.scores = nil
    article.words = nil
    article.keywords = nil
    article.place = nil
    article.everything = nil
    try context.save()
    for _ in 0..<2 {
      #expect(article.priority == nil && article.settings == nil && article.scores == nil)
      #expect(article.words == nil && article.keywords == nil)
      #expect(article.place == nil && article.everything == nil)
      context.refresh(article, mergeChanges: false)
    }
  }

  @Test("A changed value is not hidden by the one decoded before")
  func changes() throws {
    let stack = try Stack(Self.types)
    let context = stack.context()
    let article = Article(context: context)
    fill(article)
    try context.save()
    check(article)
    article.settings?.sizes.append(3)
    article.place?.name = "here"
    article.words?.append("three")
    #expect(article.settings?.sizes == [1, 2, 3] && article.place?.name == "here")
    #expect(article.words == ["one", "two", "three"])
    article.setValue(Data(#"{"theme":"x","sizes":[]}"#.utf8), forKey: "settings")
    #expect(article.settings == Settings(theme: "x"))
    article.setValue(["latitude": 3, "lng": NSNumber(value: 4)] as [String: Any], forKey: "place")
    #expect(article.place == Place(latitude: 3, longitude: 4, name: nil))
    context.rollback()
    check(article)
  }

  @Test("Stored values that do not decode give the default or nil")
  func failures() throws {
    let stack = try Stack(Self.types)
    let context = stack.context()
    let article = Article(context: context)
    article.setValue("unheard of", forKey: "status_raw")
    article.setValue(5, forKey: "priority")
    article.setValue(77, forKey: "level")
    article.setValue(Data("{".utf8), forKey: "settings")
    article.setValue(["lng": 1.0], forKey: "place")
    article.setValue(["k": 1], forKey: "keywords")
    #expect(article.status == .draft && article.priority == nil && article.level == .two)
    #expect(article.settings == nil && article.place == nil && article.keywords == nil)
  }

  @Test("A raw default is the model's, so that a new object can be saved at once")
  func rawDefault() throws {
    let model = try NSManagedObjectModel.makeRuntimeModel(Self.types)
    let attributes = try #require(model.entitiesByName["Article"]).attributesByName
    #expect(attributes["status_raw"]?.defaultValue as? String == "draft")
    #expect(attributes["level"]?.defaultValue as? Int64 == 2)
    #expect(attributes["priority"]?.defaultValue == nil)
    let stack = try Stack(Self.types)
    let context = stack.context()
    _ = Article(context: context)
    try context.save()
    let request = Article.fetchRequest()
    request.predicate = NSPredicate(format: "status_raw == 'draft'")
    #expect(try context.count(for: request) == 1)
  }

  @Test("The schema says how each attribute is stored")
  func schema() throws {
    let schema = Article.__cdRuntimeEntitySchema
    let storage = Dictionary(uniqueKeysWithValues: schema.attributes.map { ($0.swiftName, $0.storage) })
    #expect(storage["status"] == .raw(backingTypeName: "String"))
    #expect(storage["priority"] == .raw(backingTypeName: "Int16"))
    #expect(storage["level"] == .raw(backingTypeName: "Int"))
    #expect(storage["settings"] == .codable)
    #expect(storage["words"] == .transformed(transformerName: "Words"))
    #expect(storage["keywords"] == .transformed(transformerName: "NSSecureUnarchiveFromData"))
    #expect(storage["place"] == .composition(fields: Place.__cdRuntimeCompositionFields))
    #expect(Place.__cdRuntimeCompositionFields.map(\.persistentName) == ["latitude", "lng", "name"])
    #expect(Place.__cdRuntimeCompositionFields.map(\.isOptional) == [false, false, true])
    #expect(schema.uniquenessConstraints.map(\.persistentPropertyNames) == [["slug"]])
    #expect(Article.Keys.status.rawValue == "status_raw")
    let model = try NSManagedObjectModel.makeRuntimeModel(Self.types)
    let attributes = try #require(model.entitiesByName["Article"]).attributesByName
    #expect(attributes["settings"]?.attributeType == .binaryDataAttributeType)
    #expect(attributes["words"]?.valueTransformerName == "Words")
    #expect(attributes["place"]?.attributeType == .transformableAttributeType)
    #expect(attributes["place"]?.valueTransformerName == "NSSecureUnarchiveFromData")
  }
}

@PersistentModel
private final class Strict: NSManagedObject {
  @Attribute(storageMethod: .raw) var status: Status
  @Attribute(storageMethod: .raw, decodeFailurePolicy: .debugAssertNil) var checked: Status?
  @Attribute(storageMethod: .codable, decodeFailurePolicy: .debugAssertNil) var settings: Settings?
  @Attribute(
    storageMethod: .transformed(name: "NSSecureUnarchiveFromData"), decodeFailurePolicy: .debugAssertNil)
  var words: [String]?
}

private struct Reading: Codable, Equatable {
  var value: Double
}

@PersistentModel
private final class Gauge: NSManagedObject {
  var name: String
  @Attribute(storageMethod: .codable) var reading: Reading?
  @Attribute(storageMethod: .codable, decodeFailurePolicy: .debugAssertNil) var checked: Reading?
}

/// A class that is no model: its attributes go by key.
private final class ByKey: NSManagedObject {
  @Attribute var share: Float
  @Attribute var count: Int?
  @Attribute var title: String
  @Attribute(storageMethod: .raw) var status: Status = .review
  @Attribute(storageMethod: .raw) var priority: Priority?
  @Attribute(storageMethod: .codable) var settings: Settings?
  @Attribute(storageMethod: .transformed(name: "NSSecureUnarchiveFromData")) var words: [String]?
  @Attribute(storageMethod: .composition) var place: Place?
}

@Suite("What does not decode, and who asks")
struct DecodeFailureTests {
  @Test("A raw property without a default reads its first case over a value of no case, and blocks the save")
  func required() throws {
    let stack = try Stack([Strict.self])
    let context = stack.context()
    let object = Strict(context: context)
    object.setValue("unheard of", forKey: "status")
    #expect(object.status == .draft)
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .unreadValue)
    #expect(
      error?.message.contains("Strict.status holds unheard of, which is no raw value of Status") == true)
  }

  @Test("The asserting policy stops debug builds, and only over a value that is there")
  func asserting() async throws {
    let object = Strict(context: try Stack([Strict.self]).context())
    #expect(object.checked == nil && object.settings == nil && object.words == nil)
    (object.checked, object.settings, object.words) = (.draft, Settings(), ["a"])
    #expect(object.checked == .draft && object.settings == Settings() && object.words == ["a"])
    #if DEBUG
      let raw = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let object = Strict(context: try Stack([Strict.self]).context())
        object.setValue("x", forKey: "checked")
        _ = object.checked
      }
      #expect(raw?.text.contains("Strict.checked holds x") == true)
      let codable = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let object = Strict(context: try Stack([Strict.self]).context())
        object.setValue(Data("{".utf8), forKey: "settings")
        _ = object.settings
      }
      #expect(codable?.text.contains("Strict.settings holds no value of Settings") == true)
      let transformed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let object = Strict(context: try Stack([Strict.self]).context())
        object.setValue([1], forKey: "words")
        _ = object.words
      }
      #expect(transformed?.text.contains("Strict.words holds no value of Array<String>") == true)
    #endif
  }

  @Test("A required property without a value ends the program, naming it; one that is gone reads as zero")
  func missing() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Gauge(context: try Stack([Gauge.self]).context()).name
    }
    #expect(result?.text.contains("Gauge.name is required and has no value. Set it before reading") == true)
    let byKey = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let entity = entity("ByKey", ByKey.self, [attribute("title", .stringAttributeType)])
      _ = ByKey(context: try Stack(model: model(entity)).context()).title
    }
    #expect(byKey?.text.contains("ByKey.title is required and has no value") == true)
    let context = try Stack([Gauge.self]).context()
    let gauge = Gauge(context: context)
    gauge.name = "n"
    try context.save()
    context.delete(gauge)
    try context.save()
    #expect(gauge.name == "" || gauge.name == "n")
  }

  @Test("A value that can't be encoded is stored as nil, whatever was there before")
  func notEncodable() async throws {
    let context = try Stack([Gauge.self]).context()
    let gauge = Gauge(context: context)
    gauge.name = "n"
    gauge.reading = Reading(value: 1)
    try context.save()
    gauge.reading = Reading(value: .infinity)
    #expect(gauge.reading == nil)
    try context.save()
    context.refresh(gauge, mergeChanges: false)
    #expect(gauge.reading == nil && gauge.name == "n")
    #if DEBUG
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let gauge = Gauge(context: try Stack([Gauge.self]).context())
        gauge.checked = Reading(value: .nan)
      }
      #expect(
        result?.text.contains("Gauge.checked can't be encoded as JSON, so nil is stored") == true)
    #endif
  }

  @Test("Outside a model the same storage goes by key")
  func byKey() throws {
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [
      attribute("latitude", .doubleAttributeType), attribute("lng", .doubleAttributeType),
      attribute("name", .stringAttributeType),
    ]
    let words = attribute("words", .transformableAttributeType)
    let stack = try Stack(
      model: model(
        entity(
          "ByKey", ByKey.self,
          [
            attribute("status", .stringAttributeType), attribute("priority", .integer16AttributeType),
            attribute("settings", .binaryDataAttributeType), words, place,
            // Of other types than the class says.
            attribute("share", .doubleAttributeType), attribute("count", .stringAttributeType),
            attribute("title", .stringAttributeType),
          ])))
    let context = stack.context()
    let object = ByKey(context: context)
    #expect(object.status == .review && object.priority == nil && object.settings == nil)
    object.status = .published
    object.priority = .low
    object.settings = Settings(theme: "t")
    object.words = ["w"]
    object.place = Place(latitude: 1, longitude: 2, name: "n")
    object.share = 0.25
    object.title = "by key"
    object.setValue("7", forKey: "count")
    try context.save()
    context.refresh(object, mergeChanges: false)
    #expect(object.share == 0.25 && object.title == "by key" && object.count == nil)
    #expect(object.status == .published && object.priority == .low)
    #expect(object.settings == Settings(theme: "t") && object.words == ["w"])
    #expect(object.place == Place(latitude: 1, longitude: 2, name: "n"))
  }
}

@Suite("Compositions in columns")
struct CompositionColumnsTests {
  init() { WordsTransformer.register() }

  private func stack() throws -> Stack {
    try Stack(
      model: try NSManagedObjectModel.makeRuntimeModel(AttributeStorageTests.types, compositions: .columns))
  }

  @Test("Fields have columns, which predicates and sort descriptors use")
  func columns() throws {
    let context = try stack().context()
    // A column keeps a decimal as a number of SQLite's, with 15 digits.
    var everything = AttributeStorageTests.everything
    everything.decimal = Decimal(string: "-1.25")!
    for (index, latitude) in [3.0, 1.0, 2.0].enumerated() {
      let article = Article(context: context)
      article.slug = "\(index)"
      article.place = Place(latitude: latitude, longitude: -latitude, name: index == 0 ? "first" : nil)
      article.everything = everything
    }
    let nowhere = Article(context: context)
    nowhere.slug = "nowhere"
    try context.save()
    context.reset()
    let request = Article.fetchRequest()
    request.predicate = NSPredicate(format: "place.latitude > 1.5 AND place.lng < 0")
    request.sortDescriptors = [NSSortDescriptor(key: "place.latitude", ascending: true)]
    let found = try context.fetch(request)
    #expect(found.map(\.slug) == ["2", "0"])
    #expect(found.map(\.place?.name) == [nil, "first"])
    #expect(found.first?.everything == everything)
    request.predicate = NSPredicate(format: "place.latitude == nil")
    #expect(try context.fetch(request).map(\.place) == [nil])
    found[0].place?.latitude = 9
    found[1].place = nil
    try context.save()
    context.reset()
    request.predicate = NSPredicate(format: "place.latitude == 9 AND place.name == nil")
    #expect(try context.fetch(request).map(\.slug) == ["2"])
    request.predicate = NSPredicate(format: "place.latitude == nil")
    #expect(try context.count(for: request) == 2)
  }

  @Test("Both layouts are models of their own for the same classes")
  func layouts() throws {
    let types = AttributeStorageTests.types
    let dictionary = try NSManagedObjectModel.makeRuntimeModel(types)
    let columns = try NSManagedObjectModel.makeRuntimeModel(types, compositions: .columns)
    #expect(dictionary !== columns)
    #expect(try NSManagedObjectModel.makeRuntimeModel(types) === dictionary)
    let place =
      columns.entitiesByName["Article"]?.attributesByName["place"] as? NSCompositeAttributeDescription
    #expect(place?.elements.map(\.name) == ["latitude", "lng", "name"])
    #expect(
      place?.elements.map(\.attributeType) == [
        .doubleAttributeType, .doubleAttributeType, .stringAttributeType,
      ])
  }
}
