import CDESwiftData
import Foundation

/// The classes with which a program made a store. Another program has the store alone.
enum OriginalLibrary {
  @Model
  final class Reader {
    enum Level: String, Codable { case basic, gold }
    enum Mood: Codable { case calm, wild }
    struct Address: Codable, Equatable {
      var street: String
      var city: String
      var zip: Int?
    }

    #Unique<Reader>([\.name, \.joined])
    @Attribute(.unique) var card: String
    var name: String?
    var joined: Date
    var level = Level.basic
    var mood: Mood?
    var address: Address?
    var tags: [String] = []
    @Attribute(.externalStorage) var photo: Data?
    var visits = 3
    var isActive = true
    var site: URL?
    @Attribute(.preserveValueOnDeletion, originalName: "owed") var fee: Decimal?
    @Relationship(deleteRule: .cascade, inverse: \Loan.reader) var loans: [Loan] = []

    init(card: String, joined: Date) { (self.card, self.joined) = (card, joined) }
  }

  @Model
  final class Loan {
    #Index<Loan>([\.due])
    var due: Date
    var reader: Reader?
    var volume: Volume?

    init(due: Date) { self.due = due }
  }

  @Model
  class Volume {
    var title: String
    @Relationship(deleteRule: .deny, inverse: \Loan.volume) var loans: [Loan] = []
    @Relationship(inverse: \Shelf.volumes) var shelves: [Shelf]?

    init(title: String) { self.title = title }
  }

  @Model
  final class Atlas: Volume {
    var scale: Int

    init(title: String, scale: Int) {
      self.scale = scale
      super.init(title: title)
    }
  }

  @Model
  final class Shelf {
    var room: String
    var volumes: [Volume] = []

    init(room: String) { self.room = room }
  }

  static var schema: Schema { Schema([Reader.self, Loan.self, Volume.self, Atlas.self, Shelf.self]) }
}
