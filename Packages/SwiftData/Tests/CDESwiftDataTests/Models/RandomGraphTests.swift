@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation
import Testing

@Model
final class Sailor {
  enum Rank: String, Codable, CaseIterable { case cadet, mate, captain }
  struct Home: Codable, Equatable {
    var port: String
    var berth: Int?
  }

  @Attribute(.unique) var number: Int
  var name: String?
  var rank: Rank = Rank.cadet
  var home: Home?
  var marks: [Int] = []
  var ship: Ship?
  @Relationship(deleteRule: .cascade, inverse: \Medal.owner) var medals: [Medal] = []
  var friends: [Sailor] = []
  @Relationship(inverse: \Sailor.friends) var friendOf: [Sailor] = []

  init(number: Int) { self.number = number }
}

@Model
final class Ship {
  @Attribute(.unique) var number: Int
  @Relationship(deleteRule: .nullify, inverse: \Sailor.ship) var crew: [Sailor]?

  init(number: Int) { self.number = number }
}

@Model
final class Medal {
  @Attribute(.unique) var number: Int
  var owner: Sailor?

  init(number: Int) { self.number = number }
}

/// The same graph as plain values.
private struct Fleet: Equatable {
  struct Person: Equatable {
    var name: String?
    var rank = Sailor.Rank.cadet
    var home: Sailor.Home?
    var marks: [Int] = []
    var ship: Int?
    var medals: Set<Int> = []
    var friends: Set<Int> = []
  }

  var sailors: [Int: Person] = [:]
  var ships: Set<Int> = []
  var medals: Set<Int> = []

  /// The numbers of everything that is related to a number, itself included.
  func reach(_ start: Int) -> Set<Int> {
    var found: Set<Int> = []
    var waiting = [start]
    while let next = waiting.popLast() {
      guard found.insert(next).inserted else { continue }
      for (number, person) in sailors {
        let near = person.friends.union(person.medals).union(person.ship.map { [$0] } ?? [])
        if number == next { waiting += near } else if near.contains(next) { waiting.append(number) }
      }
    }
    return found
  }

  /// The part with these numbers.
  func only(_ numbers: Set<Int>) -> Fleet {
    Fleet(
      sailors: sailors.filter { numbers.contains($0.key) }, ships: ships.intersection(numbers),
      medals: medals.intersection(numbers))
  }

  mutating func remove(_ number: Int) {
    if let person = sailors.removeValue(forKey: number) { medals.subtract(person.medals) }
    ships.remove(number)
    medals.remove(number)
    for key in sailors.keys {
      sailors[key]!.friends.remove(number)
      sailors[key]!.medals.remove(number)
      if sailors[key]!.ship == number { sailors[key]!.ship = nil }
    }
  }

  /// What a context has.
  init(_ context: ModelContext) throws {
    for sailor in try context.fetch(FetchDescriptor<Sailor>()) {
      var person = Person(
        name: sailor.name, rank: sailor.rank, home: sailor.home, marks: sailor.marks,
        ship: sailor.ship?.number)
      person.medals = Set(sailor.medals.map(\.number))
      person.friends = Set(sailor.friends.map(\.number))
      sailors[sailor.number] = person
      // Both sides of each relationship agree.
      for friend in sailor.friends { #expect(friend.friendOf.contains { $0 === sailor }) }
      for medal in sailor.medals { #expect(medal.owner === sailor) }
      if let ship = sailor.ship { #expect(ship.crew?.contains { $0 === sailor } == true) }
    }
    ships = Set(try context.fetch(FetchDescriptor<Ship>()).map(\.number))
    medals = Set(try context.fetch(FetchDescriptor<Medal>()).map(\.number))
  }

  init(sailors: [Int: Person] = [:], ships: Set<Int> = [], medals: Set<Int> = []) {
    (self.sailors, self.ships, self.medals) = (sailors, ships, medals)
  }
}

private struct Difference: Error, CustomStringConvertible {
  let description: String
}

/// A program of random steps over a context and over plain values.
private struct Voyage {
  let container: ModelContainer
  let context: ModelContext
  var random: SplitMix
  var fleet = Fleet()
  /// What the last save wrote.
  var saved = Fleet()
  /// The numbers of models that the context has.
  var inserted: Set<Int> = []
  var sailors: [Int: Sailor] = [:]
  var ships: [Int: Ship] = [:]
  var medals: [Int: Medal] = [:]
  var last = 0
  var log: [String] = []

  init(seed: UInt64) throws {
    random = SplitMix(seed: seed)
    container = try ModelContainer(
      for: Sailor.self, Ship.self, Medal.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(container)
  }

  mutating func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

  mutating func any(_ numbers: some Collection<Int>) -> Int? {
    numbers.isEmpty ? nil : numbers.sorted()[draw(numbers.count)]
  }

  /// A model that is related to one of the context joins it.
  mutating func spread(from number: Int) {
    let reach = fleet.reach(number)
    if !reach.isDisjoint(with: inserted) { inserted.formUnion(reach) }
  }

  mutating func step() throws {
    let choice = draw(100)
    switch choice {
    case 0..<12:
      last += 1
      let number = last
      switch draw(3) {
      case 0:
        sailors[number] = Sailor(number: number)
        fleet.sailors[number] = .init()
      case 1:
        ships[number] = Ship(number: number)
        fleet.ships.insert(number)
      default:
        medals[number] = Medal(number: number)
        fleet.medals.insert(number)
      }
      log.append("make \(number)")
      if draw(2) == 0 { insert(number) }
    case 12..<18:
      if let number = any(
        fleet.sailors.keys.filter { !inserted.contains($0) } + fleet.ships.subtracting(inserted))
      {
        insert(number)
      }
    case 18..<40: values()
    case 40..<55:
      guard let number = any(fleet.sailors.keys) else { return }
      let ship = draw(4) == 0 ? nil : any(fleet.ships)
      log.append("ship of \(number) = \(ship ?? 0)")
      if let ship, draw(2) == 0 {
        if ships[ship]!.crew == nil { ships[ship]!.crew = [] }
        if fleet.sailors[number]!.ship != ship { ships[ship]!.crew!.append(sailors[number]!) }
      } else {
        sailors[number]!.ship = ship.map { ships[$0]! }
      }
      fleet.sailors[number]!.ship = ship
      spread(from: number)
    case 55..<68:
      guard let number = any(fleet.sailors.keys), let friend = any(fleet.sailors.keys) else { return }
      log.append("friend \(friend) of \(number)")
      if fleet.sailors[number]!.friends.remove(friend) != nil {
        sailors[number]!.friends.removeAll { $0.number == friend }
      } else {
        if draw(2) == 0 {
          sailors[number]!.friends.append(sailors[friend]!)
        } else {
          sailors[friend]!.friendOf.append(sailors[number]!)
        }
        fleet.sailors[number]!.friends.insert(friend)
        spread(from: number)
      }
    case 68..<78:
      guard let number = any(fleet.sailors.keys), let medal = any(fleet.medals) else { return }
      log.append("medal \(medal) to \(number)")
      if draw(2) == 0 {
        medals[medal]!.owner = sailors[number]!
      } else if !fleet.sailors[number]!.medals.contains(medal) {
        sailors[number]!.medals.append(medals[medal]!)
      }
      for key in fleet.sailors.keys { fleet.sailors[key]!.medals.remove(medal) }
      fleet.sailors[number]!.medals.insert(medal)
      spread(from: number)
    case 78..<84:
      guard let number = any(inserted) else { return }
      delete(number)
    case 84..<94: try save()
    case 94..<96: try rollBack()
    default: try look()
    }
  }

  mutating func insert(_ number: Int) {
    log.append("insert \(number)")
    if let sailor = sailors[number] { context.insert(sailor) }
    if let ship = ships[number] { context.insert(ship) }
    if let medal = medals[number] { context.insert(medal) }
    inserted.formUnion(fleet.reach(number))
  }

  mutating func values() {
    guard let number = any(fleet.sailors.keys), let sailor = sailors[number] else { return }
    log.append("values of \(number)")
    switch draw(5) {
    case 0:
      sailor.name = draw(3) == 0 ? nil : "N\(draw(100))"
      fleet.sailors[number]!.name = sailor.name
    case 1:
      let rank = Sailor.Rank.allCases[draw(3)]
      sailor.rank = rank
      fleet.sailors[number]!.rank = rank
    case 2:
      let home = draw(3) == 0 ? nil : Sailor.Home(port: "P\(draw(9))", berth: draw(2) == 0 ? nil : draw(50))
      sailor.home = home
      fleet.sailors[number]!.home = home
    case 3:
      sailor.home?.berth = 7
      fleet.sailors[number]!.home?.berth = 7
    default:
      let mark = draw(1_000)
      sailor.marks.append(mark)
      fleet.sailors[number]!.marks.append(mark)
    }
  }

  mutating func delete(_ number: Int) {
    log.append("delete \(number)")
    if let sailor = sailors[number] { context.delete(sailor) }
    if let ship = ships[number] { context.delete(ship) }
    if let medal = medals[number] { context.delete(medal) }
    context.processPendingChanges()
    fleet.remove(number)
    forget()
  }

  /// Drops the instances that the plain values lack.
  mutating func forget() {
    sailors = sailors.filter { fleet.sailors[$0.key] != nil }
    ships = ships.filter { fleet.ships.contains($0.key) }
    medals = medals.filter { fleet.medals.contains($0.key) }
    inserted = inserted.filter { sailors[$0] != nil || ships[$0] != nil || medals[$0] != nil }
  }

  mutating func save() throws {
    log.append("save")
    try context.save()
    saved = fleet.only(inserted)
    try compare(Fleet(ModelContext(container)), saved, "in the store")
    #expect(!context.hasChanges)
  }

  mutating func rollBack() throws {
    log.append("roll back")
    context.rollback()
    let apart = fleet.only(
      Set(fleet.sailors.keys).union(fleet.ships).union(fleet.medals).subtracting(inserted))
    fleet = saved
    fleet.sailors.merge(apart.sailors) { first, _ in first }
    fleet.ships.formUnion(apart.ships)
    fleet.medals.formUnion(apart.medals)
    inserted = Set(saved.sailors.keys).union(saved.ships).union(saved.medals)
    for sailor in try context.fetch(FetchDescriptor<Sailor>()) { sailors[sailor.number] = sailor }
    for ship in try context.fetch(FetchDescriptor<Ship>()) { ships[ship.number] = ship }
    for medal in try context.fetch(FetchDescriptor<Medal>()) { medals[medal.number] = medal }
    forget()
    try look()
  }

  /// Throws the last steps and what differs.
  func compare(_ found: Fleet, _ expected: Fleet, _ place: String) throws {
    if found == expected { return }
    var lines = log.suffix(40) + ["\(place):"]
    if found.ships != expected.ships { lines.append("ships \(found.ships), not \(expected.ships)") }
    if found.medals != expected.medals { lines.append("medals \(found.medals), not \(expected.medals)") }
    for number in Set(found.sailors.keys).union(expected.sailors.keys).sorted()
    where found.sailors[number] != expected.sailors[number] {
      lines.append(
        "sailor \(number): \(found.sailors[number] as Any), not \(expected.sailors[number] as Any)")
    }
    throw Difference(description: lines.joined(separator: "\n"))
  }

  mutating func look() throws {
    log.append("look")
    try compare(Fleet(context), fleet.only(inserted), "in the context")
  }
}

@Suite("Models, randomised")
struct RandomGraphTests {
  @Test("A context has what plain values have after every step, and the store after every save")
  func voyages() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? 1
    let steps = environment["CDE_STEPS"].flatMap(Int.init) ?? 2_000
    print("Models, randomised: seed \(seed), \(steps) steps")
    var failures = 0
    for run in 0..<max(1, steps / 200) {
      do {
        var voyage = try Voyage(seed: seed &+ UInt64(run))
        for _ in 0..<200 { try voyage.step() }
        try voyage.save()
      } catch {
        Issue.record("Seed \(seed &+ UInt64(run)): \(error)")
        failures += 1
        if failures == 3 { return }
      }
    }
  }
}
