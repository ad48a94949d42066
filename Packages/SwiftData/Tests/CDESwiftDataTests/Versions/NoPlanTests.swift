import CDEModelRuntime
import CDESwiftData
import Foundation
import Testing

@Suite("A container without a migration plan", .onSQLite)
struct NoPlanTests {
  /// A store with one letter.
  private func store() throws -> URL {
    let url = try TemporaryStore().url
    let context = ModelContext(
      try ModelContainer(for: LettersV1.Letter.self, configurations: ModelConfiguration(url: url)))
    let letter = LettersV1.Letter(text: "Dear Ann", stamp: "80")
    letter.tags = [LettersV1.Tag(name: "family")]
    context.insert(letter)
    try context.save()
    return url
  }

  private func open<Model: PersistentModel>(_ type: Model.Type, _ url: URL) throws -> [Model] {
    let container = try ModelContainer(for: type, configurations: ModelConfiguration(url: url))
    return try ModelContext(container).fetch(FetchDescriptor<Model>())
  }

  @Test("What can be inferred is migrated: new, renamed and removed properties, models and relationships")
  func inferred() throws {
    let letters = try open(LettersV2.Letter.self, store())
    #expect(letters.map(\.body) == ["Dear Ann"] && letters.map(\.pages) == [1])
    #expect(letters.map(\.tags.count) == [1] && letters[0].tags[0].name == "family")
    #expect(
      letters[0].sender == nil && letters[0].state == .draft && letters[0].size == Size(width: 21, height: 29)
    )
  }

  @Test(
    "Renamed properties keep their values: enumerations, structures and relationships, also if the new name was another's"
  )
  func renamed() throws {
    let url = try TemporaryStore().url
    do {
      let configuration = ModelConfiguration(url: url)
      let context = ModelContext(
        try ModelContainer(for: ParcelsV1.Parcel.self, configurations: configuration))
      let parcel = ParcelsV1.Parcel()
      (parcel.state, parcel.newState, parcel.way, parcel.size) = (
        "old", .sent, .air(7), Size(width: 3, height: 4)
      )
      parcel.sender = ParcelsV1.Person()
      context.insert(parcel)
      try context.save()
    }
    let found = try open(ParcelsV2.Parcel.self, url)
    #expect(found.map(\.state) == [.sent] && found.map(\.route) == [.air(7)])
    #expect(found.map(\.extent) == [Size(width: 3, height: 4)] && found.map { $0.from != nil } == [true])
  }

  @Test("An identifier that is kept does not keep its store open, and names the model after the migration")
  func keptIdentifier() throws {
    let url = try TemporaryStore().url
    var id: PersistentIdentifier?
    do {
      let context = ModelContext(
        try ModelContainer(for: LettersV1.Letter.self, configurations: ModelConfiguration(url: url)))
      let letter = LettersV1.Letter(text: "Dear Ann", stamp: "80")
      context.insert(letter)
      try context.save()
      id = letter.persistentModelID
    }
    let letters = try open(LettersV2.Letter.self, url)
    #expect(letters.map(\.persistentModelID) == [id])
  }

  @Test("A model and a container that are kept do not stop a migration either")
  func keptContainer() throws {
    let url = try TemporaryStore().url
    var container = try ModelContainer(
      for: LettersV1.Letter.self, configurations: ModelConfiguration(url: url))
    let letter = LettersV1.Letter(text: "Dear Ann", stamp: "80")
    let context = ModelContext(container)
    context.insert(letter)
    try context.save()
    container = try ModelContainer(for: LettersV2.Letter.self, configurations: ModelConfiguration(url: url))
    #expect(
      try ModelContext(container).fetch(FetchDescriptor<LettersV2.Letter>()).map(\.body) == ["Dear Ann"])
    #expect(letter.text == "Dear Ann")
    #expect(throws: (any Error).self) { try context.fetch(FetchDescriptor<LettersV1.Letter>()) }
  }

  @Test("A required property without a default is an error that names it, and the file is untouched")
  func required() throws {
    let url = try store()
    let before = try Garden.contents(url)
    let error = try #require(throws: SwiftDataError.self) { try open(RequiredLetter.Letter.self, url) }
    #expect(error.code == SwiftDataError.loadIssueModelContainer.code && error.cause is ManagedObjectError)
    #expect(error.message.contains("Letter.date"), "\(error.message)")
    #expect(try Garden.contents(url) == before)
    #expect(try open(LettersV1.Letter.self, url).count == 1)
  }

  @Test("Another type of a property is an error that names it, and the file is untouched")
  func otherType() throws {
    let url = try store()
    let before = try Garden.contents(url)
    let error = try #require(throws: SwiftDataError.self) { try open(OtherLetter.Letter.self, url) }
    #expect(error.code == SwiftDataError.loadIssueModelContainer.code)
    #expect(error.message.contains("Letter.text"), "\(error.message)")
    #expect(try Garden.contents(url) == before)
  }

  @Test("A required property with a default has it in all rows")
  func defaults() throws {
    let url = try store()
    #expect(try open(DefaultLetter.Letter.self, url).map(\.date) == [Date(timeIntervalSinceReferenceDate: 0)])
  }

  @Test("A store without rows takes a required property without a default")
  func empty() throws {
    let url = try TemporaryStore().url
    _ = try ModelContainer(for: LettersV1.Letter.self, configurations: ModelConfiguration(url: url))
    #expect(try open(RequiredLetter.Letter.self, url).isEmpty)
  }

  @Test("A file that is no store is an error, and stays as it is")
  func noStore() throws {
    let url = try TemporaryStore().url
    let text = Data("This is a letter, and no database.".utf8)
    try text.write(to: url)
    #expect(throws: SwiftDataError.loadIssueModelContainer) { try open(LettersV1.Letter.self, url) }
    #expect(try Data(contentsOf: url) == text)
  }

  @Test("A store that may not be saved to is not migrated")
  func readOnly() throws {
    let url = try store()
    let before = try Garden.contents(url)
    #expect(throws: SwiftDataError.loadIssueModelContainer) {
      try ModelContainer(
        for: LettersV2.Letter.self, configurations: ModelConfiguration(url: url, allowsSave: false))
    }
    #expect(try Garden.contents(url) == before)
  }

  struct Size: Codable, Equatable {
    var width: Int
    var height: Int
  }
}

enum LettersV1 {
  @Model
  final class Letter {
    var text: String
    var stamp: String
    @Relationship(inverse: \Tag.letters) var tags: [Tag] = []
    init(text: String, stamp: String) {
      self.text = text
      self.stamp = stamp
    }
  }

  @Model
  final class Tag {
    var name: String
    var letters: [Letter] = []
    init(name: String) { self.name = name }
  }
}

enum LettersV2 {
  @Model
  final class Letter {
    @Attribute(originalName: "text") var body: String
    var pages = 1
    var state = State.draft
    var size = NoPlanTests.Size(width: 21, height: 29)
    var sender: Sender?
    @Relationship(inverse: \Tag.letters) var tags: [Tag] = []
    init(body: String) { self.body = body }
    enum State: String, Codable { case draft, sent }
  }

  @Model
  final class Tag {
    var name: String
    var letters: [Letter] = []
    init(name: String) { self.name = name }
  }

  @Model
  final class Sender {
    var name: String
    @Relationship(inverse: \Letter.sender) var sent: [Letter] = []
    init(name: String) { self.name = name }
  }
}

enum ParcelState: String, Codable { case draft, sent }
enum ParcelWay: Codable, Equatable {
  case ground
  case air(Int)
}

enum ParcelsV1 {
  @Model
  final class Parcel {
    var state = ""
    var newState = ParcelState.draft
    var way = ParcelWay.ground
    var size = NoPlanTests.Size(width: 1, height: 1)
    var sender: Person?
    init() {}
  }

  @Model
  final class Person {
    @Relationship(inverse: \Parcel.sender) var sent: [Parcel] = []
    init() {}
  }
}

enum ParcelsV2 {
  @Model
  final class Parcel {
    @Attribute(originalName: "newState") var state = ParcelState.draft
    @Attribute(originalName: "way") var route = ParcelWay.ground
    @Attribute(originalName: "size") var extent = NoPlanTests.Size(width: 1, height: 1)
    @Relationship(originalName: "sender") var from: Person?
    init() {}
  }

  @Model
  final class Person {
    @Relationship(inverse: \Parcel.from) var sent: [Parcel] = []
    init() {}
  }
}

enum RequiredLetter {
  @Model
  final class Letter {
    var text: String
    var stamp: String
    var date: Date
    init(text: String, stamp: String, date: Date) {
      self.text = text
      self.stamp = stamp
      self.date = date
    }
  }
}

enum DefaultLetter {
  @Model
  final class Letter {
    var text: String
    var stamp: String
    var date = Date(timeIntervalSinceReferenceDate: 0)
    init(text: String, stamp: String) {
      self.text = text
      self.stamp = stamp
    }
  }
}

enum OtherLetter {
  @Model
  final class Letter {
    var text: Date
    var stamp: String
    init(text: Date, stamp: String) {
      self.text = text
      self.stamp = stamp
    }
  }
}
