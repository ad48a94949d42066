@_spi(CDE) import CDESQLiteFaults
import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Random values in a file")
struct RandomStoreTests {
  enum Tone: String, Codable, CaseIterable { case soft, loud }
  enum Side: Codable, CaseIterable { case left, right }
  enum Mark: Codable, Equatable {
    case number(Int)
    case text(String, Bool?)
    case none
  }
  struct Inner: Codable, Equatable {
    var number: Int?
    var name: String
    var tone: Tone?
    var side: Side
    var mark: Mark
  }
  struct Outer: Codable, Equatable {
    var name: String
    var inner: Inner
    var other: Inner?
    var list: [Inner]
    var real: Double
    var day: Date?
    var key: UUID
  }

  final class Holder: Sketch {
    var place: Int { absent() }
    var outer: Outer { absent() }
    var maybe: Outer? { absent() }
    var tone: Tone? { absent() }
    var mark: Mark { absent() }
    var words: [String] { absent() }
    var inners: [Inner]? { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("place", \Holder.place), property("outer", \Holder.outer), property("maybe", \Holder.maybe),
        property("tone", \Holder.tone), property("mark", \Holder.mark), property("words", \Holder.words),
        property("inners", \Holder.inners),
      ]
    }
  }

  private struct Row: Equatable {
    var outer: Outer
    var maybe: Outer?
    var tone: Tone?
    var mark: Mark
    var words: [String]
    var inners: [Inner]?
  }

  private struct Drawing {
    var random: SplitMix

    mutating func maybe<T>(_ make: (inout Drawing) -> T) -> T? { random.next() & 1 == 0 ? nil : make(&self) }
    mutating func text() -> String {
      (0..<Int.random(in: 0...5, using: &random)).map { _ in
        ["a", "é", "\"", "😀", "}", "\n"].randomElement(using: &random)!
      }
      .joined()
    }
    mutating func mark() -> Mark {
      switch random.next() % 3 {
      case 0: .number(Int(truncatingIfNeeded: random.next()))
      case 1: .text(text(), maybe { $0.random.next() & 1 == 0 })
      default: .none
      }
    }
    mutating func inner() -> Inner {
      Inner(
        number: maybe { Int(truncatingIfNeeded: $0.random.next()) }, name: text(),
        tone: Tone.allCases.randomElement(using: &random), side: Side.allCases.randomElement(using: &random)!,
        mark: mark())
    }
    mutating func inners() -> [Inner] { (0..<Int.random(in: 0...2, using: &random)).map { _ in inner() } }
    mutating func outer() -> Outer {
      Outer(
        name: text(), inner: inner(), other: maybe { $0.inner() }, list: inners(),
        real: Double.random(in: -1e12...1e12, using: &random),
        day: maybe { Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &$0.random)) },
        key: withUnsafeBytes(of: (random.next(), random.next())) { UUID(uuid: $0.load(as: uuid_t.self)) })
    }
    mutating func row() -> Row {
      Row(
        outer: outer(), maybe: maybe { $0.outer() },
        tone: maybe { Tone.allCases.randomElement(using: &$0.random)! },
        mark: mark(), words: (0..<3).map { _ in text() }, inners: maybe { $0.inners() })
    }
  }

  @Test("Rows of values come back from a file, after changes too")
  func rows() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("RandomStoreTests: seed \(seed)")
    var drawing = Drawing(random: SplitMix(seed: seed))
    let schema = Schema(Holder.self)
    let shapes = try #require(schema.entitiesByName["Holder"]).attributesByName.compactMapValues(\.shape)
    let stack = try Stack(schema)

    func write(_ row: Row, to object: NSManagedObject) throws {
      let values: [(String, Any)] = [
        ("outer", row.outer), ("maybe", row.maybe as Any), ("tone", row.tone as Any), ("mark", row.mark),
        ("words", row.words), ("inners", row.inners as Any),
      ]
      for (name, value) in values {
        object.setValue(try ValueCoding.encode(value, #require(shapes[name]), name: name), forKey: name)
      }
    }
    func read(_ object: NSManagedObject) throws -> Row {
      func value<T>(_ name: String, _ type: T.Type) throws -> T {
        try ValueCoding.decode(object.value(forKey: name), as: type, #require(shapes[name]), name: name)
      }
      return Row(
        outer: try value("outer", Outer.self), maybe: try value("maybe", Outer?.self),
        tone: try value("tone", Tone?.self), mark: try value("mark", Mark.self),
        words: try value("words", [String].self), inners: try value("inners", [Inner]?.self))
    }
    func objects(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Holder")
      request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: true)]
      return try context.fetch(request)
    }

    var rows = (0..<40).map { _ in drawing.row() }
    let context = stack.context()
    try context.performAndWait {
      for (place, row) in rows.enumerated() {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Holder", into: context)
        object.setValue(place, forKey: "place")
        try write(row, to: object)
      }
      try context.save()
    }
    for _ in 0..<3 {
      let other = stack.context()
      try other.performAndWait {
        let found = try objects(other)
        for (object, row) in zip(found, rows) { #expect(try read(object) == row, "seed \(seed)") }
        for place in rows.indices where drawing.random.next() & 1 == 0 {
          rows[place] = drawing.row()
          try write(rows[place], to: found[place])
          #expect(try read(found[place]) == rows[place], "seed \(seed), unsaved")
        }
        try other.save()
      }
    }
  }
}
