import CDEManagedModel
import CDEModelRuntime
import CDEStore
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@Suite("Migration steps")
struct MigrationStepTests {
  private func store(cover: Int = 0) throws -> OldStore {
    try OldStore(Library.old()) { try Library.fill($0, books: 5, cover: cover) }
  }

  private func open(
    _ store: OldStore, _ model: NSManagedObjectModel, _ steps: [MigrationStep]
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: store.file)
    description.migrationSteps = steps
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  private func open(_ store: OldStore, _ steps: [MigrationStep]) throws -> NSPersistentContainer {
    try open(store, Library.new(), steps)
  }

  private static let numbers = MigrationStep(from: Library.old(), to: Library.new()) { old, new in
    for book in try old.snapshots(of: "Book") {
      let made = try #require(try new.object(for: book))
      let (title, pages): (String, String?) = (try book["title"], try book["pages"])
      try made.set("name", to: title)
      try made.set("pages", to: pages.flatMap { Int($0) })
    }
    try new.insert("Catalogue").set("count", to: try new.objects(of: "Book").count)
  }

  @Test("Code sets what can't be inferred, the rest is there already, and objects keep their IDs")
  func code() throws {
    let store = try store(cover: 200_000)
    let facts = try store.facts(Library.old())
    let keys = try store.sql("SELECT Z_PK, ZTITLE FROM ZBOOK ORDER BY 1")
    let identifier = try store.sql("SELECT Z_UUID FROM Z_METADATA")
    try open(store, [Self.numbers]).close()
    #expect(try store.facts(Library.new()) == facts)
    #expect(try store.sql("SELECT Z_PK, ZNAME FROM ZBOOK ORDER BY 1") == keys)
    #expect(try store.sql("SELECT Z_UUID FROM Z_METADATA") == identifier)
    #expect(try store.sql("SELECT ZCOUNT FROM ZCATALOGUE") == [["5"]])
    #expect(try store.sql("PRAGMA integrity_check") == [["ok"]])
    // The copy of the model in the store is that of the new version.
    #expect(try store.plan(Library.new()).isNeeded == false)
    #expect(try store.sql("SELECT COUNT(*) FROM Z_MODELCACHE") == [["1"]])
  }

  @Test("A migrated store agrees with one in which the objects were made by hand")
  func agreement() throws {
    let store = try store()
    let byHand = try OldStore(Library.new()) { context in
      let shelves = (0..<2).map { context.make("Shelf", ["name": "shelf \($0)"]) }
      let labels = (0..<3).map { context.make("Label", ["text": "label \($0)"]) }
      for index in 0..<5 {
        let book = context.make("Book", ["name": "book \(index)", "pages": index * 100])
        book.setValue(shelves[index % 2], forKey: "shelf")
        book.setValue(NSSet(array: [labels[index % 3], labels[(index + 1) % 3]]), forKey: "labels")
      }
      context.make("Catalogue", ["count": 5])
    }
    try open(store, [Self.numbers]).close()
    #expect(try store.facts(Library.new()) == byHand.facts(Library.new()))
    let layout = "SELECT type, name, tbl_name FROM sqlite_master ORDER BY 1, 2"
    #expect(try store.sql(layout) == byHand.sql(layout))
  }

  @Test("Steps follow on each other, and what is left is inferred")
  func chain() throws {
    let versions = (1...5).map { number in
      model(entity("N", nil, (1...number).map { attribute("a\($0)", .integer64AttributeType) }))
    }
    func step(_ from: Int, _ to: Int) -> MigrationStep {
      MigrationStep(from: versions[from - 1], to: versions[to - 1]) { old, new in
        for number in try old.snapshots(of: "N") {
          let value: Int = try number["a\(from)"]
          try new.object(for: number)?.set("a\(to)", to: value * 10)
        }
      }
    }
    let store = try OldStore(versions[0]) { context in
      context.make("N", ["a1": 1])
      context.make("N", ["a1": 2])
    }
    let unused = step(4, 5)
    try open(store, versions[3], [step(1, 2), step(2, 3), unused]).close()
    #expect(
      try store.sql("SELECT ZA1, ZA2, ZA3, ZA4 FROM ZN ORDER BY 1")
        == [["1", "10", "100", "NULL"], ["2", "20", "200", "NULL"]])
    // A store in the middle begins there.
    let middle = try OldStore(versions[1]) { $0.make("N", ["a1": 1, "a2": 5]) }
    try open(middle, versions[2], [step(1, 2), step(2, 3)]).close()
    #expect(try middle.sql("SELECT ZA2, ZA3 FROM ZN") == [["5", "50"]])
  }

  @Test(
    "Objects are found where two tables become one, and relationships and deletions are those of the new model"
  )
  func merged() throws {
    let cat = entity("Cat", nil, [attribute("name", .stringAttributeType)])
    let dog = entity("Dog", nil, [attribute("name", .stringAttributeType)])
    let old = model(cat, dog)
    func new() -> NSManagedObjectModel {
      let pet = entity("Pet", nil, [attribute("name", .stringAttributeType)])
      pet.isAbstract = true
      pet.subentities = [entity("Cat"), entity("Dog")]
      connect(.one(pet, "friend"), .one(pet, "friendOf"))
      let sub = pet.subentities
      return model(pet, sub[0], sub[1])
    }
    let store = try OldStore(old) { context in
      for index in 0..<3 {
        context.make("Cat", ["name": "cat \(index)"])
        context.make("Dog", ["name": "dog \(index)"])
      }
    }
    let step = MigrationStep(from: old, to: new()) { old, new in
      for (cat, dog) in zip(
        try old.snapshots(of: "Cat").sorted { try $0["name", as: String.self] < $1["name"] },
        try old.snapshots(of: "Dog").sorted { try $0["name", as: String.self] < $1["name"] })
      {
        let (one, other) = (try #require(try new.object(for: cat)), try #require(try new.object(for: dog)))
        #expect(try one["name", as: String.self] == cat["name"])
        #expect(try other["name", as: String.self] == dog["name"])
        try one.relate("friend", to: other)
        #expect(try other.related("friendOf").map(\.entity) == ["Cat"])
        if try cat["name", as: String.self] == "cat 2" {
          new.delete(one)
          #expect(try new.object(for: cat) == nil)
        }
      }
    }
    try open(store, new(), [step]).close()
    #expect(
      try store.sql(
        "SELECT c.ZNAME, coalesce(d.ZNAME, '') FROM ZPET c LEFT JOIN ZPET d ON d.Z_PK = c.ZFRIEND ORDER BY 1")
        == [["cat 0", "dog 0"], ["cat 1", "dog 1"], ["dog 0", ""], ["dog 1", ""], ["dog 2", ""]])
  }

  @Test("Relationships of snapshots lead to snapshots, in their order")
  func relations() throws {
    let store = try store()
    let step = MigrationStep(from: Library.old(), to: Library.new()) { old, new in
      let shelves = try old.snapshots(of: "Shelf", where: NSPredicate(format: "name == %@", "shelf 0"))
      #expect(shelves.count == 1)
      let titles = try shelves[0].related("books").map { try $0["title", as: String.self] }
      #expect(titles == ["book 0", "book 2", "book 4"])
      let books = try shelves[0].related("books").reversed().compactMap { try new.object(for: $0) }
      for book in try old.snapshots(of: "Book") {
        #expect(try book.related("shelf").count == 1)
        try new.object(for: book)?.set("name", to: try book["title", as: String.self])
      }
      try new.object(for: shelves[0])?.relate("books", to: books)
    }
    try open(store, [step]).close()
    let container = try store.opened(Library.new())
    defer { try? container.close() }
    try container.work { context in
      let shelf = try #require(try context.all("Shelf", NSPredicate(format: "name == 'shelf 0'")).first)
      #expect(
        shelf.list("books").map { $0.value(forKey: "name") as? String } == ["book 4", "book 2", "book 0"])
    }
  }

  @Test("Mistakes of the code and values that stay missing are typed errors, and the store stays as it is")
  func mistakes() throws {
    struct Failure: Error {}
    let store = try store()
    func check(
      _ code: ManagedObjectError.Code, _ part: String,
      _ body: @escaping @Sendable (MigrationStep.Old, MigrationStep.New) throws -> Void
    ) throws {
      try store.expectFailure(code, part) {
        _ = try open(store, [MigrationStep(from: Library.old(), to: Library.new(), body)])
      }
    }
    try check(.migration, "code of a migration step") { _, _ in throw Failure() }
    // The new version requires a name.
    try check(.migration, "Book.name") { _, _ in }
    try check(.unknownEntity, "Did you mean \"Book\"") { old, _ in _ = try old.snapshots(of: "Bok") }
    try check(.unknownEntity, "Catalogue") { old, _ in _ = try old.snapshots(of: "Catalogue") }
    try check(.unknownEntity, "Gone") { _, new in _ = try new.insert("Gone") }
    @Sendable func first(_ old: MigrationStep.Old) throws -> MigrationStep.Snapshot {
      try old.snapshots(of: "Book")[0]
    }
    try check(.invalidValue, "no such property") { old, _ in _ = try first(old)["name", as: String.self] }
    try check(.invalidValue, "not Int") { old, _ in _ = try first(old)["title", as: Int.self] }
    try check(.invalidValue, "Read it as an optional") { old, _ in _ = try first(old)["cover", as: Data.self]
    }
    try check(.invalidValue, "Use related") { old, _ in _ = try first(old)["shelf", as: String.self] }
    try check(.invalidValue, "Use a subscript") { old, _ in _ = try first(old).related("title") }
    try check(.invalidValue, "can't be stored") { old, new in
      try new.object(for: first(old))?.set("pages", to: "many")
    }
    try check(.migrationPolicy, "no property") { old, new in
      try new.object(for: first(old))?.set("title", to: "x")
    }
    try check(.invalidValue, "can't hold") { old, new in
      let object = try #require(try new.object(for: first(old)))
      try object.relate("shelf", to: object)
    }
    try check(.predicate, "author") { old, _ in
      _ = try old.snapshots(of: "Book", where: NSPredicate(format: "author == 1"))
    }
  }

  @Test("Values that the new version wants unique are obstacles when the code leaves duplicates")
  func duplicates() throws {
    func version(_ number: Int) -> NSManagedObjectModel {
      let tag = entity("Tag", nil, [attribute("name", .stringAttributeType)])
      if number == 2 { tag.uniquenessConstraints = [["name"]] }
      return model(tag)
    }
    let store = try OldStore(version(1)) { context in
      for name in ["a", "b", "a"] { context.make("Tag", ["name": name]) }
    }
    try store.expectFailure(.migrationConstraint, "Tag") {
      _ = try open(store, version(2), [MigrationStep(from: version(1), to: version(2)) { _, _ in }])
    }
    let merging = MigrationStep(from: version(1), to: version(2)) { _, new in
      var known: Set<String> = []
      for tag in try new.objects(of: "Tag") where try !known.insert(tag["name"]).inserted { new.delete(tag) }
    }
    try open(store, version(2), [merging]).close()
    #expect(try store.sql("SELECT ZNAME FROM ZTAG ORDER BY 1") == [["a"], ["b"]])
  }

  @Test("A process that is killed in a step leaves the old store, and the next opening migrates it")
  func killed() async throws {
    let store = try store(cover: 200_000)
    let before = try (store.contents(), store.facts(Library.old()))
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = store.file.path as String] in
      let deadly = MigrationStep(from: Library.old(), to: Library.new()) { _, new in
        for book in try new.objects(of: "Book") { try book.set("name", to: "lost") }
        kill(getpid(), SIGKILL)
      }
      _ = try MigrationStepTests().open(OldStore(at: URL(fileURLWithPath: path)), [deadly])
    }
    #expect(try store.contents() == before.0)
    try open(store, [Self.numbers]).close()
    #expect(try store.facts(Library.new()) == before.1)
  }

  @Test(
    "A store of one configuration is migrated with the entities of that configuration, and keeps its history")
  func configurationAndHistory() throws {
    func version(_ number: Int) -> NSManagedObjectModel {
      let note = entity("Note", nil, [attribute("title", .stringAttributeType)])
      if number > 1 { note.properties.append(attribute("length", .integer64AttributeType, optional: false)) }
      let other = entity("Other", nil, [attribute("name", .stringAttributeType)])
      let result = model(note, other)
      result.setEntities([note], forConfigurationName: "Notes")
      return result
    }
    let file = Library.place()
    func work<Value>(
      _ number: Int, _ steps: [MigrationStep] = [], _ body: (NSManagedObjectContext) throws -> Value
    ) throws -> Value {
      let container = NSPersistentContainer(name: "Test", managedObjectModel: version(number))
      let description = NSPersistentStoreDescription(url: file)
      description.configuration = "Notes"
      description.migrationSteps = steps
      description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      if let failure { throw failure }
      defer { try? container.close() }
      return try container.work(body)
    }
    try work(1) { context in
      context.make("Note", ["title": "four"])
      try context.save()
    }
    let step = MigrationStep(from: version(1), to: version(2)) { old, new in
      for note in try old.snapshots(of: "Note") {
        try new.object(for: note)?.set("length", to: (note["title"] as String).count)
      }
    }
    #expect(try work(2, [step]) { try $0.all("Note").map { $0.value(forKey: "length") as? Int } } == [4])
    // A store on a server has all entities, and its history begins anew.
    guard StoresUnderTest.areSQLite else { return }
    let store = OldStore(at: file)
    #expect(try store.sql("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 1000") == [["Note"]])
    // The insertion, and the value that the step has set.
    #expect(try store.sql("SELECT ZCHANGETYPE FROM ACHANGE ORDER BY Z_PK") == [["0"], ["1"]])
  }
}
