import CDESwiftData
import Foundation

// Classes in the forms that programs have.

public enum Catalogue {
  @Model
  public final class Entry {
    public private(set) var name: String
    public internal(set) var count = 0
    package var code: Int?
    private var secret = "s"
    let kind = "entry"
    public var label: String { "\(name) \(count) \(secret)" }
    public static let limit = 3

    public init(name: String) { self.name = name }

    public convenience init(_ number: Int) {
      self.init(name: "\(number)")
      count = number
    }

    public func rename(_ new: String) { (name, secret) = (new, new) }
  }

  @Model
  package final class Page {
    package var number: Int = 0
    package init() {}
  }

  @Model
  fileprivate final class Draft {
    var text: String = ""
    init() {}
  }

  @Model
  open class Section {
    public var title: String = ""
    public init() {}
    open func heading() -> String { title }
  }

  /// Makes and reads a model that only this file knows.
  static func draftText() -> String {
    let draft = Draft()
    draft.text = "a"
    return draft.text
  }
}

protocol HasTitle { var title: String { get } }
protocol HasSettableTitle: HasTitle { var title: String { get set } }
extension HasTitle {
  func shout() -> String { title.uppercased() }
}

/// Own identity, order and text, and properties that protocols ask for.
@Model
final class Ticket: HasSettableTitle, Comparable, CustomStringConvertible {
  @Attribute(.unique) var id: UUID
  var title: String
  var rank: Int
  var implicit: String! = "x"
  @Transient var isOpen = false
  @Transient var cache: [Int]?

  init?(_ title: String, rank: Int) {
    if rank < 0 { return nil }
    (id, self.title, self.rank) = (UUID(), title, rank)
  }

  init(checking title: String) throws {
    if title.isEmpty { throw CocoaError(.formatting) }
    id = UUID()
    self.title = title
    rank = 0
  }

  init<Number: BinaryInteger>(number: Number) {
    id = UUID()
    title = "\(number)"
    rank = Int(number)
  }

  var description: String { "\(title) \(rank)" }

  static func < (one: Ticket, other: Ticket) -> Bool { one.rank < other.rank }
}

extension Ticket {
  var half: Int {
    get { rank / 2 }
    set { rank = newValue * 2 }
  }

  convenience init(half: Int) { self.init(number: half * 2) }
}

/// Equal by a value of its own.
@Model
final class Coin {
  var cents: Int
  init(cents: Int) { self.cents = cents }

  static func == (one: Coin, other: Coin) -> Bool { one.cents == other.cents }
  func hash(into hasher: inout Hasher) { hasher.combine(cents) }
}

/// Equal by a value of its own, which an extension says.
@Model
final class Note {
  var cents: Int
  var previous: Note?
  init(cents: Int, previous: Note? = nil) {
    self.cents = cents
    self.previous = previous
  }
}

extension Note {
  static func == (one: Note, other: Note) -> Bool {
    one.cents == other.cents && one.previous == other.previous
  }
  func hash(into hasher: inout Hasher) { hasher.combine(cents) }
}

/// With coding of its own.
@Model
final class Song: Codable {
  private enum CodingKeys: CodingKey { case title, isLive }

  var title: String
  var isLive: Bool = false
  @Relationship(inverse: \Singer.songs) var singers: [Singer] = []

  init(title: String) { self.title = title }

  required init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    title = try values.decode(String.self, forKey: .title)
    isLive = try values.decode(Bool.self, forKey: .isLive)
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(title, forKey: .title)
    try values.encode(isLive, forKey: .isLive)
  }
}

@Model
final class Singer: Codable {
  private enum CodingKeys: CodingKey { case name }

  var name: String
  var songs: [Song] = []
  var favourite: Song?

  init(name: String) { self.name = name }

  required init(from decoder: any Decoder) throws {
    name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
  }
}

/// With observers.
@Model
final class Dial {
  var level: Int {
    willSet(next) {
      if next == level { return }
      log.append("\(level) to \(next)")
    }
    didSet {
      changes += 1
      // A set inside of an observer runs none.
      if level > 10 { level = 10 }
    }
  }
  var name: String = "dial" {
    didSet(former) { log.append("was \(former)") }
  }
  var changes = 0
  @Transient var log: [String] = []
  @Transient var mark = 0 { didSet { log.append("mark \(mark)") } }

  init(level: Int) { self.level = level }
}

/// Published code declares its models so, to pass them where it knows better.
@Model
final class SharedForm {
  var name: String
  var parts: [String] = []
  @Transient var cache = 0
  @Relationship(inverse: \SharedForm.parent) var children: [SharedForm] = []
  var parent: SharedForm?
  init(name: String) { self.name = name }
}

extension SharedForm: @unchecked Sendable {}
// Guard: each instance is used on the isolation of its context.
