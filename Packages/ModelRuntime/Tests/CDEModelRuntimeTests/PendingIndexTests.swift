import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Fetches in a context with many unsaved changes. Conditions that name a value find its objects by an index, others look at all.
@Suite("Fetches among many unsaved objects")
struct PendingIndexTests {
  private static let keys = ["word", "number", "real", "day", "flag", "code", "place"]

  private static func things() -> NSManagedObjectModel {
    let thing = entity(
      "Thing", nil,
      [
        attribute("word", .stringAttributeType), attribute("number", .integer32AttributeType, default: 0),
        attribute("real", .doubleAttributeType), attribute("day", .dateAttributeType),
        attribute("flag", .booleanAttributeType, default: false), attribute("code", .UUIDAttributeType),
        attribute("place", .URIAttributeType),
      ])
    let special = entity("Special", nil, [attribute("extra", .stringAttributeType)])
    thing.subentities = [special]
    let other = entity("Other", nil, [attribute("word", .stringAttributeType)])
    connect(.many(thing, "others"), .one(other, "thing"))
    return model(thing, special, other)
  }

  private struct Values {
    static func draw(_ key: String, _ random: inout SplitMix) -> Any? {
      let number = Int(random.next() % 12)
      switch key {
      case "word":
        return number == 0
          ? nil : ["", "a", "A", "é", "e\u{301}", "b", "ab", "z", "0", "1", "zz"][number - 1]
      case "number": return number - 3
      case "real": return number == 0 ? nil : number == 1 ? -0.0 : Double(number) / 4
      case "day": return number == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number))
      case "flag": return number % 2 == 0
      case "code":
        return number == 0 ? nil : UUID(uuidString: "00000000-0000-0000-0000-0000000000\(10 + number)")
      default: return number == 0 ? nil : URL(string: "https://example.org/\(number)")
      }
    }
  }

  @Test(
    "Whatever is inserted, changed, deleted, undone and saved, a condition finds what a look at each object finds",
    arguments: UInt64(1)...(DrawnSteps.takesAll ? 4 : 2))
  func randomised(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let stack = try Stack(model: Self.things())
    let (context, writer) = (stack.context(), stack.context())
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.undoManager = UndoManager()
    context.automaticallyMergesChangesFromParent = true
    try context.performAndWait {
      var objects: [NSManagedObject] = []
      for step in 0..<400 {
        switch random.next() % 24 {
        case 0 where objects.count > 40:
          let gone = objects.remove(at: Int(random.next() % UInt64(objects.count)))
          context.delete(gone)
        case 1 where step % 5 == 0: try context.save()
        case 2 where step % 9 == 0:
          context.processPendingChanges()
          context.undo()
          if random.next() % 2 == 0 { context.redo() }
          objects = context.registeredObjects.filter { !$0.isDeleted && $0.entity.name != "Other" }
            .sorted { "\($0.objectID.uriRepresentation())" < "\($1.objectID.uriRepresentation())" }
        case 3 where step % 11 == 0:
          if let object = objects.last { context.refresh(object, mergeChanges: random.next() % 2 == 0) }
        case 4 where step % 3 == 0:
          try writer.performAndWait {
            let stored = try writer.all("Thing")
            guard let object = stored.randomElement(using: &random) else { return }
            object.setValue(Values.draw("word", &random), forKey: "word")
            try writer.save()
            writer.reset()
          }
        case 5..<12:
          for _ in 0..<4 {
            let made = context.make(random.next() % 3 == 0 ? "Special" : "Thing")
            for key in Self.keys where random.next() % 2 == 0 {
              made.setValue(Values.draw(key, &random), forKey: key)
            }
            objects.append(made)
          }
        case 12..<14:
          context.make("Other", ["word": Values.draw("word", &random) ?? ""])
        default:
          guard !objects.isEmpty else { continue }
          let object = objects[Int(random.next() % UInt64(objects.count))]
          let key = Self.keys[Int(random.next() % UInt64(Self.keys.count))]
          if random.next() % 6 == 0 {
            object.setPrimitiveValue(Values.draw(key, &random), forKey: key)
          } else {
            object.setValue(Values.draw(key, &random), forKey: key)
          }
        }
        let key = Self.keys[Int(random.next() % UInt64(Self.keys.count))]
        guard let value = Values.draw(key, &random), let other = Values.draw(key, &random) else { continue }
        // The second condition of each pair means the same, and no index answers it.
        let pairs: [(String, String, Any)] = [
          ("%K == %@", "TERNARY(%K == %@, 1, 0) == 1", value),
          ("%K IN %@ AND TRUEPREDICATE", "TERNARY(%K IN %@, 1, 0) == 1", [value, other]),
        ]
        for (quick, slow, constant) in pairs {
          for entity in ["Thing", "Special"] {
            let found = try context.all(entity, NSPredicate(format: quick, argumentArray: [key, constant]))
            let wanted = try context.all(entity, NSPredicate(format: slow, argumentArray: [key, constant]))
            try #require(Set(found) == Set(wanted), "seed \(seed), step \(step): \(key) and \(constant)")
            #expect(found.count == wanted.count)
          }
        }
      }
    }
  }

  private func time(importing count: Int) throws -> Duration {
    let stack = try Stack(model: Self.things())
    let context = stack.context()
    return try context.performAndWait {
      var made = 0
      let start = ProcessorTime.ofThread
      for number in 0..<count {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.predicate = NSPredicate(format: "word == %@", "w\(number / 2)")
        request.fetchLimit = 1
        if let known = try context.fetch(request).first {
          known.setValue(number, forKey: "number")
        } else {
          context.make("Thing", ["word": "w\(number / 2)"])
          made += 1
        }
      }
      let end = ProcessorTime.ofThread
      #expect(made == (count + 1) / 2)
      return end - start
    }
  }

  @Test(
    "An import that looks for each object before it makes it takes a time that grows with their number",
    .onSQLite)
  func linear() throws {
    _ = try time(importing: 200)
    // Eight times the objects: about eight times the time if it is linear, 64 times if it grows with the square.
    let few = try min(time(importing: 2_000), time(importing: 2_000))
    let many = try time(importing: 16_000)
    #expect(many / few < 24, "\(few), then \(many)")
  }
}
