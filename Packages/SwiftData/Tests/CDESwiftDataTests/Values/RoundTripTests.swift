import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Values there and back")
struct RoundTripTests {
  /// The value after it was encoded and decoded, and its stored form.
  private func pass<T: Codable>(_ value: T) throws -> (T, Any?) {
    let shape = try #require(ValueShape.of(T.self))
    let stored = try ValueCoding.encode(value, shape, name: "it")
    return (try ValueCoding.decode(stored, as: T.self, shape, name: "it"), stored)
  }

  private func check<T: Codable & Equatable>(_ value: T) throws {
    #expect(try pass(value).0 == value)
  }

  private static let point = Sample.Point(x: 1.5, y: -2)
  private static let address = Sample.Address(
    street: "Gasse", number: 7, floor: nil, point: point, former: point, residents: ["a", "b"],
    marks: ["x": 1, "y": 2],
    since: Date(timeIntervalSinceReferenceDate: 12.25), key: UUID(), site: URL(string: "https://a.example/b"),
    image: Data([1, 2, 3]), rent: Decimal(string: "12.345678901234567890")!, isRented: true, ratio: 0.1,
    tags: ["p", "q"])

  @Test("Scalars, at their limits too")
  func scalars() throws {
    try check(true)
    try check(Int.min)
    try check(Int8.min)
    try check(UInt8.max)
    try check(UInt16.max)
    try check(UInt32.max)
    try check(UInt64.max)
    try check(UInt.max)
    try check(Double.leastNonzeroMagnitude)
    try check(Float.greatestFiniteMagnitude)
    try check(Decimal(string: "0.1")!)
    try check("ä\u{0301}👩‍👩‍👧")
    try check(Date(timeIntervalSince1970: 0.1))
    try check(Data())
    try check(UUID())
    try check(URL(string: "file:///a%20b")!)
    try check(Int?.none)
    try check(Int?.some(3))
  }

  @Test("A struct is a dictionary by keys; nested ones are dictionaries, collections are JSON")
  func structs() throws {
    let (value, stored) = try pass(Self.address)
    #expect(value == Self.address)
    let values = try #require(stored as? [String: Any])
    #expect(values["point"] as? [String: Double] == ["x": 1.5, "y": -2])
    #expect(values["residents"] as? Data == Data(#"["a","b"]"#.utf8))
    #expect(values["marks"] as? Data == Data(#"{"x":1,"y":2}"#.utf8))
    #expect(values["floor"] == nil)
    try check(Sample.Address?.some(Self.address))
    try check(Sample.Address?.none)
  }

  @Test("Enumerations with raw values store the raw value under the attribute's name")
  func rawValues() throws {
    let (grade, stored) = try pass(Sample.Grade.low)
    #expect(grade == .low)
    #expect(stored as? [String: String] == ["it": "L"])
    try check(Sample.Level.second)
    try check(Sample.Wide.most)
    try check(Sample.Grade?.none)
  }

  @Test("Enumerations without raw values store the name of the case, or its associated values")
  func cases() throws {
    let (season, stored) = try pass(Sample.Season.autumn)
    #expect(season == .autumn)
    #expect(stored as? [String: String] == ["autumn": "autumn"])
    let (circle, values) = try pass(Sample.Shape.circle(radius: 2))
    #expect(circle == .circle(radius: 2))
    #expect((values as? [String: Data])?["circle"] == Data(#"{"radius":2}"#.utf8))
    try check(Sample.Shape.polygon([Self.point, Self.point]))
    try check(Sample.Shape.named("x", nil))
    try check(Sample.Shape.empty)
    try check(Sample.Alone.only)
    try check(Sample.Term.sum(.number(1), .sum(.number(2), .number(3))))
  }

  @Test("Values within values")
  func mixed() throws {
    try check(Sample.Mixed(grade: .high, season: .winter, shape: .named("x", 3), levels: [.first, .second]))
    try check(Sample.Mixed(grade: .high, season: nil, shape: .empty, levels: []))
    try check(Sample.Box(value: Sample.Box(value: Sample.Grade.middle)))
    try check(Sample.AllOptional(a: nil, b: nil))
    try check(Sample.AllOptional(a: nil, b: Self.point))
  }

  @Test("Types with code of their own")
  func codeOfTheirOwn() throws {
    let (email, stored) = try pass(Sample.Email(text: "a@b"))
    #expect(email.text == "a@b")
    #expect(stored as? String == "a@b")
    try check(Sample.Options([.loud, .quick]))
    try check(Sample.Traffic.stop)
    try check(Sample.Pair(1, 2))
    try check(Sample.Loose.number(1))
    try check(Sample.Loose.text("x"))
    try check(Sample.Nested(depth: 3))
    try check(Sample.Renamed(title: "x", count: 2))
    try check(Sample.Dashed(title: "x"))
    try check(Sample.Partial(title: "x"))
    try check(Sample.Strict(title: "x", size: 2))
    try check(Sample.Nothing())
    try check(1...3)
    try check(TimeZone(identifier: "Europe/Vienna")!)
    try check(Locale(identifier: "de_AT"))
    try check(CGPoint(x: 1, y: 2))
    try check(DateInterval(start: Date(timeIntervalSinceReferenceDate: 1), duration: 2))
    try check(Measurement(value: 2, unit: UnitLength.meters))
    let dog = Sample.Dog(name: "Rex")
    dog.isLoud = true
    let (copy, _) = try pass(dog)
    #expect(copy.name == "Rex" && copy.isLoud)
  }

  @Test("Collections as properties: a property list where the elements allow it, JSON elsewhere")
  func collections() throws {
    let (texts, stored) = try pass(["b", "a"])
    #expect(texts == ["b", "a"])
    #expect(stored as? [String] == ["b", "a"])
    try check([1, 2])
    try check([[1], [2, 3]])
    try check([Date(timeIntervalSinceReferenceDate: 1)])
    try check(["x": 1.5])
    try check(Set(["a", "b"]))
    try check([1: "x"])
    try check([Sample.Grade.low, .high])
    try check([UUID()])
    let (points, data) = try pass([Self.point])
    #expect(points == [Self.point])
    #expect(data as? Data == Data(#"[{"x":1.5,"y":-2}]"#.utf8))
    try check([String]?.none)
    try check([Int?]([1, nil]))
  }

  @Test("A raw value that the type does not know goes through the type's own code, or is an error")
  func unknownRawValue() throws {
    let known = try ValueCoding.decode(
      ["it": "new"], as: Sample.Known.self, .rawEnumeration(.string), name: "it")
    #expect(known == .unknown)
    let error = #expect(throws: SwiftDataError.self) {
      try ValueCoding.decode(["it": "new"], as: Sample.Grade.self, .rawEnumeration(.string), name: "it")
    }
    #expect(error?.code == .valueCoding)
    #expect(error?.message.contains("it can't be decoded as Grade") == true)
  }

  @Test("A missing value of a type that is not optional is an error with the remedy, and so is a damaged one")
  func missing() throws {
    let shape = try #require(ValueShape.of(Sample.Point.self))
    let missing = #expect(throws: SwiftDataError.self) {
      try ValueCoding.decode(nil, as: Sample.Grade.self, .rawEnumeration(.string), name: "grade")
    }
    #expect(
      missing?.message == "grade has no stored value, and Grade is not optional. Make the property optional.")
    let part = #expect(throws: SwiftDataError.self) {
      try ValueCoding.decode(["x": 1.5], as: Sample.Point.self, shape, name: "point")
    }
    #expect(part?.code == .valueCoding && part?.cause is DecodingError)
    let damaged = #expect(throws: SwiftDataError.self) {
      try ValueCoding.decode(Data("{".utf8), as: Sample.Pair.self, .json, name: "pair")
    }
    #expect(damaged?.code == .valueCoding)
    let other = #expect(throws: SwiftDataError.self) {
      try ValueCoding.decode("text", as: Int.self, .scalar(.integer64), name: "count")
    }
    #expect(other?.message.contains("count is of type String, and not a value of type integer64") == true)
  }

  struct Failing: Codable {
    struct Refused: Error {}
    var text: String
    func encode(to encoder: any Encoder) throws {
      if text == "no" { throw Refused() }
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
    init(text: String) { self.text = text }
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
  }

  @Test("An error of a value's own code is the cause of the error")
  func ownErrors() throws {
    let shape = try #require(ValueShape.of(Failing.self))
    let error = #expect(throws: SwiftDataError.self) {
      try ValueCoding.encode(Failing(text: "no"), shape, name: "mail")
    }
    #expect(error?.code == .valueCoding && error?.cause is Failing.Refused)
  }

  struct OnMain: @MainActor Codable { var text = "" }

  @Test("A conformance that belongs to the main actor is an error with the remedy")
  func isolatedConformance() {
    let error = #expect(throws: SwiftDataError.self) {
      try ValueCoding.encode(OnMain(), .json, name: "address")
    }
    #expect(error?.code == .valueCoding && error?.message.contains("declare it as nonisolated") == true)
  }

  final class Holder: Sketch {
    var address: Sample.Address { absent() }
    var grade: Sample.Grade { absent() }
    var season: Sample.Season? { absent() }
    var shape: Sample.Shape { absent() }
    var words: [String] { absent() }
    var points: [Sample.Point] { absent() }
    var pair: Sample.Pair { absent() }
    var email: Sample.Email { absent() }
    var mixed: Sample.Mixed? { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("address", \Holder.address), property("grade", \Holder.grade, default: Sample.Grade.high),
        property("season", \Holder.season), property("shape", \Holder.shape),
        property("words", \Holder.words),
        property("points", \Holder.points), property("pair", \Holder.pair), property("email", \Holder.email),
        property("mixed", \Holder.mixed),
      ]
    }
  }

  @Test("Stored values come back from a file in every form", .onSQLite)
  func file() throws {
    let schema = Schema(Holder.self)
    let shapes = try #require(schema.entitiesByName["Holder"]).attributesByName.compactMapValues(\.shape)
    let mixed = Sample.Mixed(grade: .low, season: .spring, shape: .circle(radius: 1), levels: [.first])
    let values: [String: Any] = [
      "address": Self.address, "season": Sample.Season.winter, "shape": Sample.Shape.polygon([Self.point]),
      "words": ["x", "y"], "points": [Self.point], "pair": Sample.Pair(3, 4),
      "email": Sample.Email(text: "m@x"),
      "mixed": mixed,
    ]
    let stack = try Stack(schema)
    let context = stack.context()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Holder", into: context)
      for (name, value) in values {
        object.setValue(try ValueCoding.encode(value, #require(shapes[name]), name: name), forKey: name)
      }
      try context.save()
    }
    let other = stack.context()
    try other.performAndWait {
      let object = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Holder")).first)
      func read<T>(_ name: String, _ type: T.Type) throws -> T {
        try ValueCoding.decode(object.value(forKey: name), as: type, #require(shapes[name]), name: name)
      }
      // A column of decimals keeps fifteen digits, as Core Data's does.
      var address = try read("address", Sample.Address.self)
      #expect(abs(address.rent - Self.address.rent) < 0.000001)
      address.rent = Self.address.rent
      #expect(address == Self.address)
      // Not set: the default value of the schema.
      #expect(try read("grade", Sample.Grade.self) == .high)
      #expect(try read("season", Sample.Season?.self) == .winter)
      #expect(try read("shape", Sample.Shape.self) == .polygon([Self.point]))
      #expect(try read("words", [String].self) == ["x", "y"])
      #expect(try read("points", [Sample.Point].self) == [Self.point])
      #expect(try read("pair", Sample.Pair.self) == Sample.Pair(3, 4))
      #expect(try read("email", Sample.Email.self).text == "m@x")
      #expect(try read("mixed", Sample.Mixed?.self) == mixed)
    }
    let columns = "ZSTREET, ZWINTER1, ZEMAIL, CAST(ZPAIR AS TEXT), ZGRADE, ZGRADE1"
    let rows = try stack.file.rows("SELECT \(columns) FROM ZHOLDER")
    #expect(rows == [["Gasse", "winter", "m@x", "[3,4]", "high", "L"]])
    // A default value that is a dictionary does not keep the store from a copy of its model.
    #expect(try stack.file.rows("SELECT count(*) FROM Z_MODELCACHE") == [["1"]])
  }
}
