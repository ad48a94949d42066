import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Long lists are searched by hashes in memory, which must find what a comparison with each member finds.
@Suite("Conditions with long lists")
struct LongListTests {
  private let context: NSManagedObjectContext
  private let properties = [
    "name", "whole", "ratio", "price", "made", "token", "link", "content", "self", "owner",
  ]

  init() throws {
    let part = entity(
      "Part", nil,
      [
        attribute("name", .stringAttributeType), attribute("whole", .integer64AttributeType),
        attribute("ratio", .doubleAttributeType), attribute("price", .decimalAttributeType),
        attribute("made", .dateAttributeType), attribute("token", .UUIDAttributeType),
        attribute("link", .URIAttributeType), attribute("content", .binaryDataAttributeType),
        attribute("note", .stringAttributeType),
      ])
    connect(.one(part, "owner"), .many(part, "parts"))
    context = try Stack(model: model(part)).context()
  }

  private let tokens = (0..<12).map { _ in UUID() }

  /// Values of an attribute's type, some of them equal to each other in some comparison only.
  private func value(_ property: String, _ random: inout SplitMix) -> Any? {
    let number = Int.random(in: 0..<12, using: &random)
    switch property {
    case _ where number == 11: return nil
    case "name":
      return ["a", "A", "\u{e9}", "e\u{301}", "E\u{301}", "e", "", "ﬁ", "fi", "10", "1"][number]
    case "whole": return [0, 1, -1, 2, 7, 1 << 53, 1 << 53 + 1, .max, .min, 10, 100][number]
    case "ratio": return [0, -0.0, 0.5, 1, 2, 0x1p53, 0x1p63, -1, 0.1, 1e300, 7][number]
    case "price":
      return ["0", "1", "1.00", "0.1", "0.10", "7", "9007199254740993", "1e30", "-1", "2.5", "10"].map {
        Decimal(string: $0)!
      }[number]
    case "made": return Date(timeIntervalSinceReferenceDate: Double(number) / 2)
    case "token": return tokens[number]
    case "link": return URL(string: "https://example.org/\(number)")
    default: return Data([UInt8(number)])
    }
  }

  private func list(_ property: String, _ parts: [NSManagedObject], _ random: inout SplitMix) -> [Any] {
    (0..<Int.random(in: 30..<120, using: &random)).compactMap { _ in
      switch property {
      case "self", "owner": return parts.randomElement(using: &random)!
      case "whole", "ratio", "price":
        // Numbers of other types are equal to each other, and texts are converted.
        let other = ["whole", "ratio", "price"].randomElement(using: &random)!
        return value(other, &random)
      default: return value(property, &random)
      }
    }
  }

  private func fill(_ count: Int, _ random: inout SplitMix) -> [NSManagedObject] {
    var parts: [NSManagedObject] = []
    for _ in 0..<count {
      let part = context.make("Part")
      for property in properties.dropLast(2) { part.setValue(value(property, &random), forKey: property) }
      part.setValue(parts.randomElement(using: &random), forKey: "owner")
      parts.append(part)
    }
    return parts
  }

  @Test(
    "A list is searched for the same members by each evaluator, and by the store",
    arguments: [UInt64.random(in: 0 ... .max), 1, 2])
  func agreement(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let parts = fill(40, &random)
    var found = 0
    for isSaved in [false, true] {
      for round in 0..<40 {
        let property = properties.randomElement(using: &random)!
        let options = property == "name" ? ["", "[c]", "[cd]", "[d]"].randomElement(using: &random)! : ""
        let members = list(property, Array(parts.prefix(30)), &random) as NSArray
        let format =
          ["%@ IN\(options) LIST", "NOT (%@ IN\(options) LIST)", "ANY parts.%@ IN\(options) LIST"]
          .randomElement(using: &random)!
          .replacing("%@", with: property).replacing("parts.self", with: "parts").replacing(
            "LIST", with: "%@")
        func predicate() -> NSPredicate { NSPredicate(format: format, members) }
        // A predicate compares each member until it is used again.
        let expected = Set(parts.filter { predicate().evaluate(with: $0) })
        let again = predicate()
        for _ in 0..<2 {
          #expect(
            Set(parts.filter { again.evaluate(with: $0) }) == expected,
            "seed \(seed), saved: \(isSaved), round \(round): \(format) \(members)")
        }
        #expect(
          try Set(context.all("Part", predicate())) == expected,
          "seed \(seed), saved: \(isSaved), round \(round), fetched: \(format) \(members)")
        if isSaved {
          // The store decides, and then a context for what has unsaved changes.
          for part in parts where Bool.random(using: &random) { part.setValue("\(round)", forKey: "note") }
          #expect(
            try Set(context.all("Part", predicate())) == expected,
            "seed \(seed), round \(round), changed: \(format) \(members)")
          try context.save()
        }
        found += expected.count
      }
      if !isSaved { try context.save() }
    }
    #expect(found > 400, "seed \(seed): \(found)")
  }

  @Test("Lists of several kinds are compared member by member")
  func severalKinds() throws {
    var members: [Any] = (0..<100).map { "\($0)" }
    members += [7, 0.5, UUID(), NSNull()]
    let predicate = NSPredicate(format: "value IN %@", members)
    for _ in 0..<3 {
      for (value, expected) in [("99", true), ("100", false), (7, true), (200, false), (0.5, true)]
        as [(Any, Bool)]
      {
        #expect(predicate.evaluate(with: ["value": value]) == expected, "\(value)")
      }
      #expect(predicate.evaluate(with: [:] as [String: Any]))
    }
  }

  @Test("A fetch with 100,000 members beside 1,000 unsaved objects, and the same by their IDs")
  func size() throws {
    let parts = (0..<1_000).map { context.make("Part", ["whole": $0 * 200]) }
    let numbers = Array(0..<100_000)
    #expect(try context.all("Part", NSPredicate(format: "whole IN %@", numbers)).count == 500)
    #expect(try context.all("Part", NSPredicate(format: "NOT (whole IN %@)", numbers)).count == 500)
    let texts = numbers.map { "Part \($0)" }
    for (number, part) in parts.enumerated() { part.setValue("PART \(number * 200)", forKey: "name") }
    #expect(try context.all("Part", NSPredicate(format: "name IN[c] %@", texts)).count == 500)
    let many = Array(repeating: parts, count: 50).flatMap(\.self) + parts.prefix(1)
    #expect(try context.all("Part", NSPredicate(format: "SELF IN %@", many)).count == 1_000)
    let predicate = NSPredicate(
      format: "SELF IN %@", Array(repeating: parts.prefix(500), count: 100).flatMap(\.self))
    #expect(parts.count(where: predicate.evaluate(with:)) == 500)
  }
}
