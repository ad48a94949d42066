@_spi(CDE) import CDEManagedModel
@_spi(CDE) import CDEModelFiles
@_spi(CDE) import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import Foundation
import Testing

@Suite("Stores opened with the copy of their model", .onSQLite)
struct CachedModelTests {
  /// A model with inheritance, an order, both kinds of relationships and external values.
  static func library() -> NSManagedObjectModel {
    let blob = attribute("scan", .binaryDataAttributeType)
    blob.allowsExternalBinaryDataStorage = true
    let work = entity(
      "Work", nil,
      [
        attribute("title", .stringAttributeType), attribute("price", .decimalAttributeType),
        attribute("added", .dateAttributeType), attribute("code", .UUIDAttributeType), blob,
      ])
    let novel = entity("Novel", nil, [attribute("pages", .integer32AttributeType)])
    work.subentities = [novel]
    let author = entity("Author", nil, [attribute("name", .stringAttributeType)])
    let shelf = entity("Shelf", nil, [attribute("label", .stringAttributeType)])
    connect(.many(author, "works"), .one(work, "author"))
    connect(.many(shelf, "works", ordered: true), .many(work, "shelves"))
    // Classes of another program.
    work.managedObjectClassName = "Elsewhere.Work"
    author.managedObjectClassName = "Author"
    return model(work, novel, author, shelf)
  }

  /// A closed store of some objects.
  private func store() throws -> Stack {
    let stack = try Stack(model: Self.library())
    let context = stack.context()
    let author = context.make("Author", ["name": "Ada"])
    let shelf = context.make("Shelf", ["label": "top"])
    var works: [NSManagedObject] = []
    for index in 0..<5 {
      works.append(
        context.make(
          index % 2 == 0 ? "Work" : "Novel",
          [
            "title": "w\(index)", "price": NSDecimalNumber(string: "\(index).25"),
            "added": Date(timeIntervalSinceReferenceDate: Double(index)), "code": UUID(),
            "scan": Data(repeating: UInt8(index), count: index == 0 ? 300_000 : 10), "author": author,
          ]))
    }
    shelf.setValue(NSOrderedSet(array: works.reversed()), forKey: "works")
    try context.save()
    try stack.close()
    return stack
  }

  private func opened(_ file: URL) throws -> NSPersistentContainer {
    let container = try NSPersistentContainer(modelCachedInStoreAt: file)
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  /// What reading the model of a store throws.
  private func refusal(_ file: URL) throws -> ManagedObjectError {
    try #require(
      #expect(throws: ManagedObjectError.self) { _ = try NSManagedObjectModel(cachedInStoreAt: file) })
  }

  /// Replaces the hash of an entity in the metadata, as another Core Data may compute it.
  private func setHash(_ hash: Data?, of entity: String, in stack: Stack) throws {
    let text = try stack.sql("SELECT hex(Z_PLIST) FROM Z_METADATA")[0][0]
    var metadata = try Self.plist(text)
    var hashes = try #require(metadata["NSStoreModelVersionHashes"] as? [String: Data])
    hashes[entity] = hash
    metadata["NSStoreModelVersionHashes"] = hashes
    let data = try PropertyListSerialization.data(fromPropertyList: metadata, format: .xml, options: 0)
    try stack.sql("UPDATE Z_METADATA SET Z_PLIST = X'\(Self.hex(data))'")
  }

  private static func plist(_ hex: String) throws -> [String: Any] {
    var (bytes, digits) = (Data(), Array(hex.utf8)[...])
    while let byte = UInt8(String(decoding: digits.prefix(2), as: UTF8.self), radix: 16) {
      bytes.append(byte)
      digits = digits.dropFirst(2)
    }
    return try #require(
      PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any])
  }

  private static func hex(_ data: some Sequence<UInt8>) -> String {
    data.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  @Test("All rows and relationships are those that SQLite counts, as plain objects")
  func reading() throws {
    let stack = try store()
    let container = try opened(stack.file)
    #expect(container.name == "Test")
    #expect(
      container.managedObjectModel.entityVersionHashesByName == Self.library().entityVersionHashesByName)
    let context = container.newBackgroundContext()
    let works = try context.all("Work", sort: "title")
    #expect(works.map { $0.entity.name } == ["Work", "Novel", "Work", "Novel", "Work"])
    #expect(works.allSatisfy { type(of: $0) == NSManagedObject.self })
    #expect(works.map { ($0.value(forKey: "scan") as? Data)?.count } == [300_000, 10, 10, 10, 10])
    #expect(works[3].value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "3.25"))
    let author = try #require(try context.all("Author").first)
    #expect(author.set("works").count == 5)
    #expect(try stack.sql("SELECT COUNT(*) FROM ZWORK WHERE ZAUTHOR = 1") == [["5"]])
    let shelf = try #require(try context.all("Shelf").first)
    #expect(
      shelf.list("works").map { $0.value(forKey: "title") as? String } == ["w4", "w3", "w2", "w1", "w0"])
  }

  @Test("A store that is written keeps the copy, its metadata and its counters")
  func writing() throws {
    let stack = try store()
    let before = try stack.sql("SELECT hex(Z_CONTENT) FROM Z_MODELCACHE")
    let container = try opened(stack.file)
    let context = container.newBackgroundContext()
    for work in try context.all("Work") { work.setValue("new", forKey: "title") }
    context.make("Novel", ["title": "x", "pages": 3])
    try context.save()
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
    #expect(try stack.sql("SELECT hex(Z_CONTENT) FROM Z_MODELCACHE") == before)
    #expect(try stack.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Work'") == [["6"]])
    #expect(try stack.sql("SELECT Z_OPT, COUNT(*) FROM ZWORK GROUP BY 1") == [["1", "1"], ["2", "5"]])
    #expect(try stack.sql("PRAGMA integrity_check") == [["ok"]])
  }

  @Test("Reading the model of a store leaves its folder as it is")
  func untouched() throws {
    let stack = try store()
    func listing() throws -> [String: Data] {
      let names = try FileManager.default.contentsOfDirectory(atPath: stack.folder.path)
      return Dictionary(
        uniqueKeysWithValues: names.map {
          ($0, (try? Data(contentsOf: stack.folder.appendingPathComponent($0))) ?? Data())
        })
    }
    let before = try listing()
    #expect(try NSManagedObjectModel(cachedInStoreAt: stack.file).entities.count == 4)
    #expect(try listing() == before)
  }

  @Test("An archive that is not compressed, or that has zlib's header, is read as well")
  func compression() throws {
    let stack = try store()
    let archive = try ModelCompiler.data(of: Self.library())
    try stack.sql("UPDATE Z_MODELCACHE SET Z_CONTENT = X'\(Self.hex(archive))'")
    #expect(try NSManagedObjectModel(cachedInStoreAt: stack.file).entities.count == 4)
    // One stored block of DEFLATE: its header, the length, the length's complement, the bytes.
    let length = UInt16(archive.count)
    var block: [UInt8] = [0x78, 0x9C, 1]
    for number in [length, ~length] { block += [UInt8(number & 255), UInt8(number >> 8)] }
    try stack.sql("UPDATE Z_MODELCACHE SET Z_CONTENT = X'\(Self.hex(block + archive))'")
    #expect(try NSManagedObjectModel(cachedInStoreAt: stack.file).entities.count == 4)
  }

  @Test("Without a usable copy the error says what is missing, and what to do")
  func missing() throws {
    let stack = try store()
    try stack.sql("UPDATE Z_MODELCACHE SET Z_CONTENT = X'0102'")
    var error = try refusal(stack.file)
    #expect(error.code == .modelMissing)
    #expect(error.message.contains("Z_MODELCACHE.Z_CONTENT is damaged"))
    try stack.sql("UPDATE Z_MODELCACHE SET Z_CONTENT = X'\(Self.hex(Data("bplist00".utf8)))'")
    error = try refusal(stack.file)
    #expect(error.cause is ModelFileError)
    #expect(error.message.contains("Z_MODELCACHE.Z_CONTENT of the store at \(stack.file.path) can't be used"))
    try stack.sql("DROP TABLE Z_MODELCACHE")
    error = try refusal(stack.file)
    #expect(error.message.contains("no table Z_MODELCACHE"))
    #expect(error.message.contains("Open it with the model of its program"))
    error = try refusal(stack.folder.appendingPathComponent("none.sqlite"))
    #expect(error.code == .store)
    #expect(try refusal(URL(string: "https://example.org")!).code == .noStore)
  }

  @Test("A hash that is computed otherwise elsewhere is taken over if the columns are the model's")
  func recordedHash() throws {
    let stack = try store()
    let foreign = Data(repeating: 7, count: 32)
    try setHash(foreign, of: "Author", in: stack)
    let model = try NSManagedObjectModel(cachedInStoreAt: stack.file)
    #expect(model.entitiesByName["Author"]?.versionHash == foreign)
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
    let container = try opened(stack.file)
    let context = container.newBackgroundContext()
    #expect(try context.all("Author").count == 1)
    // A changed description is another version.
    model.entitiesByName["Author"]?.properties.append(attribute("born", .dateAttributeType))
    #expect(model.entitiesByName["Author"]?.versionHash != foreign)
  }

  @Test(
    "A store whose hashes are computed otherwise elsewhere, or that has none, migrates from its own copy",
    arguments: [true, false])
  func migration(hasHashes: Bool) throws {
    let stack = try store()
    if hasHashes {
      try setHash(Data(repeating: 7, count: 32), of: "Author", in: stack)
    } else {
      for name in ["Author", "Novel", "Shelf", "Work"] { try setHash(nil, of: name, in: stack) }
    }
    // The only entity of a table has its rows whatever number they have.
    try stack.sql("UPDATE ZAUTHOR SET Z_ENT = 99")
    let new = Self.library()
    new.entitiesByName["Author"]?.properties.append(attribute("born", .dateAttributeType))
    let container = NSPersistentContainer(name: "Test", managedObjectModel: new)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: stack.file)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let context = container.newBackgroundContext()
    let author = try #require(try context.all("Author").first)
    #expect(author.set("works").count == 5)
    author.setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "born")
    try context.save()
  }

  @Test("Without hashes the columns tell whether the copy is the model of the tables")
  func withoutHashes() throws {
    let stack = try store()
    for name in ["Author", "Novel", "Shelf", "Work"] { try setHash(nil, of: name, in: stack) }
    #expect(try opened(stack.file).newBackgroundContext().all("Work").count == 5)
    try stack.sql("ALTER TABLE ZAUTHOR ADD COLUMN ZBORN TIMESTAMP")
    #expect(try refusal(stack.file).message.contains("ZAUTHOR.ZBORN belongs to no property"))
  }

  @Test("Rows of a copy that are empty or damaged are passed over")
  func severalCopies() throws {
    let stack = try store()
    try stack.sql("CREATE TABLE t AS SELECT Z_CONTENT FROM Z_MODELCACHE; DELETE FROM Z_MODELCACHE")
    try stack.sql(
      "INSERT INTO Z_MODELCACHE VALUES (NULL), (X'00'); INSERT INTO Z_MODELCACHE SELECT Z_CONTENT FROM t; DROP TABLE t"
    )
    #expect(try NSManagedObjectModel(cachedInStoreAt: stack.file).entities.count == 4)
  }

  @Test("A copy that is not the model of the tables is refused, and the error names the columns")
  func otherVersion() throws {
    let stack = try store()
    try setHash(Data(repeating: 7, count: 32), of: "Author", in: stack)
    try stack.sql("ALTER TABLE ZAUTHOR ADD COLUMN ZBORN TIMESTAMP")
    var error = try refusal(stack.file)
    #expect(error.code == .modelMissing)
    #expect(error.entity == "Author")
    #expect(error.message.contains("ZAUTHOR.ZBORN belongs to no property"))
    try setHash(Data(repeating: 7, count: 32), of: "Poem", in: stack)
    error = try refusal(stack.file)
    #expect(error.entity == "Poem")
  }

  // MARK: Derivations of other programs

  /// A closed store with an author of two works, whose copy of the model derives the author's dearest price in a way that is not known
  /// here.
  private func derivingStore(_ expression: String = "works.@max.price") throws -> Stack {
    func model(derives: Bool) -> NSManagedObjectModel {
      let work = entity(
        "Work", nil, [attribute("title", .stringAttributeType), attribute("price", .integer64AttributeType)])
      let author = entity("Author", nil, [attribute("name", .stringAttributeType)])
      let dearest = derives ? NSDerivedAttributeDescription() : NSAttributeDescription()
      dearest.name = "dearest"
      dearest.attributeType = .integer64AttributeType
      dearest.isOptional = true
      (dearest as? NSDerivedAttributeDescription)?.derivation = expression
      author.properties.append(dearest)
      let shelf = entity("Shelf", nil, [attribute("label", .stringAttributeType)])
      connect(.many(author, "works"), .one(work, "author"))
      return CDEModelRuntimeTests.model(work, author, shelf)
    }
    let stack = try Stack(model: model(derives: false))
    let context = stack.context()
    let author = context.make("Author", ["name": "Ada", "dearest": 7])
    for price in [3, 7] { context.make("Work", ["title": "w\(price)", "price": price, "author": author]) }
    context.make("Shelf", ["label": "top"])
    try context.save()
    try stack.close()
    let archive = Self.hex(try ModelCompiler.data(of: model(derives: true)))
    try stack.sql("UPDATE Z_MODELCACHE SET Z_CONTENT = X'\(archive)'")
    return stack
  }

  @Test(
    "A derivation that is not known is no obstacle: its values are read, and writes that would change them are refused"
  )
  func foreignDerivation() throws {
    let stack = try derivingStore()
    let container = try opened(stack.file)
    let context = container.newBackgroundContext()
    let author = try #require(try context.all("Author").first)
    #expect(author.value(forKey: "dearest") as? Int == 7)
    let works = try context.all("Work").sorted {
      ($0.value(forKey: "price") as! Int) < ($1.value(forKey: "price") as! Int)
    }
    try #require(context.all("Shelf").first).setValue("bottom", forKey: "label")
    context.make("Shelf", ["label": "new"])
    author.setValue("Lovelace", forKey: "name")
    works[0].setValue("changed", forKey: "title")
    try context.save()

    func expectRefusal(_ change: String, _ work: () throws -> Void) throws {
      let error = try #require(#expect(throws: ManagedObjectError.self) { try work() })
      let cause = error.cause as? StoreError
      #expect(cause?.code == .unknownDerivation, "\(error)")
      #expect(cause?.message.contains("Author.dearest derives from") == true, "\(error)")
      #expect(cause?.message.contains(change) == true, "\(error)")
      context.rollback()
    }
    try expectRefusal("a change of price") {
      works[0].setValue(9, forKey: "price")
      try context.save()
    }
    try expectRefusal("a change of author") {
      works[0].setValue(nil, forKey: "author")
      try context.save()
    }
    try expectRefusal("an insertion") {
      context.make("Work", ["title": "other"])
      try context.save()
    }
    try expectRefusal("an insertion") {
      context.make("Author", ["name": "other"])
      try context.save()
    }
    try expectRefusal("a deletion") {
      context.delete(works[1])
      try context.save()
    }
    try expectRefusal("a change of price") {
      let request = NSBatchUpdateRequest(entityName: "Work")
      request.propertiesToUpdate = ["price": 1]
      try context.execute(request)
    }
    try expectRefusal("a deletion") {
      try context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Work")))
    }
    #expect(try stack.sql("SELECT COUNT(*), MAX(ZPRICE) FROM ZWORK") == [["2", "7"]])
    #expect(try stack.sql("SELECT ZDEAREST, ZNAME FROM ZAUTHOR") == [["7", "Lovelace"]])
  }

  @Test("A derivation that triggers of the file keep is written by them")
  func keptForeignDerivation() throws {
    let stack = try derivingStore()
    let value =
      "UPDATE ZAUTHOR SET ZDEAREST = (SELECT MAX(ZPRICE) FROM ZWORK WHERE ZAUTHOR = NEW.ZAUTHOR) WHERE Z_PK = NEW.ZAUTHOR"
    let report =
      "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZAUTHOR', Z_ENT, Z_PK, 'dearest', ZDEAREST) FROM ZAUTHOR "
      + "WHERE Z_PK = NEW.ZAUTHOR"
    for (kind, event) in [("PARAMETER_INSERT", "INSERT"), ("PARAMETER_UPDATE", "UPDATE OF ZPRICE")] {
      try stack.sql(
        "CREATE TRIGGER Z_DA_ZWORK_Author_dearest_\(kind) AFTER \(event) ON ZWORK FOR EACH ROW BEGIN \(value); \(report); END"
      )
    }
    let container = try opened(stack.file)
    let context = container.newBackgroundContext()
    let author = try #require(try context.all("Author").first)
    context.make("Work", ["title": "dear", "price": 11, "author": author])
    try context.save()
    #expect(author.value(forKey: "dearest") as? Int == 11)
    #expect(try stack.sql("SELECT ZDEAREST FROM ZAUTHOR") == [["11"]])
  }

  @Test("The same model from a file is an error that names the attribute")
  func unknownDerivationInAFile() throws {
    let stack = try derivingStore()
    let model = try NSManagedObjectModel(cachedInStoreAt: stack.file)
    let copy = try NSManagedObjectModel(compiledModel: try ModelCompiler.data(of: model))
    let error = #expect(throws: ModelError.self) { _ = try copy.freeze() }
    #expect(error?.code == .invalidDerivation)
    #expect(error?.property == "dearest")
  }

  @Test("A store of a part of the model opens with the configuration of that part, or one made for it")
  func configurations() throws {
    func parts(_ isNamed: Bool) -> NSManagedObjectModel {
      let local = entity("Local", nil, [attribute("a", .stringAttributeType)])
      let remote = entity("Remote", nil, [attribute("a", .stringAttributeType)])
      let all = model(local, remote)
      if isNamed { all.setEntities([local], forConfigurationName: "Here") }
      return all
    }
    let folder = ProcessFolder.newURL()
    let file = folder.appendingPathComponent("Test.sqlite")
    let container = NSPersistentContainer(name: "Test", managedObjectModel: parts(true))
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    container.persistentStoreDescriptions[0].configuration = "Here"
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    #expect(failure == nil)
    try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
    #expect(
      try NSPersistentContainer(modelCachedInStoreAt: file).persistentStoreDescriptions[0].configuration
        == "Here")
    let plain = Self.hex(try ModelCompiler.data(of: parts(false)))
    try RawSQLite(file.path).run("UPDATE Z_MODELCACHE SET Z_CONTENT = X'\(plain)'")
    let other = try opened(file)
    #expect(
      other.persistentStoreDescriptions[0].configuration
        == NSManagedObjectModel.storedEntitiesConfigurationName)
    #expect(try other.newBackgroundContext().all("Local").isEmpty)
  }
}
