import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Batch requests against a simple model")
struct BatchRandomisedTests {
  /// Owner –cascade→ parts –cascade→ pieces; part –nullify→ badges (many-to-many); part –nullify→ twin.
  private static func makeModel() -> NSManagedObjectModel {
    let number = { attribute("n", .integer64AttributeType, optional: false, default: 0) }
    let owner = entity("Owner", nil, [number()])
    let part = entity("Part", nil, [number(), attribute("text", .stringAttributeType)])
    let special = entity("SpecialPart", nil, [attribute("extra", .stringAttributeType)])
    part.subentities = [special]
    let piece = entity("Piece", nil, [number()])
    let badge = entity("Badge", nil, [number()])
    connect(.many(owner, "parts", ordered: true, rule: .cascadeDeleteRule), .one(part, "owner"))
    connect(.many(part, "pieces", rule: .cascadeDeleteRule), .one(piece, "part"))
    connect(.many(part, "badges"), .many(badge, "parts"))
    connect(.one(part, "twin"), .one(badge, "twin"))
    return model(owner, part, special, piece, badge)
  }

  private struct Row: Equatable {
    var entity: String
    var n: Int
    var text: String?
    var one: [String: Int] = [:]
    var badges: Set<Int> = []
  }

  @Test("Updates, deletions and insertions leave what the model says, in the store and in merged contexts")
  func random() throws {
    let seed = ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    print("BatchRandomisedTests seed \(seed)")
    var generator = SplitMix(state: seed)
    for _ in 0..<6 { try run(&generator) }
  }

  private func run(_ generator: inout SplitMix) throws {
    let stack = try Stack(model: Self.makeModel())
    var rows: [NSManagedObjectID: Row] = [:]
    var ids: [Int: NSManagedObjectID] = [:]
    var next = 0
    let writer = stack.context()
    let reader = stack.context()

    func all(_ entities: Set<String>) -> [Int] {
      ids.filter { rows[$0.value].map { entities.contains($0.entity) } ?? false }.map(\.key).sorted()
    }
    let parts: Set<String> = ["Part", "SpecialPart"]

    for _ in 0..<60 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...2:
        let name = ["Owner", "Part", "SpecialPart", "Piece", "Badge"].randomElement(using: &generator)!
        let numbers = (0..<Int.random(in: 1...4, using: &generator)).map { next + $0 }
        next += numbers.count
        let request = NSBatchInsertRequest(entityName: name, objects: numbers.map { ["n": $0] })
        request.resultType = .objectIDs
        let made = try #require(
          (try writer.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
        for (id, n) in zip(made, numbers) {
          rows[id] = Row(entity: name, n: n)
          ids[n] = id
        }
        merge(NSInsertedObjectIDsKey, made, into: reader, writer)
      case 3...6:
        // Relationships, by a save that the reader merges.
        guard let part = all(parts).randomElement(using: &generator) else { continue }
        let object = try writer.existingObject(with: ids[part]!)
        func link(_ key: String, _ entity: String) {
          guard let other = all([entity]).randomElement(using: &generator) else { return }
          object.setValue(try! writer.existingObject(with: ids[other]!), forKey: key)
          for (id, row) in rows where key == "twin" && row.one["twin"] == other {
            rows[id]!.one["twin"] = nil
          }
          rows[ids[part]!]!.one[key] = other
        }
        link("owner", "Owner")
        if Bool.random(using: &generator) { link("twin", "Badge") }
        if let badge = all(["Badge"]).randomElement(using: &generator) {
          var set = object.set("badges")
          set.insert(try writer.existingObject(with: ids[badge]!))
          object.setValue(set, forKey: "badges")
          rows[ids[part]!]!.badges.insert(badge)
        }
        if let piece = all(["Piece"]).randomElement(using: &generator) {
          try writer.existingObject(with: ids[piece]!).setValue(object, forKey: "part")
          rows[ids[piece]!]!.one["part"] = part
        }
        let listener = Listener(writer)
        try writer.save()
        for event in listener.events where event.name == .NSManagedObjectContextDidSave {
          reader.mergeChanges(
            fromContextDidSave: Notification(name: event.name, object: writer, userInfo: event.info))
        }
      case 7:
        let bound = Int.random(in: 0...max(next, 1), using: &generator)
        let name = ["Part", "SpecialPart"].randomElement(using: &generator)!
        let request = NSBatchUpdateRequest(entityName: name)
        request.predicate = NSPredicate(format: "n < %d", bound)
        request.propertiesToUpdate = ["text": "below \(bound)"]
        request.resultType = .updatedObjectIDsResultType
        let changed = try #require(
          (try writer.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])
        let expected = rows.filter {
          $0.value.n < bound && (name == "Part" ? parts : [name]).contains($0.value.entity)
        }
        #expect(Set(changed) == Set(expected.keys))
        for id in expected.keys { rows[id]!.text = "below \(bound)" }
        merge(NSUpdatedObjectIDsKey, changed, into: reader, writer)
      default:
        let name = ["Owner", "Part", "Piece", "Badge"].randomElement(using: &generator)!
        let low = Int.random(in: 0...max(next, 1), using: &generator)
        let fetch = NSFetchRequest<NSManagedObject>(entityName: name)
        fetch.predicate = NSPredicate(format: "n >= %d AND n < %d", low, low + 3)
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        let gone = try #require(
          (try writer.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])
        let direct = rows.filter {
          (low..<(low + 3)).contains($0.value.n)
            && (name == "Part" ? parts : [name]).contains($0.value.entity)
        }
        #expect(Set(gone) == Set(direct.keys))
        var lost = Set(direct.values.map(\.n))
        while true {
          let more = rows.values.filter {
            !lost.contains($0.n)
              && (lost.contains($0.one["owner"] ?? -1) || lost.contains($0.one["part"] ?? -1))
          }
          if more.isEmpty { break }
          lost.formUnion(more.map(\.n))
        }
        rows = rows.filter { !lost.contains($0.value.n) }
        for n in lost { ids[n] = nil }
        for id in rows.keys {
          rows[id]!.one = rows[id]!.one.filter { !lost.contains($0.value) }
          rows[id]!.badges.subtract(lost)
        }
        merge(NSDeletedObjectIDsKey, gone, into: reader, writer)
      }
      try compare(rows, reader)
      try compare(rows, writer)
      try compare(rows, stack.context())
    }
  }

  private func compare(_ expected: [NSManagedObjectID: Row], _ context: NSManagedObjectContext) throws {
    var found: [NSManagedObjectID: Row] = [:]
    for name in ["Owner", "Part", "Piece", "Badge"] {
      for object in try context.all(name) {
        let n = object.value(forKey: "n") as! Int
        var row = Row(entity: object.entity.name!, n: n)
        switch name {
        case "Part":
          row.text = object.value(forKey: "text") as? String
          row.one["owner"] = object.one("owner")?.value(forKey: "n") as? Int
          row.one["twin"] = object.one("twin")?.value(forKey: "n") as? Int
          row.badges = Set(object.set("badges").map { $0.value(forKey: "n") as! Int })
        case "Piece": row.one["part"] = object.one("part")?.value(forKey: "n") as? Int
        case "Owner":
          let members = Set(object.list("parts").map { $0.value(forKey: "n") as! Int })
          #expect(members == Set(expected.values.filter { $0.one["owner"] == n }.map(\.n)))
        default:
          let members = Set(object.set("parts").map { $0.value(forKey: "n") as! Int })
          #expect(members == Set(expected.values.filter { $0.badges.contains(n) }.map(\.n)))
        }
        found[object.objectID] = row
      }
    }
    #expect(found == expected)
    #expect(!context.hasChanges)
  }
}
