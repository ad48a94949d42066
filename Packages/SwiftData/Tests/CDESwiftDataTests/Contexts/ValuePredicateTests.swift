@_spi(CDE) import CDESQLiteFaults
import Testing

@testable import CDESwiftData

@Model
final class Depot {
  enum Grade: String, Codable, CaseIterable {
    case low, middle, high
    var title: String { self == .low ? "Low" : rawValue }
  }
  enum Season: Codable, CaseIterable { case spring, summer, winter }
  enum Contents: Codable, Equatable {
    case empty
    case boxes(Int)
  }
  struct Place: Codable, Equatable {
    var city: String
    var zip: Int?
    var grade: Grade
    var season: Season?
    var title: String { city.uppercased() }
  }
  struct Address: Codable, Equatable {
    var street: String
    var place: Place
    var former: Place?
  }

  var name: String
  var address: Address
  var second: Address?
  var grade: Grade?
  var season: Season
  var contents: Contents
  var load: Load?

  init(name: String, address: Address, second: Address?, grade: Grade?, season: Season, contents: Contents) {
    self.name = name
    self.address = address
    self.second = second
    self.grade = grade
    self.season = season
    self.contents = contents
  }
}

@Model
class Load {
  var weight: Int
  var depot: Depot?
  init(weight: Int) { self.weight = weight }
}

@Model
class Crate: Load {
  var isOpen: Bool
  init(weight: Int, isOpen: Bool) {
    self.isOpen = isOpen
    super.init(weight: weight)
  }
}

@Model
final class Cage: Crate {
  var animal: String
  init(animal: String) {
    self.animal = animal
    super.init(weight: 5, isOpen: false)
  }
}

@Suite("Predicates over parts of values and classes")
struct ValuePredicateTests {
  private static let conditions: [(String, Predicate<Depot>)] = {
    let (city, grade, season) = ("Rome", Depot.Grade.high, Depot.Season.summer)
    let grades = [Depot.Grade.low, .middle]
    // The macro does not make an optional of a value that is compared with one.
    let (someGrade, someSeason) = (Optional(grade), Optional(season))
    return [
      ("a text in a struct", #Predicate { $0.address.street == "A" }),
      ("two levels", #Predicate { $0.address.place.city == city }),
      ("a text operator", #Predicate { $0.address.place.city.contains("o") }),
      ("an order", #Predicate { $0.address.place.city < "P" }),
      ("an optional number", #Predicate { $0.address.place.zip == 2 }),
      ("an optional number is nil", #Predicate { $0.address.place.zip == nil }),
      ("a coalesced number", #Predicate { ($0.address.place.zip ?? 9) > 1 }),
      ("an optional struct in a struct", #Predicate { $0.address.former?.city == city }),
      ("an optional struct in a struct is nil", #Predicate { $0.address.former == nil }),
      ("an optional struct", #Predicate { $0.second?.place.city == city }),
      ("an optional struct is nil", #Predicate { $0.second == nil }),
      ("an optional struct is not nil", #Predicate { $0.second != nil }),
      ("coalesced over two optionals", #Predicate { ($0.second?.former?.zip ?? 0) >= 2 }),
      ("a raw value in a struct", #Predicate { $0.address.place.grade == grade }),
      ("a raw value that is different", #Predicate { $0.address.place.grade != grade }),
      ("one of several raw values", #Predicate { grades.contains($0.address.place.grade) }),
      ("an optional raw value", #Predicate { $0.grade == someGrade }),
      ("the raw value of an optional enumeration", #Predicate { $0.grade?.rawValue == "high" }),
      ("a raw value's text", #Predicate { $0.address.place.grade.rawValue.contains("i") }),
      ("a case", #Predicate { $0.season == season }),
      ("another case", #Predicate { $0.season != season }),
      ("a case in a struct", #Predicate { $0.address.place.season == someSeason }),
      ("both", #Predicate { $0.address.place.season == someSeason && $0.address.place.grade == grade }),
      ("a class through a relationship", #Predicate { $0.load is Crate }),
      ("not of a class", #Predicate { !($0.load is Cage) }),
      (
        "a property after a cast",
        #Predicate { depot in
          if let crate = depot.load as? Crate { crate.weight > 3 } else { false }
        }
      ),
      (
        "a cast, else something",
        #Predicate { depot in
          if let cage = depot.load as? Cage { cage.weight == 5 } else { depot.name == "d1" }
        }
      ),
    ]
  }()

  private func context() throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Depot.self, Load.self, Crate.self, Cage.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  private func depot(_ number: Int, _ random: inout SplitMix) -> Depot {
    func pick<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
    func place() -> Depot.Place {
      Depot.Place(
        city: pick(["Rome", "Oslo", "Paris"]), zip: pick([nil, 1, 2, 3]), grade: pick(Depot.Grade.allCases),
        season: pick([nil] + Depot.Season.allCases))
    }
    func address() -> Depot.Address {
      Depot.Address(street: pick(["A", "B"]), place: place(), former: pick([nil, place()]))
    }
    let depot = Depot(
      name: "d\(number)", address: address(), second: pick([nil, address()]),
      grade: pick([nil] + Depot.Grade.allCases),
      season: pick(Depot.Season.allCases), contents: pick([.empty, .boxes(number)]))
    depot.load = pick([nil, Load(weight: number), Crate(weight: number, isOpen: true), Cage(animal: "x")])
    return depot
  }

  @Test("The store and memory answer as Foundation does for the models themselves")
  func differential() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("ValuePredicateTests: seed \(seed)")
    var random = SplitMix(seed: seed)
    let context = try context()
    for number in 0..<40 { context.insert(depot(number, &random)) }
    try context.save()
    // A part is saved, a part is changed, and a part is new.
    for round in ["saved", "pending"] {
      let all = try context.fetch(FetchDescriptor<Depot>())
      for (title, predicate) in Self.conditions {
        let expected = try all.filter { try predicate.evaluate($0) }.map(\.name).sorted()
        let found = try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name).sorted()
        #expect(found == expected, "\(title), \(round), seed \(seed)")
        #expect(
          try context.fetchCount(FetchDescriptor(predicate: predicate)) == expected.count,
          "\(title), \(round)")
      }
      guard round == "saved" else { break }
      for model in all where random.next() & 1 == 0 {
        model.address = depot(0, &random).address
        model.second = depot(0, &random).second
        model.season = .summer
      }
      for number in 40..<55 { context.insert(depot(number, &random)) }
    }
  }

  @Test("Parts of structs are orders")
  func orders() throws {
    var random = SplitMix(seed: 7)
    let context = try context()
    for number in 0..<20 { context.insert(depot(number, &random)) }
    try context.save()
    let sorted = try context.fetch(
      FetchDescriptor<Depot>(sortBy: [SortDescriptor(\.address.place.city), SortDescriptor(\.name)]))
    let keys = sorted.map { [$0.address.place.city, $0.name] }
    #expect(keys == keys.sorted { $0.lexicographicallyPrecedes($1) })
    #expect(keys.count == 20)
  }

  @Test("What no query compares is told by name")
  func refused() throws {
    let context = try context()
    func message(_ predicate: Predicate<Depot>) throws -> String {
      let error = try #require(throws: SwiftDataError.self) {
        try context.fetch(FetchDescriptor(predicate: predicate))
      }
      #expect(error == .unsupportedPredicate)
      return error.message
    }
    let contents = Depot.Contents.boxes(2)
    #expect(try message(#Predicate { $0.contents == contents }).contains("a captured Contents"))
    #expect(try message(#Predicate { $0.address.place.title == "ROME" }).contains("Place"))
    #expect(try message(#Predicate { $0.address.place.grade.title == "high" }).contains("Grade"))
  }
}
