import CDESwiftData
import Foundation

@Model
final class Atlas: Volume {
  var scale: Int

  init(title: String, scale: Int) {
    self.scale = scale
    super.init(title: title)
  }
}

@Model
final class Loan {
  #Index<Loan>([\.due])
  var due: Date
  var reader: Reader?
  var volume: Volume?

  init(due: Date, reader: Reader? = nil, volume: Volume? = nil) {
    self.due = due
    self.reader = reader
    self.volume = volume
  }
}

@Model
final class Reader {
  #Unique<Reader>([\.name, \.joined])
  var address: Address?
  @Attribute(.unique) var card: String
  @Attribute(.preserveValueOnDeletion, originalName: "owed") var fee: Decimal?
  var isActive: Bool = true
  var joined: Date
  var level: Level
  @Relationship(deleteRule: .cascade, inverse: \Loan.reader) var loans: [Loan] = []
  var mood: Mood?
  var name: String?
  @Attribute(.externalStorage) var photo: Data?
  var site: URL?
  var tags: Array<String>
  var visits: Int = 3

  init(
    address: Address? = nil, card: String, fee: Decimal? = nil, joined: Date, level: Level, mood: Mood? = nil,
    name: String? = nil, photo: Data? = nil, site: URL? = nil, tags: Array<String>
  ) {
    self.address = address
    self.card = card
    self.fee = fee
    self.joined = joined
    self.level = level
    self.mood = mood
    self.name = name
    self.photo = photo
    self.site = site
    self.tags = tags
  }

  struct Address: Codable {
    var street: String?
    var city: String?
    var zip: Int?
  }

  enum Level: String, Codable {
    // Reader.level is an enumeration, of which the model has no cases. These are the values that the store has.
    case basic
    case gold
  }

  enum Mood: Codable {
    case calm
    case wild
  }
}

@Model
final class Shelf {
  var room: String
  @Relationship(inverse: \Volume.shelves) var volumes: [Volume] = []

  init(room: String) {
    self.room = room
  }
}

@Model
class Volume {
  @Relationship(deleteRule: .deny, inverse: \Loan.volume) var loans: [Loan] = []
  var shelves: [Shelf]? = []
  var title: String

  init(title: String) {
    self.title = title
  }
}
