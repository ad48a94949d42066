import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: fetching")
struct FetchingBehaviour {
  private func titles(_ context: ModelContext, _ predicate: Predicate<Novel>) throws -> [String] {
    try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)])).map(\.title)
  }

  @Test("A fetch has unsaved models, changes and deletions", .tags(.documented))
  func pending() throws {
    let (context, writer) = try Shelf.filled()
    context.insert(Novel("Four", pages: 400))
    writer.novels[0].pages = 1000
    context.delete(writer.novels[2])
    #expect(try titles(context, #Predicate { $0.pages >= 200 }) == ["Four", "One", "Two"])
  }

  @Test("Without pending changes a fetch has what is stored", .tags(.documented))
  func stored() throws {
    let (context, writer) = try Shelf.filled()
    context.insert(Novel("Four", pages: 400))
    writer.novels[0].pages = 1000
    var descriptor = FetchDescriptor<Novel>(
      predicate: #Predicate { $0.pages >= 200 }, sortBy: [SortDescriptor(\.title)])
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor).map(\.title) == ["Three", "Two"])
    #expect(try context.fetchCount(descriptor) == 2)
  }

  @Test("A descriptor includes pending changes, and has no limit, at first", .tags(.documented))
  func defaults() {
    let descriptor = FetchDescriptor<Novel>()
    #expect(descriptor.includePendingChanges && descriptor.fetchLimit == nil && descriptor.fetchOffset == nil)
    #expect(descriptor.predicate == nil && descriptor.sortBy.isEmpty && descriptor.propertiesToFetch.isEmpty)
  }

  @Test("A limit and an offset are a page of the order", .tags(.documented))
  func pages() throws {
    let context = try Shelf.context()
    for number in 0..<25 { context.insert(Novel(String(format: "%02d", number))) }
    try context.save()
    var descriptor = FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.title)])
    descriptor.fetchLimit = 10
    descriptor.fetchOffset = 20
    #expect(try context.fetch(descriptor).map(\.title) == ["20", "21", "22", "23", "24"])
    descriptor.fetchOffset = 30
    #expect(try context.fetch(descriptor).isEmpty)
  }

  @Test("A page counts unsaved models and deletions", .tags(.decided))
  func pendingPages() throws {
    let context = try Shelf.context()
    for number in 0..<10 { context.insert(Novel("\(number)")) }
    try context.save()
    for novel in try context.all(Novel.self) where novel.title == "2" || novel.title == "3" {
      context.delete(novel)
    }
    context.insert(Novel("1b"))
    var descriptor = FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.title)])
    descriptor.fetchLimit = 4
    #expect(try context.fetch(descriptor).map(\.title) == ["0", "1", "1b", "4"])
    descriptor.fetchOffset = 2
    #expect(try context.fetch(descriptor).map(\.title) == ["1b", "4", "5", "6"])
  }

  @Test("The first model of an order is fetched with a limit of one", .tags(.widelyKnown))
  func first() throws {
    let (context, _) = try Shelf.filled()
    var descriptor = FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.pages, order: .reverse)])
    descriptor.fetchLimit = 1
    #expect(try context.fetch(descriptor).first?.title == "Three")
  }

  @Test("Several descriptors sort one after the other", .tags(.documented))
  func sorting() throws {
    let context = try Shelf.context()
    for (title, pages) in [("b", 1), ("a", 2), ("c", 1), ("d", 2)] {
      context.insert(Novel(title, pages: pages))
    }
    let descriptor = FetchDescriptor<Novel>(
      sortBy: [SortDescriptor(\.pages, order: .reverse), SortDescriptor(\.title)])
    #expect(try context.fetch(descriptor).map(\.title) == ["a", "d", "b", "c"])
    try context.save()
    #expect(try context.fetch(descriptor).map(\.title) == ["a", "d", "b", "c"])
  }

  @Test("fetchCount counts without making instances", .tags(.documented))
  func count() throws {
    let (context, writer) = try Shelf.filled()
    let fresh = ModelContext(context.container)
    #expect(try fresh.fetchCount(FetchDescriptor<Novel>(predicate: #Predicate { $0.pages > 100 })) == 2)
    let none: Novel? = fresh.registeredModel(for: writer.novels[0].persistentModelID)
    #expect(none == nil)
  }

  @Test("fetchIdentifiers has identifiers in the order, without instances", .tags(.documented))
  func identifiers() throws {
    let (context, writer) = try Shelf.filled()
    let fresh = ModelContext(context.container)
    let ids = try fresh.fetchIdentifiers(
      FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.pages, order: .reverse)]))
    #expect(ids == writer.novels.reversed().map(\.persistentModelID))
    let none: Novel? = fresh.registeredModel(for: ids[0])
    #expect(none == nil)
  }

  @Test("A fetch in batches refuses pending changes by name", .tags(.documented))
  func batchesRefuse() throws {
    let (context, writer) = try Shelf.filled()
    writer.name = "Bea"
    #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
      try context.fetch(FetchDescriptor<Novel>(), batchSize: 2)
    }
    var descriptor = FetchDescriptor<Novel>()
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor, batchSize: 2).count == 3)
  }

  @Test("A result in batches is a collection: it has positions, slices and an end", .tags(.documented))
  func batches() throws {
    let context = try Shelf.context()
    for number in 0..<25 { context.insert(Novel(String(format: "%02d", number))) }
    try context.save()
    let found = try context.fetch(FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.title)]), batchSize: 4)
    #expect(found.count == 25 && found.last?.title == "24")
    #expect(found[10..<13].map(\.title) == ["10", "11", "12"])
    #expect(found.reversed().first?.title == "24" && found.first === found[0])
  }

  @Test("enumerate visits every model once, in order, whatever the batch size", .tags(.documented))
  func enumerate() throws {
    let context = try Shelf.context()
    for number in 0..<23 { context.insert(Novel(String(format: "%02d", number))) }
    try context.save()
    for size in [1, 7, 23, 5000] {
      var seen: [String] = []
      try context.enumerate(FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.title)]), batchSize: size) {
        seen.append($0.title)
      }
      #expect(seen == (0..<23).map { String(format: "%02d", $0) })
    }
  }

  @Test("enumerate tells of changes that would be lost", .tags(.documented))
  func mutations() throws {
    let (context, _) = try Shelf.filled()
    #expect(throws: SwiftDataError.self) {
      try context.enumerate(FetchDescriptor<Novel>(), batchSize: 2) { $0.pages += 1 }
    }
    context.rollback()
    try context.enumerate(FetchDescriptor<Novel>(), batchSize: 2, allowEscapingMutations: true) {
      $0.pages += 1
    }
    try context.save()
    #expect(try ModelContext(context.container).all(Novel.self).map(\.pages).sorted() == [101, 201, 301])
  }

  @Test("An error of the block ends an enumeration", .tags(.documented))
  func enumerationError() throws {
    struct Stop: Error {}
    let (context, _) = try Shelf.filled()
    var seen = 0
    #expect(throws: Stop.self) {
      try context.enumerate(FetchDescriptor<Novel>()) { _ in
        seen += 1
        if seen == 2 { throw Stop() }
      }
    }
    #expect(seen == 2)
  }

  @Test("Prefetched relationships are there without a query of their own", .tags(.documented))
  func prefetch() throws {
    let (context, writer) = try Shelf.filled()
    let fresh = ModelContext(context.container)
    var descriptor = FetchDescriptor<Writer>()
    descriptor.relationshipKeyPathsForPrefetching = [\.novels]
    let found = try fresh.fetch(descriptor)
    let novel: Novel? = fresh.registeredModel(for: writer.novels[0].persistentModelID)
    #expect(found.count == 1 && novel != nil)
  }

  @Test("Properties to fetch leave the others readable", .tags(.documented))
  func properties() throws {
    let (context, _) = try Shelf.filled()
    let fresh = ModelContext(context.container)
    var descriptor = FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.pages)])
    descriptor.propertiesToFetch = [\.title]
    #expect(try fresh.fetch(descriptor).map(\.pages) == [100, 200, 300])
  }

  @Test("A condition follows an optional relationship, and nil is no match", .tags(.widelyKnown))
  func optionalChain() throws {
    let (context, _) = try Shelf.filled()
    context.insert(Novel("Loose"))
    for _ in 0..<2 {
      #expect(try titles(context, #Predicate { $0.writer?.name == "Ann" }) == ["One", "Three", "Two"])
      #expect(try titles(context, #Predicate { $0.writer == nil }) == ["Loose"])
      #expect(try titles(context, #Predicate { $0.writer?.name != "Ann" }) == ["Loose"])
      #expect(
        try titles(context, #Predicate { $0.writer?.name.contains("nn") == true }) == ["One", "Three", "Two"])
      #expect(try titles(context, #Predicate { $0.writer.flatMap { $0.name } == "Ann" }).count == 3)
      try context.save()
    }
  }

  @Test("A condition on a to-many relationship counts, and asks for any or all", .tags(.widelyKnown))
  func toMany() throws {
    let (context, _) = try Shelf.filled()
    context.insert(Writer("Bea"))
    for _ in 0..<2 {
      func names(_ predicate: Predicate<Writer>) throws -> [String] {
        try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
      }
      #expect(try names(#Predicate { $0.novels.isEmpty }) == ["Bea"])
      #expect(try names(#Predicate { $0.novels.count > 2 }) == ["Ann"])
      #expect(try names(#Predicate { $0.novels.contains { $0.pages > 250 } }) == ["Ann"])
      #expect(try names(#Predicate { $0.novels.allSatisfy { $0.pages > 150 } }) == ["Bea"])
      #expect(try names(#Predicate { $0.novels.filter { $0.pages > 150 }.count == 2 }) == ["Ann"])
      try context.save()
    }
  }

  @Test("A condition on an optional array goes through flatMap or a default", .tags(.widelyKnown))
  func optionalToMany() throws {
    let (context, writer) = try Shelf.filled()
    writer.novels[1].borrowings = [Borrowing(day: 3)]
    for _ in 0..<2 {
      #expect(
        try titles(context, #Predicate { $0.borrowings.flatMap { $0.contains { $0.day == 3 } } == true })
          == ["Two"])
      #expect(try titles(context, #Predicate { $0.borrowings?.contains { $0.day == 3 } == true }) == ["Two"])
      #expect(try titles(context, #Predicate { $0.borrowings?.isEmpty == false }) == ["Two"])
      try context.save()
    }
  }

  @Test("A condition compares a captured identifier, and a model by it", .tags(.widelyKnown))
  func byIdentifier() throws {
    let (context, writer) = try Shelf.filled()
    let id = writer.persistentModelID
    #expect(try titles(context, #Predicate { $0.writer?.persistentModelID == id }).count == 3)
    let ids = Set(writer.novels.prefix(2).map(\.persistentModelID))
    #expect(try titles(context, #Predicate { ids.contains($0.persistentModelID) }) == ["One", "Two"])
  }

  @Test("Text conditions mind the case, and localized ones do not", .tags(.documented))
  func texts() throws {
    let context = try Shelf.context()
    for title in ["Émile", "emile", "Zola"] { context.insert(Novel(title)) }
    for _ in 0..<2 {
      #expect(try titles(context, #Predicate { $0.title.contains("mil") }).count == 2)
      #expect(try titles(context, #Predicate { $0.title.starts(with: "e") }) == ["emile"])
      #expect(try titles(context, #Predicate { $0.title.localizedStandardContains("EMI") }).count == 2)
      try context.save()
    }
  }

  @Test("A condition in a variable is one for the store and for memory", .tags(.documented))
  func variable() throws {
    let (context, _) = try Shelf.filled()
    let limit = 150
    let predicate = #Predicate<Novel> { $0.pages > limit }
    #expect(try titles(context, predicate) == ["Three", "Two"])
    #expect(try context.all(Novel.self).filter { try predicate.evaluate($0) }.count == 2)
  }

  @Test("A date that is captured outside is compared", .tags(.widelyKnown))
  func dates() throws {
    let context = try Shelf.context()
    let (old, new) = (Novel("Old"), Novel("New"))
    old.added = Date(timeIntervalSince1970: 0)
    context.insert(old)
    context.insert(new)
    let limit = Date(timeIntervalSince1970: 1000)
    for _ in 0..<2 {
      #expect(try titles(context, #Predicate { $0.added < limit }) == ["Old"])
      try context.save()
    }
  }
}
