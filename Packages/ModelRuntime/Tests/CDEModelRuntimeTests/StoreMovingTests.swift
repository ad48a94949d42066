import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// The method names and their effects are those of Core Data's documentation of `NSPersistentStoreCoordinator`.
@Suite("Stores that are replaced and moved", .onSQLite)
struct StoreMovingTests {
  private static let large = Data(repeating: 7, count: 300_000)

  private func stack(memory: Bool = false) throws -> Stack {
    let blob = attribute("blob", .binaryDataAttributeType)
    blob.allowsExternalBinaryDataStorage = true
    let note = entity("Note", nil, [attribute("text", .stringAttributeType), blob])
    let stack = try Stack(model: model(note))
    if memory {
      let coordinator = stack.container.persistentStoreCoordinator
      try coordinator.remove(coordinator.persistentStores[0])
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    }
    return stack
  }

  private func url(_ stack: Stack) -> URL { stack.folder.appendingPathComponent("Test.sqlite") }

  private func save(_ text: String, in stack: Stack) throws {
    let context = stack.context()
    context.make("Note", ["text": text, "blob": Self.large])
    try context.save()
  }

  private func texts(_ stack: Stack) throws -> [String] {
    let context = stack.context()
    return try context.all("Note", sort: "text").map { note in
      #expect(note.value(forKey: "blob") as? Data == Self.large)
      return note.value(forKey: "text") as? String ?? ""
    }
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test("A store is replaced by a copy of one that is in use, external values included")
  func replacing() throws {
    let (source, target) = (try stack(), try stack())
    try save("old", in: target)
    try save("new", in: source)
    let coordinator = target.container.persistentStoreCoordinator
    try coordinator.replacePersistentStore(
      at: url(target), withPersistentStoreFrom: url(source), ofType: NSSQLiteStoreType)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(try names(target.folder) == [".Test_SUPPORT", "Test.sqlite"])
    #expect(try target.externalFiles() == source.externalFiles())
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url(target))
    #expect(store.identifier == source.container.persistentStoreCoordinator.persistentStores[0].identifier)
    #expect(try texts(target) == ["new"])
    try save("newer", in: target)
    #expect(try texts(target) == ["new", "newer"])
    #expect(try texts(source) == ["new"])
  }

  @Test("A store that is missing is made; one whose source is missing or no store stays as it was")
  func replacingNothing() throws {
    let (source, target) = (try stack(), try stack())
    try save("kept", in: target)
    try save("new", in: source)
    let coordinator = target.container.persistentStoreCoordinator
    let broken = target.folder.appendingPathComponent("broken.sqlite")
    try Data("no database, and long enough to be read as a header of one".utf8).write(to: broken)
    for bad in [target.folder.appendingPathComponent("missing.sqlite"), broken] {
      let error = #expect(throws: (any Error).self) {
        try coordinator.replacePersistentStore(
          at: url(target), withPersistentStoreFrom: bad, ofType: NSSQLiteStoreType)
      }
      #expect((error as? ManagedObjectError)?.message.contains("can't be copied") == true)
    }
    #expect(try texts(target) == ["kept"])
    #expect(try names(target.folder).filter { $0.hasPrefix("Test.sqlite.") }.isEmpty)
    let fresh = target.folder.appendingPathComponent("Fresh.sqlite")
    try coordinator.replacePersistentStore(
      at: fresh, withPersistentStoreFrom: url(source), ofType: NSSQLiteStoreType)
    #expect(FileManager.default.fileExists(atPath: fresh.path))
    #expect(try texts(target) == ["kept"])
  }

  @Test("An ID names the store object that is open, also after the store was removed and added again, twice")
  func addedAgain() throws {
    let stack = try stack()
    try save("kept", in: stack)
    let coordinator = stack.container.persistentStoreCoordinator
    let context = stack.context()
    let id = try #require(try context.all("Note").first).objectID
    for _ in 1...2 {
      let file = url(stack)
      try coordinator.remove(try #require(coordinator.persistentStores.first))
      #expect(id.persistentStore.map(coordinator.persistentStores.contains) != true)
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      #expect(id.persistentStore === store)
    }
    #expect(try context.existingObject(with: id).value(forKey: "text") as? String == "kept")
  }

  @Test(
    "A store moves, from a file or from memory, and contexts go on with their objects",
    arguments: [false, true])
  func moving(fromMemory: Bool) throws {
    let stack = try stack(memory: fromMemory)
    try save("first", in: stack)
    let coordinator = stack.container.persistentStoreCoordinator
    let old = coordinator.persistentStores[0]
    let context = stack.context()
    let note = try #require(try context.all("Note").first)
    note.setValue("changed", forKey: "text")
    let moved = stack.folder.appendingPathComponent("Moved.sqlite")
    let new = try coordinator.migratePersistentStore(old, to: moved, withType: NSSQLiteStoreType)
    #expect(note.objectID.persistentStore === new)
    #expect(coordinator.persistentStores.map(\.url) == [moved])
    #expect(new.identifier == old.identifier && new.type == NSSQLiteStoreType)
    #expect(try texts(stack) == ["first"])
    try context.save()
    #expect(try texts(stack) == ["changed"])
    #expect(try context.existingObject(with: note.objectID) === note)
    #expect(FileManager.default.fileExists(atPath: moved.path))
    if !fromMemory {
      let other = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
      try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url(stack))
      let reader = NSManagedObjectContext(.privateQueue)
      reader.persistentStoreCoordinator = other
      #expect(try reader.all("Note").map { $0.value(forKey: "text") as? String } == ["first"])
    }
  }

  @Test(
    "A store moves to memory, whose URL is only a name, and contexts go on with their objects",
    arguments: [false, true], [NSInMemoryStoreType, NSSQLiteStoreType])
  func movingToMemory(fromMemory: Bool, type: String) throws {
    let stack = try stack(memory: fromMemory)
    try save("first", in: stack)
    let coordinator = stack.container.persistentStoreCoordinator
    let old = coordinator.persistentStores[0]
    old.metadata = ["answer": 42]
    let context = stack.context()
    let note = try #require(try context.all("Note").first)
    note.setValue("changed", forKey: "text")
    let name = URL(fileURLWithPath: type == NSInMemoryStoreType ? "/fixture" : "/dev/null")
    let new = try coordinator.migratePersistentStore(
      old, to: name, options: [NSPersistentHistoryTrackingKey: true], withType: type)
    #expect(coordinator.persistentStores == [new] && coordinator.persistentStore(for: name) === new)
    #expect(new.identifier == old.identifier && new.type == type)
    #expect(note.objectID.persistentStore === new)
    #expect(new.metadata["answer"] as? Int == 42)
    #expect(try texts(stack) == ["first"])
    try context.save()
    #expect(try texts(stack) == ["changed"])
    #expect(try context.existingObject(with: note.objectID) === note)
    try save("more", in: stack)
    #expect(Set(try stack.context().all("Note").map(\.objectID)).count == 2)
    #expect(!FileManager.default.fileExists(atPath: "/fixture"))
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    let history = try #require(try context.execute(request) as? NSPersistentHistoryResult)
    #expect((history.result as? [NSPersistentHistoryTransaction])?.count == 2)
    if !fromMemory {
      #expect(try RawSQLite(url(stack).path).run("SELECT ZTEXT FROM ZNOTE") == [["first"]])
    }
    // And from there to a file.
    let moved = stack.folder.appendingPathComponent("Moved.sqlite")
    try coordinator.migratePersistentStore(new, to: moved, withType: NSSQLiteStoreType)
    #expect(try texts(stack) == ["changed", "more"])
    #expect(try context.existingObject(with: note.objectID) === note)
  }

  @Test("A store whose move to memory fails stays open")
  func movingToMemoryFails() throws {
    let stack = try stack()
    try save("kept", in: stack)
    let coordinator = stack.container.persistentStoreCoordinator
    for file in try stack.externalFiles() {
      try FileManager.default.removeItem(
        at: stack.folder.appendingPathComponent(".Test_SUPPORT/_EXTERNAL_DATA/\(file)"))
    }
    #expect(throws: ManagedObjectError.self) {
      try coordinator.migratePersistentStore(
        coordinator.persistentStores[0], to: URL(fileURLWithPath: "/fixture"), withType: NSInMemoryStoreType)
    }
    #expect(coordinator.persistentStores.map(\.type) == [NSSQLiteStoreType])
    #expect(try stack.context().all("Note").map { $0.value(forKey: "text") as? String } == ["kept"])
  }

  @Test("A store opens under the name of the configuration that it tells, where a model has others")
  func configurationName() throws {
    let stack = try stack()
    let model = stack.container.managedObjectModel.copy() as! NSManagedObjectModel
    model.setEntities(model.entities, forConfigurationName: "Main")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.appendingPathComponent("New.sqlite")
    )
    let name = store.configurationName
    #expect(model.entities(forConfigurationName: name)?.count == model.entities.count)
    try coordinator.remove(store)
    let again = try coordinator.addPersistentStore(
      ofType: store.type, configurationName: name, at: store.url, options: store.options)
    #expect(again.configurationName == name && again.identifier == store.identifier)
  }

  @Test("A store does not move onto a file, and stays open")
  func movingOntoFile() throws {
    let (stack, other) = (try stack(), try stack())
    try save("kept", in: stack)
    try save("other", in: other)
    let coordinator = stack.container.persistentStoreCoordinator
    let error = #expect(throws: (any Error).self) {
      try coordinator.migratePersistentStore(
        coordinator.persistentStores[0], to: url(other), withType: NSSQLiteStoreType)
    }
    #expect((error as? ManagedObjectError)?.message.contains("There is a file at") == true)
    let folder = stack.folder.appendingPathComponent("missing/Moved.sqlite")
    #expect(throws: (any Error).self) {
      try coordinator.migratePersistentStore(
        coordinator.persistentStores[0], to: folder, withType: NSSQLiteStoreType)
    }
    #expect(try texts(stack) == ["kept"])
    #expect(try texts(other) == ["other"])
    try save("more", in: stack)
    #expect(try texts(stack) == ["kept", "more"])
  }

  @Test("A store gets the URL of its copy, and keeps its own where there is no store")
  func settingURL() throws {
    let stack = try stack()
    try save("first", in: stack)
    let coordinator = stack.container.persistentStoreCoordinator
    let context = stack.context()
    let note = try #require(try context.all("Note").first)
    let copy = stack.folder.appendingPathComponent("Copy.sqlite")
    #expect(!coordinator.setURL(copy, for: coordinator.persistentStores[0]))
    #expect(!coordinator.setURL(URL(string: "https://example.org")!, for: coordinator.persistentStores[0]))
    let broken = stack.folder.appendingPathComponent("broken.sqlite")
    try Data("no database, and long enough to be read as a header of one".utf8).write(to: broken)
    #expect(!coordinator.setURL(broken, for: coordinator.persistentStores[0]))
    #expect(coordinator.persistentStores.map(\.url) == [url(stack)])
    #expect(try texts(stack) == ["first"])
    try coordinator.replacePersistentStore(
      at: copy, withPersistentStoreFrom: url(stack), ofType: NSSQLiteStoreType)
    let former = coordinator.persistentStores[0]
    #expect(coordinator.setURL(copy, for: former))
    #expect(coordinator.persistentStores.map(\.url) == [copy])
    #expect(!coordinator.setURL(copy, for: former), "the former store is closed")
    // The context goes on with its objects, in the other file.
    note.setValue("moved", forKey: "text")
    try context.save()
    #expect(try texts(stack) == ["moved"])
    #expect(try RawSQLite(url(stack).path).run("SELECT ZTEXT FROM ZNOTE") == [["first"]])
    #expect(try RawSQLite(copy.path).run("SELECT ZTEXT FROM ZNOTE") == [["moved"]])
  }

  @Test("Options of opening vacuum the file and analyze its indexes, but not of a store for reading only")
  func upkeep() throws {
    let stack = try stack()
    let context = stack.context()
    for index in 0..<200 { context.make("Note", ["text": String(repeating: "\(index)", count: 2000)]) }
    try context.save()
    for note in try context.all("Note").dropFirst(2) { context.delete(note) }
    try context.save()
    let coordinator = stack.container.persistentStoreCoordinator
    try coordinator.remove(coordinator.persistentStores[0])
    let raw = try RawSQLite(url(stack).path)
    let free = try raw.run("PRAGMA freelist_count")
    #expect(free != [["0"]])
    func open(_ options: [AnyHashable: Any]) throws {
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url(stack), options: options)
      #expect(try context.all("Note").count == 2)
      try coordinator.remove(store)
    }
    try open([
      NSSQLiteManualVacuumOption: true, NSSQLiteAnalyzeOption: true, NSReadOnlyPersistentStoreOption: true,
    ])
    #expect(try raw.run("PRAGMA freelist_count") == free)
    try open([NSSQLiteManualVacuumOption: true, NSSQLiteAnalyzeOption: true])
    #expect(try raw.run("PRAGMA freelist_count") == [["0"]])
    #expect(try raw.run("PRAGMA auto_vacuum") == [["2"]])
    #expect(try raw.run("SELECT COUNT(*) FROM sqlite_master WHERE name = 'sqlite_stat1'") == [["1"]])
    #expect(try raw.run("PRAGMA integrity_check") == [["ok"]])
  }

  @Test("The metadata of a store that is not opened can be replaced")
  func metadata() throws {
    let stack = try stack()
    let coordinator = stack.container.persistentStoreCoordinator
    let identifier = coordinator.persistentStores[0].identifier
    try coordinator.remove(coordinator.persistentStores[0])
    try NSPersistentStoreCoordinator.setMetadata(
      ["answer": 42, "isNew": NSNumber(value: true), "rate": NSNumber(value: 0.5), NSStoreUUIDKey: "other"],
      forPersistentStoreOfType: NSSQLiteStoreType, at: url(stack))
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url(stack))
    #expect(metadata["answer"] as? Int == 42)
    // A number of another kind is equal to true, and has another type.
    #expect((metadata["isNew"] as? NSNumber).map { String(cString: $0.objCType) } == "c")
    #expect(metadata["rate"] as? Double == 0.5)
    #expect(metadata[NSStoreUUIDKey] as? String == identifier)
    #expect(metadata["NSStoreModelVersionHashes"] != nil)
    #expect(throws: (any Error).self) {
      try NSPersistentStoreCoordinator.setMetadata(
        [:], forPersistentStoreOfType: NSSQLiteStoreType,
        at: stack.folder.appendingPathComponent("missing.sqlite"))
    }
  }
}
