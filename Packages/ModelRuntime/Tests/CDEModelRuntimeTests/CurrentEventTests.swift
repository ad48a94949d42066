import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

// Source: "changedValuesForCurrentEvent()" of Core Data's documentation: keys and old values of persistent properties that
// changed since the last announcement.
@Suite("Values before the current event")
struct CurrentEventTests {
  private func item(in context: NSManagedObjectContext) throws -> Item {
    let item = Item(context: context)
    (item.title, item.count, item.note) = ("stored", 1, "n")
    try context.save()
    return item
  }

  @Test("An observer of the changes gets the values before them, and nothing is left afterwards")
  func observer() throws {
    let context = try Stack().context()
    let item = try item(in: context)
    var seen: [[String: Any]] = []
    let listener = Listener(context) { note in
      if note.name == .NSManagedObjectContextObjectsDidChange {
        seen.append(item.changedValuesForCurrentEvent())
      }
    }
    item.title = "b"
    item.note = nil
    #expect(item.changedValuesForCurrentEvent()["title"] as? String == "stored")
    context.processPendingChanges()
    #expect(item.changedValuesForCurrentEvent().isEmpty)
    item.title = "c"
    item.note = "m"
    context.processPendingChanges()
    #expect(seen.count == 2)
    #expect(
      seen[0]["title"] as? String == "stored" && seen[0]["note"] as? String == "n" && seen[0].count == 2)
    #expect(seen[1]["title"] as? String == "b" && seen[1]["note"] is NSNull && seen[1].count == 2)
    #expect(item.changedValues()["title"] as? String == "c")
    withExtendedLifetime(listener) {}
  }

  @Test("A value that a hook of the save sets belongs to the event that the save announces")
  func saving() throws {
    let stack = try Stack(
      model: model(
        entity(
          "Stamped", Stamped.self,
          [attribute("name", .stringAttributeType), attribute("stamp", .integer32AttributeType, default: 0)]))
    )
    let context = stack.context()
    let stamped = context.make("Stamped", ["name": "a"])
    try context.save()
    var seen: [[String: Any]] = []
    let listener = Listener(context) { note in
      if note.name == .NSManagedObjectContextObjectsDidChange {
        seen.append(stamped.changedValuesForCurrentEvent())
      }
    }
    stamped.setValue("b", forKey: "name")
    context.processPendingChanges()
    stamped.setValue("c", forKey: "name")
    try context.save()
    #expect(seen.count == 2)
    #expect(seen.last?["name"] as? String == "b")
    #expect(seen.last?["stamp"] as? Int == 1 && seen.last?.count == 2)
    #expect(stamped.changedValuesForCurrentEvent().isEmpty)
    withExtendedLifetime(listener) {}
  }

  @Test("Former relationships are those before the event, on both sides")
  func relationships() throws {
    let context = try Stack().context()
    let item = try item(in: context)
    let (first, second) = (Category(context: context), Category(context: context))
    let tags = (0..<3).map { index in
      let tag = Tag(context: context)
      tag.name = "\(index)"
      return tag
    }
    item.category = first
    item.addToTags(tags[0])
    try context.save()
    item.category = second
    item.addToTags(tags[1])
    #expect(item.changedValuesForCurrentEvent()["category"] as? Category === first)
    #expect(item.changedValuesForCurrentEvent()["tags"] as? Set<Tag> == [tags[0]])
    #expect(first.changedValuesForCurrentEvent()["items"] as? Set<Item> == [item])
    #expect((second.changedValuesForCurrentEvent()["items"] as? NSSet)?.count == 0)
    context.processPendingChanges()
    item.category = nil
    item.removeFromTags(tags[0])
    item.addToTags(tags[2])
    #expect(item.changedValuesForCurrentEvent()["category"] as? Category === second)
    #expect(item.changedValuesForCurrentEvent()["tags"] as? Set<Tag> == [tags[0], tags[1]])
    #expect(second.changedValuesForCurrentEvent()["items"] as? Set<Item> == [item])
    #expect(first.changedValuesForCurrentEvent().isEmpty)
    context.processPendingChanges()
    #expect(item.committedValues(forKeys: ["tags"])["tags"] as? Set<Tag> == [tags[0]])
    #expect(item.committedValues(forKeys: ["category"])["category"] as? Category === first)
    #expect(item.committedValues(forKeys: nil)["tags"] == nil)
  }

  @Test("A new object had the defaults before, and a rollback leaves no former values")
  func newAndRolledBack() throws {
    let context = try Stack().context()
    let item = try item(in: context)
    let new = Item(context: context)
    new.title = "new"
    #expect(new.changedValuesForCurrentEvent()["title"] as? String == "")
    item.title = "b"
    context.processPendingChanges()
    item.title = "c"
    context.rollback()
    #expect(item.changedValuesForCurrentEvent().isEmpty)
    item.title = "d"
    #expect(item.changedValuesForCurrentEvent()["title"] as? String == "stored")
  }

  @Test("Random changes and announcements: the former values are those of the last announcement")
  func random() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SplitMix(state: seed)
    let context = try Stack().context()
    let items = (0..<4).map { _ in Item(context: context) }
    try context.save()
    struct Values: Equatable {
      var title: String
      var count: Int
      var note: String?
      init(_ item: Item) { (title, count, note) = (item.title, item.count, item.note) }
    }
    var last = items.map(Values.init)
    for step in 0..<600 {
      let place = Int.random(in: 0..<4, using: &generator)
      let item = items[place]
      let action = Int.random(in: 0..<10, using: &generator)
      switch action {
      case 0...2: item.title = "\(Int.random(in: 0..<3, using: &generator))"
      case 3...4: item.count = Int.random(in: 0..<3, using: &generator)
      case 5...6: item.note = Bool.random(using: &generator) ? nil : "n\(step % 2)"
      case 7: context.processPendingChanges()
      case 8: if step % 7 == 0 { try context.save() } else { continue }
      default: if step % 11 == 0 { context.rollback() } else { continue }
      }
      if action > 6 { last = items.map(Values.init) }
      for (item, former) in zip(items, last) {
        let now = Values(item)
        let found = item.changedValuesForCurrentEvent()
        #expect(found["title"] as? String == (now.title == former.title ? nil : former.title), "seed \(seed)")
        #expect(found["count"] as? Int == (now.count == former.count ? nil : former.count), "seed \(seed)")
        #expect((found["note"] != nil) == (now.note != former.note), "seed \(seed)")
        if now.note != former.note { #expect(found["note"] as? String == former.note, "seed \(seed)") }
      }
    }
  }
}

private final class Stamped: NSManagedObject {
  override func willSave() {
    guard let stamp = value(forKey: "stamp") as? Int, changedValues()["stamp"] == nil else { return }
    setValue(stamp + 1, forKey: "stamp")
  }
}
