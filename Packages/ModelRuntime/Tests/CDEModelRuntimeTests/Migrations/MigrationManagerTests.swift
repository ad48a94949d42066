import CDEManagedModel
import CDEModelFiles
import CDEModelRuntime
import CDEPredicates
import CDEStore
import Foundation
import Testing

@Suite("Migration managers", .onSQLite)
struct MigrationManagerTests {
  private func store(_ books: Int = 3, cover: Int = 0) throws -> OldStore {
    try OldStore(Library.old()) { try Library.fill($0, books: books, cover: cover) }
  }

  @Test("A mapping model with a policy makes the new objects, and the old store stays as it is")
  func custom() throws {
    let store = try store()
    let before = try store.contents()
    let facts = try store.facts(Library.old())
    let new = try Library.migrate(store, Library.mapping())
    #expect(try new.facts(Library.new()) == facts)
    #expect(try new.sql("SELECT DISTINCT ZSTARS, typeof(ZPAGES) FROM ZBOOK") == [["3", "integer"]])
    #expect(try store.contents() == before)
    #expect(try new.sql("SELECT COUNT(*) FROM ZCATALOGUE") == [["0"]])
    #expect(try new.sql("PRAGMA integrity_check") == [["ok"]])
  }

  @Test("Large values in files of their own are carried over")
  func externalValues() throws {
    let store = try store(cover: 300_000)
    let facts = try store.facts(Library.old())
    let new = try Library.migrate(store, Library.mapping())
    #expect(try new.facts(Library.new()) == facts)
    let files = FileManager.default
    let folder = new.file.deletingLastPathComponent().appendingPathComponent(
      ".\(new.file.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
    #expect(try files.contentsOfDirectory(atPath: folder.path).count == 3)
  }

  @Test("An inferred mapping model agrees with a lightweight migration, for random models")
  func agreement() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
    let count = environment["CDE_MIGRATIONS"].flatMap(Int.init) ?? 12
    for round in 0..<count {
      let seed = seed &+ UInt64(round)
      print("Migrations by managers, seed \(seed)")
      var random = MigrationRandom(seed: seed)
      var spec = MigrationSpec(&random)
      let (before, store) = (spec.model(), try OldStore(spec.model()) { try spec.fill($0) })
      spec.change(&random)
      let expected = try OldStore(spec.model()) { try spec.fill($0) }
      let mapping = try NSMappingModel.inferredMappingModel(
        forSourceModel: before, destinationModel: spec.model())
      let new = try Library.migrate(
        store, mapping, NSMigrationManager(sourceModel: before, destinationModel: spec.model()))
      func facts(_ store: OldStore) throws -> [Int: [String: [String]]] {
        let container = try store.opened(spec.model())
        defer { try? container.close() }
        return try container.work { try MigrationSpec.read(spec, $0) }
      }
      let (made, wanted) = (try facts(new), try facts(expected))
      for (id, thing) in wanted where made[id] != thing {
        Issue.record("seed \(seed), object \(id): \(made[id] ?? [:]) and not \(thing)")
      }
      #expect(made.count == wanted.count, "seed \(seed)")
    }
  }

  @Test("A random custom mapping agrees with a copy by hand")
  func byHand() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
    for round in 0..<(environment["CDE_CUSTOM_MIGRATIONS"].flatMap(Int.init) ?? 8) {
      let place = Comment("seed \(seed), round \(round)")
      print("Custom mappings, seed \(seed), round \(round)")
      var random = MigrationRandom(seed: seed &+ UInt64(round))
      try NumberMappings(&random).check(place)
    }
  }

  @Test("Objects of the migration are plain ones, and entities are those of the contexts")
  func plainObjects() throws {
    final class Probe: NSEntityMigrationPolicy {
      override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
      ) throws {
        #expect(type(of: source) == NSManagedObject.self)
        #expect(manager.sourceEntity(for: mapping) === source.entity)
        #expect(source.managedObjectContext === manager.sourceContext)
        #expect(manager.currentEntityMapping === mapping)
        // By the model as well as by the name.
        let entity = try #require(manager.destinationModel.entitiesByName["Shelf"])
        let made = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
        made.setValue(source.value(forKey: "name"), forKey: "name")
        manager.associate(sourceInstance: source, withDestinationInstance: made, for: mapping)
        #expect(
          manager.destinationInstances(forEntityMappingName: "ShelfToShelf", sourceInstances: [source]) == [
            made
          ])
        #expect(
          manager.sourceInstances(forEntityMappingName: "ShelfToShelf", destinationInstances: [made]) == [
            source
          ])
        #expect(manager.destinationInstances(forEntityMappingName: "no", sourceInstances: nil).isEmpty)
        #expect(manager.userInfo?["key"] as? Int == 7)
        #expect(manager.mappingModel.entityMappings.count == 5)
      }
    }
    func model(_ model: NSManagedObjectModel) -> NSManagedObjectModel {
      model.entitiesByName["Shelf"]?.managedObjectClassName = NSStringFromClass(Item.self)
      return model
    }
    let mapping = Library.mapping()
    let shelf = try #require(mapping.entityMappingsByName["ShelfToShelf"])
    shelf.entityMigrationPolicyClassName = NSStringFromClass(Probe.self)
    // The default policy may be named by Core Data's name.
    mapping.entityMappingsByName["LabelToLabel"]?.entityMigrationPolicyClassName = "NSEntityMigrationPolicy"
    let manager = NSMigrationManager(
      sourceModel: model(Library.old()), destinationModel: model(Library.new()))
    manager.userInfo = ["key": 7]
    #expect(manager.migrationProgress == 0)
    let store = try store()
    _ = try Library.migrate(store, mapping, manager)
    #expect(manager.migrationProgress == 1)
    #expect(manager.currentEntityMapping.name == nil)
    // The manager can be used again.
    let again = try Library.migrate(store, mapping, manager)
    #expect(try again.sql("SELECT COUNT(*) FROM ZSHELF") == [["2"]])
  }

  @Test("A subclass is told of each step of the progress, which it can override")
  func progress() throws {
    final class Manager: NSMigrationManager {
      var steps: [Float] = []
      var before: [Float] = []
      override var migrationProgress: Float { super.migrationProgress * 100 }
      override func willChangeValue(forKey key: String) {
        super.willChangeValue(forKey: key)
        if key == "migrationProgress" { before.append(migrationProgress) }
      }
      override func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        if key == "migrationProgress" { steps.append(migrationProgress) }
      }
    }
    let manager = Manager(sourceModel: Library.old(), destinationModel: Library.new())
    _ = try Library.migrate(try store(), Library.mapping(), manager)
    #expect(manager.steps.first == 0 && manager.steps.last == 100)
    #expect(manager.steps == manager.steps.sorted() && Set(manager.steps).count > 3)
    #expect(manager.before == [0] + manager.steps.dropLast())
  }

  @Test("Objects are added to a store that exists at the destination")
  func appending() throws {
    let store = try store()
    let file = try Library.migrate(store, Library.mapping()).file
    let new = try Library.migrate(store, Library.mapping(), to: file)
    #expect(try new.sql("SELECT COUNT(*) FROM ZBOOK") == [["6"]])
  }

  @Test("A source expression chooses objects, and an expression sees all variables")
  func variables() throws {
    let mapping = Library.mapping()
    let book = try #require(mapping.entityMappingsByName["BookToBook"])
    book.sourceExpression = TreeExpression(
      .call(
        target: .variable("manager"), selector: "fetchRequestForSourceEntityNamed:predicateString:",
        [.constant(.string("Book")), .constant(.string("title != 'book 1'"))]))
    book.userInfo = ["suffix": "!"]
    book.attributeMappings?[0] = Library.property(
      "name", "TERNARY($entityMapping.name == 'BookToBook', $source.title, 'no')")
    book.attributeMappings?[3] = Library.property("stars", "$destination.stars + $manager.userInfo.more")
    let manager = NSMigrationManager(sourceModel: Library.old(), destinationModel: Library.new())
    manager.userInfo = ["more": 4]
    let new = try Library.migrate(try store(), mapping, manager)
    #expect(
      try new.sql("SELECT ZNAME, ZSTARS FROM ZBOOK ORDER BY 1") == [["book 0", "7"], ["book 2", "7"]])
    #expect(try new.sql("SELECT COUNT(*) FROM ZSHELF") == [["2"]])
  }

  @Test("Expressions name the old object by either of the two names that Xcode writes")
  func namesOfSource() throws {
    let mapping = Library.mapping()
    let book = try #require(mapping.entityMappingsByName["BookToBook"])
    book.attributeMappings?[0] = Library.property(
      "name", "TERNARY($sourceObject.title == $source.title, $sourceObject.title, 'no')")
    let new = try Library.migrate(try store(), mapping)
    #expect(try new.sql("SELECT ZNAME FROM ZBOOK ORDER BY 1") == [["book 0"], ["book 1"], ["book 2"]])
  }
}

/// Numbers that are mapped by random expressions, and computed by hand as well.
private struct NumberMappings {
  private struct Rule {
    let format: String?
    let value: (Int) -> Int?
  }

  private let rules: [Rule]
  private let numbers: [Int]
  private let limit: Int
  private let links: [Int: Int]

  init(_ random: inout MigrationRandom) {
    rules = (0..<4).map { _ in
      let constant = Int.random(in: 1...9, using: &random)
      return [
        Rule(format: "$source.number") { $0 },
        Rule(format: "$source.number + \(constant)") { $0 + constant },
        Rule(format: "$source.number * \(constant) - 1") { $0 * constant - 1 },
        Rule(format: "\(constant)") { _ in constant },
        Rule(format: nil) { _ in nil },
        Rule(format: "FUNCTION($entityPolicy, 'times:', $source.number)") { $0 * 3 },
        Rule(format: "TERNARY($source.number > \(constant * 10), $source.number, NIL)") {
          $0 > constant * 10 ? $0 : nil
        },
      ].randomElement(using: &random)!
    }
    let numbers = (0..<Int.random(in: 0...40, using: &random)).map {
      $0 * 3 + Int.random(in: 0...2, using: &random)
    }
    self.numbers = numbers
    limit = Int.random(in: 20...140, using: &random)
    var links: [Int: Int] = [:]
    for number in numbers where Bool.random(using: &random) {
      links[number] = numbers.randomElement(using: &random)
    }
    self.links = links
  }

  private func model(_ attributes: [String]) -> NSManagedObjectModel {
    let thing = entity("Thing", nil, attributes.map { attribute($0, .integer64AttributeType) })
    connect(.one(thing, "next"), .many(thing, "previous"))
    return CDEModelRuntimeTests.model(thing)
  }

  func check(_ place: Comment) throws {
    final class Times: NSEntityMigrationPolicy {
      override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        (arguments.first as? NSNumber).map { $0.intValue * 3 }
      }
    }
    let old = model(["number"])
    let new = model(["number", "a", "b", "c", "d"])
    let store = try OldStore(old) { context in
      let made = Dictionary(uniqueKeysWithValues: numbers.map { ($0, context.make("Thing", ["number": $0])) })
      for (from, to) in links { made[from]?.setValue(made[to], forKey: "next") }
    }
    let mapping = Library.entityMapping("Things", "Thing", "Thing", .customEntityMappingType)
    mapping.sourceExpression = TreeExpression(
      .call(
        target: .variable("manager"), selector: "fetchRequestForSourceEntityNamed:predicateString:",
        [.constant(.string("Thing")), .constant(.string("number < \(limit)"))]))
    mapping.entityMigrationPolicyClassName = NSStringFromClass(Times.self)
    mapping.attributeMappings =
      [Library.property("number", "$source.number")]
      + zip(["a", "b", "c", "d"], rules).map { Library.property($0, $1.format) }
    mapping.relationshipMappings = [Library.property("next", Library.destinations("Things", "next"))]
    let mappings = NSMappingModel()
    mappings.entityMappings = [mapping]
    let made = try Library.migrate(
      store, mappings, NSMigrationManager(sourceModel: old, destinationModel: new))
    func text(_ value: Int?) -> String { value.map { "\($0)" } ?? "" }
    let expected = numbers.filter { $0 < limit }.sorted().map { number in
      [text(number)] + rules.map { text($0.value(number)) } + [
        text(links[number].flatMap { $0 < limit ? $0 : nil })
      ]
    }
    let found = try made.sql(
      """
      SELECT t.ZNUMBER, IFNULL(t.ZA, ''), IFNULL(t.ZB, ''), IFNULL(t.ZC, ''), IFNULL(t.ZD, ''), IFNULL(n.ZNUMBER, '')
      FROM ZTHING t LEFT JOIN ZTHING n ON n.Z_PK = t.ZNEXT ORDER BY 1
      """)
    #expect(found == expected, place)
  }
}
