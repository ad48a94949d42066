import CDESwiftData
import Foundation
import Testing

@Suite("Forms of model classes")
struct ModelFormTests {
  @Test("Access levels and nesting are the class's own")
  func access() throws {
    let entry = Catalogue.Entry(7)
    entry.rename("a")
    entry.code = 3
    #expect(entry.label == "a 7 a" && entry.kind == "entry" && Catalogue.Entry.limit == 3)
    #expect(Catalogue.draftText() == "a" && Catalogue.Page().number == 0)
    #expect(Catalogue.Section().heading() == "")
    let context = ModelContext(try .inMemory(Catalogue.Entry.self))
    context.insert(entry)
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Catalogue.Entry>()).first
    #expect(found?.label == "a 7 a" && found?.code == 3 && found?.kind == "entry")
  }

  @Test("Initialisers may fail, throw and be generic")
  func initialisers() throws {
    #expect(Ticket("a", rank: -1) == nil)
    #expect(throws: CocoaError.self) { try Ticket(checking: "") }
    let tickets = [try #require(Ticket("a", rank: 2)), Ticket(number: UInt8(1)), Ticket(half: 3)]
    #expect(tickets.sorted().map(\.description) == ["1 1", "a 2", "6 6"])
    #expect(tickets[2].half == 3)
    tickets[2].half = 4
    #expect(tickets[2].rank == 8)
  }

  @Test("A model may have an identity and properties of protocols, and is still known by its row")
  func ownIdentity() throws {
    let context = ModelContext(try .inMemory(Ticket.self))
    let ticket = try Ticket(checking: "a")
    let id: UUID = ticket.id
    context.insert(ticket)
    try context.save()
    var titled: any HasSettableTitle = ticket
    titled.title = "b"
    #expect(ticket.title == "b" && ticket.shout() == "B")
    #expect(context.model(for: ticket.persistentModelID) === ticket && ticket.id == id)
    let found = try context.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.id == id }))
    #expect(found == [ticket] && ticket.implicit == "x" && !ticket.isOpen && ticket.cache == nil)
    ticket.implicit = nil
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Ticket>()).first?.implicit == nil)
  }

  private func areEqual<Value: Equatable>(_ one: Value, _ other: Value) -> Bool { one == other }

  @Test("An equality of the class's own counts, in the class and in an extension")
  func ownEquality() {
    #expect(areEqual(Coin(cents: 1), Coin(cents: 1)) && !areEqual(Coin(cents: 1), Coin(cents: 2)))
    #expect(Set([Coin(cents: 1), Coin(cents: 1)]).count == 1)
    let (first, same) = (Note(cents: 1, previous: Note(cents: 5)), Note(cents: 1, previous: Note(cents: 5)))
    #expect(areEqual(first, same) && first == same && first !== same)
    #expect(!areEqual(first, Note(cents: 1)) && !areEqual(first, Note(cents: 2)))
    #expect([first].contains(same) && Set([first, same]).count == 1)
  }

  @Test("Without an equality of its own a model equals itself alone")
  func equality() {
    let (one, other) = (Singer(name: "a"), Singer(name: "a"))
    #expect(areEqual(one, one) && !areEqual(one, other) && one == one && one != other)
    #expect([one, other].firstIndex(of: other) == 1 && Set([one, other, one]).count == 2)
  }

  @Test("A model may be coded, and its relationships to such models are read by key path")
  func coding() throws {
    let song = try JSONDecoder().decode(
      Song.self, from: JSONEncoder().encode(Song(title: "a")))
    let singer = try JSONDecoder().decode(Singer.self, from: Data(#"{"name":"b"}"#.utf8))
    song.singers.append(singer)
    singer.setValue(forKey: \.favourite, to: song)
    #expect(song.title == "a" && singer.songs == [song])
    #expect(song.getValue(forKey: \.singers) == [singer] && singer.getValue(forKey: \.favourite) === song)
    song.setValue(forKey: \.singers, to: [])
    #expect(singer.songs.isEmpty)
    let context = ModelContext(try .inMemory(Song.self))
    // No property of the song leads to the singer.
    context.insert(singer)
    try context.save()
    #expect(song.modelContext === context)
    #expect(try context.fetchCount(FetchDescriptor<Singer>()) == 1)
  }

  @Test("Observers of a property run when it is set, as those of a stored property")
  func observers() throws {
    let dial = Dial(level: 1)
    #expect(dial.changes == 0 && dial.log.isEmpty)
    dial.level = 3
    dial.level = 3
    #expect(dial.changes == 2 && dial.log == ["1 to 3"])
    dial.level += 20
    #expect(dial.level == 10 && dial.changes == 3)
    dial.name = "b"
    dial.mark = 2
    #expect(dial.log == ["1 to 3", "3 to 23", "was dial", "mark 2"])
    let context = ModelContext(try .inMemory(Dial.self))
    context.insert(dial)
    try context.save()
    let found = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Dial>()).first)
    #expect(found.level == 10 && found.changes == 3 && found.log.isEmpty)
    found.level = 4
    #expect(found.log == ["10 to 4"])
  }
}
