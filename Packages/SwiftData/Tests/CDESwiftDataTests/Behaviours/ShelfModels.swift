import CDESwiftData
import Foundation
import Synchronization
import Testing

// Where a behaviour is known from.
extension Tag {
  /// Apple's documentation, or a session of its conference, says so.
  @Tag static var documented: Self
  /// People who use SwiftData write so.
  @Tag static var widelyKnown: Self
  /// Files that Apple's SwiftData wrote are so.
  @Tag static var readFromFiles: Self
  /// This project decided so, where Apple's framework traps, or leaves it open.
  @Tag static var decided: Self
}

@Model
final class Writer {
  var name: String
  var born: Date?
  @Relationship(deleteRule: .cascade, inverse: \Novel.writer) var novels: [Novel] = []

  init(_ name: String) { self.name = name }
}

@Model
final class Novel {
  var title: String
  var pages: Int
  var rating: Double?
  var writer: Writer?
  var imprint: Imprint?
  var genres: [Genre] = []
  @Relationship(inverse: \Borrowing.novel) var borrowings: [Borrowing]?
  @Transient var isOpen = false
  var added = Date.now

  init(_ title: String, pages: Int = 100, writer: Writer? = nil) {
    self.title = title
    self.pages = pages
    self.writer = writer
  }
}

@Model
final class Genre {
  #Unique<Genre>([\.name])
  var name: String
  var weight = 0
  var novels: [Novel] = []

  init(_ name: String, weight: Int = 0) {
    self.name = name
    self.weight = weight
  }
}

@Model
final class Imprint {
  @Attribute(.unique) var code: String
  var city: String
  @Relationship(deleteRule: .deny, inverse: \Novel.imprint) var novels: [Novel] = []

  init(code: String, city: String) {
    self.code = code
    self.city = city
  }
}

@Model
final class Borrowing {
  var day: Int
  var novel: Novel?
  init(day: Int) { self.day = day }
}

/// Its array has no inverse.
@Model
final class Desk {
  var name: String
  var drawers: [Drawer] = []
  init(_ name: String) { self.name = name }
}

@Model
final class Drawer {
  var label: String
  init(_ label: String) { self.label = label }
}

/// A pair of two columns is unique.
@Model
final class Seat {
  #Unique<Seat>([\.row, \.number])
  var row: String
  var number: Int
  var guest: String
  init(_ row: String, _ number: Int, guest: String) {
    self.row = row
    self.number = number
    self.guest = guest
  }
}

@Model
class Artwork {
  var title: String
  init(title: String) { self.title = title }
}

@Model
class Painting: Artwork {
  var width: Double
  init(title: String, width: Double) {
    self.width = width
    super.init(title: title)
  }
}

@Model
final class Fresco: Painting {
  var wall: String
  init(title: String, width: Double, wall: String) {
    self.wall = wall
    super.init(title: title, width: width)
  }
}

@Model
final class Profile {
  enum Level: Int, Codable { case basic, gold }
  enum Mood: Codable { case calm, wild }
  struct Address: Codable, Equatable {
    var street: String
    var city: String
    var zip: String?
  }

  var key = UUID()
  var level = Level.basic
  var mood: Mood?
  var address: Address
  var second: Address?
  var nicknames: [String] = []
  var scores: [String: Int] = [:]
  @Attribute(.externalStorage) var photo: Data?
  @Attribute(.ephemeral) var cursor = 0
  var price: Decimal = 0
  var site: URL?

  init(_ city: String) { address = Address(street: "Main", city: city) }
}

/// A container in memory with the models of these tests.
enum Shelf {
  static func container() throws -> ModelContainer {
    try .inMemory(
      Writer.self, Novel.self, Genre.self, Imprint.self, Borrowing.self, Desk.self, Drawer.self, Seat.self,
      Artwork.self, Painting.self, Fresco.self, Profile.self)
  }

  static func context() throws -> ModelContext { ModelContext(try container()) }

  /// A context with a writer of three saved novels.
  static func filled() throws -> (ModelContext, Writer) {
    let context = try context()
    let writer = Writer("Ann")
    context.insert(writer)
    for (title, pages) in [("One", 100), ("Two", 200), ("Three", 300)] {
      writer.novels.append(Novel(title, pages: pages))
    }
    try context.save()
    return (context, writer)
  }
}

extension ModelContext {
  func all<T: PersistentModel>(_ type: T.Type) throws -> [T] { try fetch(FetchDescriptor<T>()) }
  func count<T: PersistentModel>(_ type: T.Type) throws -> Int { try fetchCount(FetchDescriptor<T>()) }
  /// The instance of the same row.
  func same<T: PersistentModel>(_ model: T) throws -> T {
    try #require(self.model(for: model.persistentModelID) as? T)
  }
}

/// The notifications of a context.
final class Heard: Sendable {
  struct Note: Sendable {
    var name: Notification.Name
    var ids: [String: [PersistentIdentifier]] = [:]
    var keys: Set<String> = []
  }
  private let log = Mutex<[Note]>([])
  private let token: Mutex<(any NSObjectProtocol)?>

  init(_ name: Notification.Name, of context: ModelContext?) {
    token = Mutex(nil)
    // The observer runs where the notification is posted.
    let made = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
      [weak self] note in
      var heard = Note(name: note.name)
      for (key, value) in note.userInfo ?? [:] {
        guard let key = key as? String else { continue }
        heard.keys.insert(key)
        if let ids = value as? [PersistentIdentifier] { heard.ids[key] = ids }
      }
      self?.log.withLock { [heard] in $0.append(heard) }
    }
    token.withLock { [made = Carried(made)] in $0 = made.value }
  }

  private struct Carried: @unchecked Sendable {
    // Guard: given from the initialiser to its own lock.
    let value: any NSObjectProtocol
    init(_ value: any NSObjectProtocol) { self.value = value }
  }

  var notes: [Note] { log.withLock { $0 } }

  func stop() { token.withLock { if let token = $0 { NotificationCenter.default.removeObserver(token) } } }
}

/// Counts the wakes of a reader.
final class Wakes: Sendable {
  private let number = Mutex(0)
  var count: Int { number.withLock { $0 } }

  init(_ read: () -> Void) {
    withObservationTracking(read) { [weak self] in self?.number.withLock { $0 += 1 } }
  }
}
