@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation

@Model
final class Parcel {
  enum Size: Int, Codable, CaseIterable { case small = 1, medium, large }
  enum Zone: String, Codable, CaseIterable { case north, south, east = "E" }
  enum Mode: Codable, CaseIterable { case road, rail, air }
  struct Place: Codable, Equatable {
    var city: String
    var floor: Int?
    var zone: Zone
  }

  var number: Int
  var name: String
  var note: String?
  var weight: Double
  var rank: Int?
  var isOpen: Bool
  var isPaid: Bool?
  var sent: Date
  var due: Date?
  var key: UUID
  var size: Size
  var zone: Zone?
  var mode: Mode
  var place: Place
  var former: Place?
  var station: Station?
  @Relationship(inverse: \Piece.parcel) var pieces: [Piece] = []
  var marks: [Mark] = []
  @Relationship(inverse: \Stamp.parcel) var stamps: [Stamp]?
  var cargo: Cargo?

  init(number: Int, _ draw: inout Draw) {
    self.number = number
    name = draw.text()
    note = draw.optional { $0.text() }
    weight = draw.real()
    rank = draw.optional { $0.int() }
    isOpen = draw.bool()
    isPaid = draw.optional { $0.bool() }
    sent = draw.date()
    due = draw.optional { $0.date() }
    key = draw.uuid()
    size = draw.one(Size.allCases)
    zone = draw.optional { $0.one(Zone.allCases) }
    mode = draw.one(Mode.allCases)
    place = draw.place()
    former = draw.optional { $0.place() }
  }

  func change(_ draw: inout Draw) {
    name = draw.text()
    note = draw.optional { $0.text() }
    weight = draw.real()
    rank = draw.optional { $0.int() }
    isOpen = draw.bool()
    due = draw.optional { $0.date() }
    size = draw.one(Size.allCases)
    zone = draw.optional { $0.one(Zone.allCases) }
    mode = draw.one(Mode.allCases)
    place = draw.place()
    former = draw.optional { $0.place() }
  }
}

@Model
final class Station {
  var name: String
  var code: Int?
  var chief: Chief?
  @Relationship(inverse: \Parcel.station) var parcels: [Parcel] = []
  init(_ draw: inout Draw) {
    name = draw.text()
    code = draw.optional { $0.int() }
  }
}

@Model
final class Chief {
  var name: String
  var age: Int?
  @Relationship(inverse: \Station.chief) var stations: [Station] = []
  init(_ draw: inout Draw) {
    name = draw.text()
    age = draw.optional { $0.int() }
  }
}

@Model
final class Piece {
  var label: String
  var count: Int
  var price: Double?
  var parcel: Parcel?
  init(_ draw: inout Draw) {
    label = draw.text()
    count = draw.int()
    price = draw.optional { $0.real() }
  }
}

@Model
final class Mark {
  var name: String
  var level: Int
  var parcels: [Parcel] = []
  init(_ draw: inout Draw) {
    name = draw.text()
    level = draw.int()
  }
}

@Model
final class Stamp {
  var value: Int
  var parcel: Parcel?
  init(_ draw: inout Draw) { value = draw.int() }
}

@Model
class Cargo {
  var code: Int
  var owner: String?
  @Relationship(inverse: \Parcel.cargo) var parcels: [Parcel] = []
  init(_ draw: inout Draw) {
    code = draw.int()
    owner = draw.optional { $0.text() }
  }
}

@Model
class Liquid: Cargo {
  var volume: Double
  override init(_ draw: inout Draw) {
    volume = draw.real()
    super.init(&draw)
  }
}

@Model
final class Acid: Liquid {
  var grade: Int?
  override init(_ draw: inout Draw) {
    grade = draw.optional { $0.int() }
    super.init(&draw)
  }
}

@Model
final class Glass: Cargo {
  var tint: String
  override init(_ draw: inout Draw) {
    tint = draw.text()
    super.init(&draw)
  }
}

/// Draws values from few, so that conditions hold for some.
struct Draw {
  private var random: SplitMix
  init(seed: UInt64) { random = SplitMix(seed: seed) }

  mutating func one<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
  mutating func bool() -> Bool { random.next() & 1 == 0 }
  mutating func int() -> Int { Int.random(in: -3...6, using: &random) }
  mutating func real() -> Double { Double(Int.random(in: -4...12, using: &random)) / 2 }
  mutating func text() -> String {
    one(["", "a", "A", "ab", "Abc", "bc", "Zoë", "zoe", "a%b", "a_b", "Éa", "x*y"])
  }
  mutating func part() -> String { one(["a", "A", "b", "bc", "oe", "oë", "%", "_", "*", "é"]) }
  mutating func date() -> Date { Date(timeIntervalSinceReferenceDate: Double(int()) * 3600) }
  mutating func uuid() -> UUID { UUID(uuid: (UInt8(int() + 3), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) }
  mutating func place() -> Parcel.Place {
    Parcel.Place(city: text(), floor: optional { $0.int() }, zone: one(Parcel.Zone.allCases))
  }
  mutating func optional<Value>(_ value: (inout Draw) -> Value) -> Value? {
    one([0, 1, 2]) == 0 ? nil : value(&self)
  }
  mutating func some<Value>(_ values: [Value]) -> [Value] {
    values.filter { _ in random.next() & 3 == 0 }
  }
}
