import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: unique values")
struct UpsertBehaviour {
  @Test("A second model with the unique value updates the row at the save", .tags(.documented))
  func attribute() throws {
    let context = try Shelf.context()
    context.insert(Imprint(code: "A", city: "Rome"))
    try context.save()
    context.insert(Imprint(code: "A", city: "Oslo"))
    try context.save()
    #expect(try context.all(Imprint.self).map(\.city) == ["Oslo"])
    #expect(try ModelContext(context.container).all(Imprint.self).map(\.city) == ["Oslo"])
  }

  @Test("Both instances have the row's identity after an upsert", .tags(.decided))
  func identity() throws {
    let context = try Shelf.context()
    let first = Imprint(code: "A", city: "Rome")
    context.insert(first)
    try context.save()
    let id = first.persistentModelID
    let second = Imprint(code: "A", city: "Oslo")
    context.insert(second)
    try context.save()
    #expect(second.persistentModelID == id)
    #expect(first.city == "Oslo" && second.city == "Oslo" && second == first)
    #expect(second.modelContext === context && !context.hasChanges)
    second.city = "Paris"
    #expect(first.city == "Paris")
    try context.save()
    #expect(try ModelContext(context.container).all(Imprint.self).map(\.city) == ["Paris"])
  }

  @Test("A unique constraint of the class works as the attribute's option", .tags(.documented))
  func constraint() throws {
    let context = try Shelf.context()
    context.insert(Genre("Crime", weight: 1))
    try context.save()
    context.insert(Genre("Crime", weight: 2))
    context.insert(Genre("Love", weight: 3))
    try context.save()
    let all = try context.fetch(FetchDescriptor<Genre>(sortBy: [SortDescriptor(\.name)]))
    #expect(all.map(\.weight) == [2, 3])
  }

  @Test("Two properties are unique together", .tags(.documented))
  func pair() throws {
    let context = try Shelf.context()
    context.insert(Seat("A", 1, guest: "Ann"))
    context.insert(Seat("A", 2, guest: "Bea"))
    context.insert(Seat("B", 1, guest: "Cid"))
    try context.save()
    context.insert(Seat("A", 2, guest: "Dan"))
    try context.save()
    let all = try context.fetch(
      FetchDescriptor<Seat>(sortBy: [SortDescriptor(\.row), SortDescriptor(\.number)]))
    #expect(all.map(\.guest) == ["Ann", "Dan", "Cid"])
  }

  @Test("Two new models with one unique value are one row, with the values of the last", .tags(.decided))
  func bothNew() throws {
    let context = try Shelf.context()
    context.insert(Imprint(code: "A", city: "Rome"))
    context.insert(Imprint(code: "A", city: "Oslo"))
    try context.save()
    #expect(try context.all(Imprint.self).map(\.city) == ["Oslo"])
  }

  @Test("A row keeps its relationships if the second model has none", .tags(.widelyKnown))
  func keepsRelationships() throws {
    let (context, writer) = try Shelf.filled()
    let imprint = Imprint(code: "A", city: "Rome")
    writer.novels[0].imprint = imprint
    try context.save()
    context.insert(Imprint(code: "A", city: "Oslo"))
    try context.save()
    let fresh = try ModelContext(context.container).all(Imprint.self)
    #expect(fresh.map(\.city) == ["Oslo"] && fresh[0].novels.map(\.title) == ["One"])
  }

  @Test("A second model brings its relationships to the row", .tags(.documented))
  func bringsRelationships() throws {
    let (context, writer) = try Shelf.filled()
    context.insert(Imprint(code: "A", city: "Rome"))
    try context.save()
    let second = Imprint(code: "A", city: "Oslo")
    second.novels = [writer.novels[1]]
    context.insert(second)
    try context.save()
    let fresh = try ModelContext(context.container).all(Imprint.self)
    #expect(fresh.count == 1 && fresh[0].novels.map(\.title) == ["Two"])
    #expect(writer.novels[1].imprint?.city == "Oslo")
  }

  @Test("An upsert from another context updates the registered instance", .tags(.widelyKnown))
  func otherContext() throws {
    let context = try Shelf.context()
    let mine = Imprint(code: "A", city: "Rome")
    context.insert(mine)
    try context.save()
    let other = ModelContext(context.container)
    other.insert(Imprint(code: "A", city: "Oslo"))
    try other.save()
    #expect(try context.all(Imprint.self).first === mine)
    #expect(mine.city == "Oslo")
  }

  @Test("An import that runs twice leaves one row for each value", .tags(.widelyKnown))
  func importTwice() throws {
    let context = try Shelf.context()
    for run in 0..<2 {
      for number in 0..<50 { context.insert(Genre("G\(number)", weight: run)) }
      try context.save()
    }
    #expect(try context.count(Genre.self) == 50)
    #expect(try context.all(Genre.self).allSatisfy { $0.weight == 1 })
  }
}
