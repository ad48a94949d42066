import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: values, inheritance and errors")
struct ValueBehaviour {
  private func stored(_ change: (Profile) -> Void) throws -> Profile {
    let context = try Shelf.context()
    let profile = Profile("Rome")
    change(profile)
    context.insert(profile)
    try context.save()
    return try ModelContext(context.container).same(profile)
  }

  @Test("Enumerations with and without raw values are stored", .tags(.documented))
  func enumerations() throws {
    let profile = try stored {
      $0.level = .gold
      $0.mood = .wild
    }
    #expect(profile.level == .gold && profile.mood == .wild)
    #expect(try stored { _ in }.mood == nil)
  }

  @Test("A struct is stored, and changing a part of it is a change of the model", .tags(.documented))
  func structs() throws {
    let profile = try stored { $0.address.zip = "00100" }
    #expect(profile.address == Profile.Address(street: "Main", city: "Rome", zip: "00100"))
    let context = try #require(profile.modelContext)
    profile.address.city = "Oslo"
    #expect(profile.hasChanges)
    try context.save()
    #expect(try ModelContext(context.container).same(profile).address.city == "Oslo")
  }

  @Test("An optional struct is nil, or has its values", .tags(.documented))
  func optionalStruct() throws {
    #expect(try stored { _ in }.second == nil)
    #expect(
      try stored { $0.second = Profile.Address(street: "A", city: "B") }.second
        == Profile.Address(street: "A", city: "B"))
  }

  @Test("Arrays and dictionaries of values are stored in their order", .tags(.documented))
  func collections() throws {
    let profile = try stored {
      $0.nicknames = ["b", "a", "b"]
      $0.scores = ["x": 1, "y": 2]
    }
    #expect(profile.nicknames == ["b", "a", "b"] && profile.scores == ["x": 1, "y": 2])
    let context = try #require(profile.modelContext)
    profile.nicknames.append("c")
    try context.save()
    #expect(try ModelContext(context.container).same(profile).nicknames == ["b", "a", "b", "c"])
  }

  @Test("External storage keeps large data", .tags(.documented))
  func external() throws {
    let store = try TemporaryStore()
    let photo = Data((0..<500_000).map { UInt8(truncatingIfNeeded: $0) })
    do {
      let container = try ModelContainer(
        for: Profile.self, configurations: ModelConfiguration(url: store.url))
      let context = ModelContext(container)
      let profile = Profile("Rome")
      profile.photo = photo
      context.insert(profile)
      try context.save()
    }
    let container = try ModelContainer(for: Profile.self, configurations: ModelConfiguration(url: store.url))
    #expect(try ModelContext(container).all(Profile.self).first?.photo == photo)
  }

  @Test("An ephemeral attribute is observed, and not stored", .tags(.documented))
  func ephemeral() throws {
    let profile = Profile("Rome")
    let wakes = Wakes { _ = profile.cursor }
    profile.cursor = 7
    #expect(wakes.count == 1)
    #expect(try stored { $0.cursor = 7 }.cursor == 0)
  }

  @Test("Decimals, URLs, UUIDs and dates come back exactly", .tags(.documented))
  func scalars() throws {
    let key = UUID()
    let profile = try stored {
      $0.price = Decimal(string: "12345678.901234")!
      $0.site = URL(string: "https://swift.org/a?b=c#d")
      $0.key = key
    }
    #expect(profile.price == Decimal(string: "12345678.901234") && profile.key == key)
    #expect(profile.site?.absoluteString == "https://swift.org/a?b=c#d")
  }

  @Test("Texts of any language and emptiness come back exactly", .onSQLite, .tags(.widelyKnown))
  func texts() throws {
    let context = try Shelf.context()
    for title in ["", "Æ", "👩‍👩‍👧", "a\u{0}b", "日本", "e\u{301}"] { context.insert(Novel(title)) }
    try context.save()
    let found = Set(try ModelContext(context.container).all(Novel.self).map { Array($0.title.utf8) })
    #expect(found == Set(["", "Æ", "👩‍👩‍👧", "a\u{0}b", "日本", "e\u{301}"].map { Array($0.utf8) }))
  }

  @Test("A condition compares an enumeration and a part of a struct", .tags(.decided))
  func conditions() throws {
    let context = try Shelf.context()
    let (one, two) = (Profile("Rome"), Profile("Oslo"))
    two.level = .gold
    context.insert(one)
    context.insert(two)
    let gold = Profile.Level.gold
    for _ in 0..<2 {
      #expect(
        try context.fetch(FetchDescriptor<Profile>(predicate: #Predicate { $0.level == gold })) == [two])
      #expect(
        try context.fetch(FetchDescriptor<Profile>(predicate: #Predicate { $0.address.city == "Rome" }))
          == [one])
      try context.save()
    }
  }

  // MARK: Inheritance

  private func gallery() throws -> ModelContext {
    let context = try Shelf.context()
    context.insert(Artwork(title: "Song"))
    context.insert(Painting(title: "Oil", width: 2))
    context.insert(Fresco(title: "Sky", width: 9, wall: "North"))
    try context.save()
    return context
  }

  @Test("A fetch of a class has instances of its subclasses, as such", .tags(.documented))
  func deepFetch() throws {
    let context = ModelContext(try gallery().container)
    let all = try context.fetch(FetchDescriptor<Artwork>(sortBy: [SortDescriptor(\.title)]))
    #expect(all.map { "\(type(of: $0))" } == ["Painting", "Fresco", "Artwork"])
    #expect(try context.count(Painting.self) == 2)
    #expect((all[1] as? Fresco)?.wall == "North")
  }

  @Test("A condition asks for a subclass, and for its properties", .tags(.documented))
  func casts() throws {
    let context = try gallery()
    #expect(try context.fetchCount(FetchDescriptor<Artwork>(predicate: #Predicate { $0 is Painting })) == 2)
    let wide = FetchDescriptor<Artwork>(
      predicate: #Predicate { if let painting = $0 as? Painting { painting.width > 5 } else { false } })
    #expect(try context.fetch(wide).map(\.title) == ["Sky"])
  }

  @Test("A subclass is fetched by a property that it inherits", .tags(.documented))
  func inherited() throws {
    let context = try gallery()
    let found = try context.fetch(
      FetchDescriptor<Painting>(
        predicate: #Predicate { $0.title != "Oil" }, sortBy: [SortDescriptor(\.title)]))
    #expect(found.map(\.title) == ["Sky"])
  }

  @Test("An identifier names the entity of the last class", .tags(.documented))
  func entityNames() throws {
    let context = try gallery()
    let fresco = try context.all(Fresco.self)[0]
    #expect(fresco.persistentModelID.entityName == "Fresco")
    #expect(ModelContext(context.container).model(for: fresco.persistentModelID) is Fresco)
  }

  @Test(
    "Deleting all of a class deletes those of its subclasses, or leaves them on request", .tags(.documented))
  func deleting() throws {
    let context = try gallery()
    try context.delete(model: Painting.self, includeSubclasses: false)
    try context.save()
    #expect(try context.all(Artwork.self).map(\.title).sorted() == ["Sky", "Song"])
    try context.delete(model: Artwork.self)
    try context.save()
    #expect(try context.count(Artwork.self) == 0)
  }

  // MARK: Errors

  @Test("A condition that no store can answer is told by its construct, before the fetch", .tags(.documented))
  func unsupportedPredicate() throws {
    let context = try gallery()
    let error = try #require(throws: SwiftDataError.self) {
      try context.fetch(FetchDescriptor<Artwork>(predicate: #Predicate { $0.title.count > 3 }))
    }
    #expect(error == .unsupportedPredicate && error.message.contains("count"))
  }

  @Test("An order by a computed property is told", .tags(.documented))
  func unsupportedOrder() throws {
    let context = try gallery()
    #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
      try context.fetch(FetchDescriptor<Artwork>(sortBy: [SortDescriptor(\.title.count)]))
    }
  }

  @Test("A key path to prefetch that is no relationship is told", .tags(.documented))
  func unsupportedKeyPath() throws {
    let context = try gallery()
    var descriptor = FetchDescriptor<Novel>()
    descriptor.propertiesToFetch = [\.isOpen]
    #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.fetch(descriptor) }
  }

  @Test("A store that can't be opened is told with its cause", .tags(.documented))
  func loadIssue() throws {
    let url = URL(fileURLWithPath: "/proc/none/store.sqlite")
    let error = try #require(throws: SwiftDataError.self) {
      try ModelContainer(for: Desk.self, configurations: ModelConfiguration(url: url))
    }
    #expect(error == .loadIssueModelContainer && error.cause != nil)
  }

  @Test("A read-only configuration refuses a save with an error", .tags(.documented))
  func readOnly() throws {
    let store = try TemporaryStore()
    _ = try ModelContainer(for: Desk.self, configurations: ModelConfiguration(url: store.url))
    let container = try ModelContainer(
      for: Desk.self, configurations: ModelConfiguration(url: store.url, allowsSave: false))
    let context = ModelContext(container)
    context.insert(Desk("Oak"))
    #expect(throws: (any Error).self) { try context.save() }
    #expect(context.hasChanges)
  }
}
