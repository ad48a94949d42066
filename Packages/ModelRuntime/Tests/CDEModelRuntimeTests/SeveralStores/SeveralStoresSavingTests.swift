import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import Foundation
import Synchronization
import Testing

@Suite("A save over two stores", .ownThreads)
struct SeveralStoresSavingTests {
  private static var byN: [NSSortDescriptor] { [NSSortDescriptor(key: "n", ascending: true)] }

  /// One part in each store.
  static func filled(_ two: TwoStores) throws {
    let context = two.context()
    for (place, store) in two.stores.enumerated() {
      let owner = context.make("Owner", in: store, ["name": "o\(place)"])
      context.make("Part", in: store, ["n": place, "text": "old"]).setValue(owner, forKey: "owner")
      _ = context.make("Part", in: store, ["n": 90 + place, "text": "gone"])
      try context.save()
    }
  }

  /// Changes, inserts and deletes in both stores.
  static func change(_ context: NSManagedObjectContext, _ two: TwoStores) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = byN
    let parts = try context.fetch(request)
    for (place, store) in two.stores.enumerated() {
      parts[place].setValue("new", forKey: "text")
      let part = context.make(
        "Part", in: store, ["n": 10 + place, "picture": Data(repeating: 7, count: 150_000)])
      part.setValue(parts[place].value(forKey: "owner"), forKey: "owner")
      let tag = context.make("Tag", in: store, ["code": "t"])
      part.setValue(Set([tag]), forKey: "tags")
      context.delete(parts[2 + place])
    }
  }

  static let before = ["0 old", "90 gone"]
  static let after = ["0 new", "10 - o 7x150000 t"]

  /// What a store's file holds, with the numbers of the first store.
  static func contents(_ folder: URL, _ name: String) throws -> [String] {
    let two = try TwoStores([name], in: folder)
    defer { try? two.close() }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = byN
    let place = name == "B" ? 1 : 0
    let context = two.context()
    defer { withExtendedLifetime(context) {} }
    return try context.fetch(request).map { part in
      let n = (part.value(forKey: "n") as? Int ?? 0) - place
      let text = part.value(forKey: "text") as? String ?? "-"
      guard n == 10 else { return "\(n) \(text)" }
      let owner = (part.value(forKey: "owner") as? NSManagedObject)?.value(forKey: "name") as? String
      let picture = part.value(forKey: "picture") as? Data
      let tags = (part.value(forKey: "tags") as? Set<NSManagedObject> ?? []).compactMap {
        $0.value(forKey: "code") as? String
      }
      return "\(n) \(text) \(owner?.prefix(1) ?? "") \(picture?.first ?? 0)x\(picture?.count ?? 0) "
        + tags.joined(separator: ",")
    }
  }

  /// What a store still has of saves.
  private static func leftovers(_ two: TwoStores, _ name: String) throws -> [[String]] {
    try RawStore.run(
      two.file(name).path,
      StoresUnderTest.areSQLite
        ? "SELECT name FROM sqlite_master WHERE name LIKE 'CDE%'"
        : "SELECT Z_SAVE, Z_STORE FROM Z_PENDINGSAVE")
  }

  @Test("All stores get their part, and other contexts one commit with all of it")
  func both() throws {
    let two = try TwoStores()
    try Self.filled(two)
    let (context, other) = (two.context(), two.context())
    let merges = Listener(other)
    let saves = Listener(context)
    other.automaticallyMergesChangesFromParent = true
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = Self.byN
    let theirs = try other.performAndWait { try other.fetch(request) }
    try Self.change(context, two)
    let new = context.insertedObjects.filter { $0.entity.name == "Part" }
    try context.save()
    #expect(!context.hasChanges)
    #expect(Set(new.map { $0.objectID.persistentStore }) == Set(two.stores))
    #expect(saves.events.count { $0.name == .NSManagedObjectContextDidSave } == 1)
    other.performAndWait {
      #expect(theirs[0].value(forKey: "text") as? String == "new")
      #expect(theirs[1].value(forKey: "text") as? String == "new")
      #expect(theirs[2].managedObjectContext == nil && theirs[3].managedObjectContext == nil)
    }
    let merged = merges.events.filter {
      $0.name == NSManagedObjectContext.didMergeChangesObjectIDsNotification
    }
    #expect(merged.count == 1)
    let inserted = try #require(merged.first?.info[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)
    #expect(inserted.isSuperset(of: new.map(\.objectID)) && inserted.count == 4)
    for name in ["A", "B"] { #expect(try Self.leftovers(two, name).isEmpty) }
    // A later save of the same objects has their new versions.
    for object in new { object.setValue("later", forKey: "text") }
    try context.save()
    try two.close()
    for name in ["A", "B"] { #expect(try Self.contents(two.folder, name).last?.contains("later") == true) }
  }

  @Test("Stores with different entities are saved together, too")
  func configurations() throws {
    let (left, right) = (entity("Left"), entity("Right"))
    let model = model(left, right)
    model.setEntities([left], forConfigurationName: "L")
    model.setEntities([right], forConfigurationName: "R")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let folder = ProcessFolder.newURL()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["L", "R"] {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: name,
        at: folder.appendingPathComponent("\(name).sqlite"))
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    let objects = [context.make("Left"), context.make("Right")]
    try context.save()
    #expect(objects.map { $0.objectID.persistentStore } == coordinator.persistentStores)
  }

  @Test("A conflict in one store leaves both as they were, and a merge policy resolves those of both")
  func conflicts() throws {
    let two = try TwoStores()
    try Self.filled(two)
    let (context, rival) = (two.context(), two.context())
    try Self.change(context, two)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = Self.byN
    request.predicate = NSPredicate(format: "n < 2")
    for part in try rival.fetch(request) { part.setValue(Double(3), forKey: "ratio") }
    try rival.save()
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .saveConflict)
    #expect(error?.mergeConflicts.count == 2)
    #expect(try two.context().list("n", of: "Part", sort: Self.byN) == [0, 1, 90, 91])
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.save()
    let reader = two.context()
    let parts = try reader.fetch(request)
    #expect(parts.map { $0.value(forKey: "text") as? String } == ["new", "new"])
    #expect(parts.map { $0.value(forKey: "ratio") as? Double } == [3, 3])
    #expect(try reader.list("n", of: "Part", sort: Self.byN) == [0, 1, 10, 11])
    // Unique values are those of one store.
    _ = context.make("Tag", in: two.stores[1], ["code": "t"])
    _ = context.make("Tag", in: two.stores[0], ["code": "u"])
    try context.save()
    #expect(try Set(two.context().list("code", of: "Tag") as [String]) == ["t", "u"])
    #expect(try two.context().count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 3)
  }

  @Test(
    "A lock that another process holds leaves both stores as they were", .onSQLite, arguments: ["A", "B"])
  func busy(name: String) throws {
    let first = try TwoStores()
    try Self.filled(first)
    try first.close()
    let two = try TwoStores(in: first.folder, timeout: 0)
    let context = two.context()
    try Self.change(context, two)
    let raw = try RawSQLite(two.file(name).path)
    try raw.run("BEGIN IMMEDIATE")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect((error?.cause as? StoreError)?.code == .busy)
    try raw.run("ROLLBACK")
    #expect(context.hasChanges)
    #expect(try two.context().list("n", of: "Part", sort: Self.byN) == [0, 1, 90, 91])
    try context.save()
    #expect(try two.context().list("n", of: "Part", sort: Self.byN) == [0, 1, 10, 11])
  }

  // MARK: Faults

  /// The steps of the files in the save of ``change(_:_:)``.
  private func steps(_ template: URL) throws -> [StoreStep] {
    let (two, faults) = try opened(template)
    let context = two.context()
    try Self.change(context, two)
    faults.begin()
    try context.save()
    return faults.end()
  }

  private func template() throws -> URL {
    let two = try TwoStores()
    try Self.filled(two)
    try two.close()
    return two.folder
  }

  private func opened(_ template: URL) throws -> (TwoStores, StoreFaults) {
    let folder = ProcessFolder.newURL()
    try FileManager.default.copyItem(at: template, to: folder)
    let faults = StoreFaults()
    return (try TwoStores(in: folder, vfs: ["A": faults.vfs, "B": faults.vfs]), faults)
  }

  @Test(
    "With any fault at any step both stores have it, none, or an error names the one that lacks it, and it can be repeated",
    .onSQLite,
    arguments: [StoreFault.diskFull, .ioError, .busy])
  func everyStep(fault: StoreFault) throws {
    let template = try template()
    var kinds: [String: Int] = [:]
    let steps = try steps(template).filter { fault.concerns($0.operation) }
    for step in steps.drawn(oneOf: 4) {
      let (two, faults) = try opened(template)
      let context = two.context()
      try Self.change(context, two)
      faults.begin(fault == .busy ? .always(.busy, from: step.number) : .at(step.number, fault))
      var failure: (any Error)?
      do { try context.save() } catch { failure = error }
      faults.end()
      let note = Comment(rawValue: "\(fault) at \(step): \(failure.map { "\($0)" } ?? "saved")")
      if let error = failure as? ManagedObjectError, error.code == .incompleteSave {
        kinds["incomplete", default: 0] += 1
        #expect(error.message.contains("A.sqlite") && error.message.contains("B.sqlite"), note)
        #expect(error.affectedStores.count == 1, note)
        let lacking = try #require(error.affectedStores.first?.url?.deletingPathExtension().lastPathComponent)
        let objects = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
        #expect(
          !objects.isEmpty
            && objects.allSatisfy {
              $0.objectID.persistentStore?.url?.lastPathComponent == "\(lacking).sqlite"
                || $0.objectID.isTemporaryID
            }, note)
        try context.save()
      } else if failure != nil {
        kinds["refused", default: 0] += 1
        #expect(try two.context().list("n", of: "Part", sort: Self.byN) == [0, 1, 90, 91], note)
        try context.save()
      } else {
        kinds["saved", default: 0] += 1
      }
      #expect(!context.hasChanges, note)
      try two.close()
      // Opening both again removes what is left of the save.
      try TwoStores(in: two.folder).close()
      for name in ["A", "B"] {
        #expect(try Self.contents(two.folder, name) == Self.after, note)
        #expect(try Self.leftovers(two, name).isEmpty, note)
      }
    }
    #expect(kinds["refused", default: 0] > 0)
    if fault == .ioError { #expect(kinds["incomplete", default: 0] > 0) }
  }

  @Test(
    "The process that dies at any step leaves both stores with all of it or nothing, once both are opened",
    .onSQLite,
    arguments: [StoreFault.crash, .crashInWrite])
  func crash(fault: StoreFault) throws {
    let template = try template()
    let steps = try steps(template)
    var found: Set<[String]> = []
    var completed = 0
    let numbers = steps.filter { fault.concerns($0.operation) }.map(\.number)
    for number in numbers.drawn(oneOf: 3) + [steps.count + 1] {
      let (two, faults) = try opened(template)
      let context = two.context()
      try Self.change(context, two)
      faults.begin(.at(number, fault))
      let isAcknowledged = (try? context.save()) != nil
      try? two.close()
      faults.end()
      let note = Comment(rawValue: "\(fault) at \(number) of \(steps.count), acknowledged: \(isAcknowledged)")
      let halves = try ["A", "B"].map { try Self.contents(two.folder, $0) }
      if halves[0] != halves[1] { completed += 1 }
      // In another order, too.
      try TwoStores(number % 2 == 0 ? ["A", "B"] : ["B", "A"], in: two.folder).close()
      let contents = try ["A", "B"].map { try Self.contents(two.folder, $0) }
      #expect(contents[0] == contents[1], note)
      #expect(contents[0] == Self.after || !isAcknowledged && contents[0] == Self.before, note)
      found.insert(contents[0])
      for name in ["A", "B"] { #expect(try Self.leftovers(two, name).isEmpty, note) }
    }
    #expect(found.contains(Self.before))
    #expect(completed > 0 || !DrawnSteps.takesAll, "No death fell between the two commits.")
  }

  @Test("A commit that fails in one of three stores leaves the others complete", .onSQLite)
  func three() throws {
    let names = ["A", "B", "C"]
    var incomplete = 0
    for number in 1... {
      let folder = ProcessFolder.newURL()
      let faults = StoreFaults()
      let three = try TwoStores(names, in: folder, vfs: ["B": faults.vfs])
      // The first commit is that of the least UUID. If that fails, no store has the save.
      if three.stores[1].identifier == three.stores.map(\.identifier).min() {
        try three.close()
        continue
      }
      let context = three.context()
      for (place, store) in three.stores.enumerated() { _ = context.make("Part", in: store, ["n": place]) }
      faults.begin(.at(number, .ioError))
      do {
        try context.save()
        if faults.events.isEmpty { break }
      } catch let error as ManagedObjectError {
        if error.code == .incompleteSave {
          incomplete += 1
          #expect(error.affectedStores == [three.stores[1]])
          #expect(
            try three.context().list("n", of: "Part", sort: Self.byN, in: [three.stores[0], three.stores[2]])
              == [0, 2])
          #expect(context.insertedObjects.compactMap { $0.value(forKey: "n") as? Int } == [1])
        }
        faults.end()
        try context.save()
      }
      faults.end()
      #expect(try three.context().list("n", of: "Part", sort: Self.byN) == [0, 1, 2])
      try three.close()
      try TwoStores(names, in: folder).close()
      for name in names { #expect(try Self.leftovers(three, name).isEmpty) }
    }
    #expect(incomplete > 0)
  }

  // MARK: Completing

  /// Opens both stores in a process that expects a note about the save. The handler of notes is the process's.
  private static func openReporting(_ folder: URL) async {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let notes = Notes()
      Diagnostics.handler = { note in notes.list.withLock { $0.append(note) } }
      try TwoStores(in: URL(fileURLWithPath: path)).close()
      let list = notes.list.withLock { $0 }
      let isNamed = list.contains {
        $0.contains("incompleteSave") && $0.contains("A.sqlite") && $0.contains("B.sqlite")
      }
      exit(isNamed && list.count == 1 ? 0 : 1)
    }
  }

  /// Stores in which the process died after the first commit, and the names of the complete and the incomplete one.
  private func interrupted() throws -> (URL, complete: String, lacking: String) {
    let (folder, complete, lacking) = try Self.interruption.get()
    let copy = ProcessFolder.newURL()
    try FileManager.default.copyItem(at: folder, to: copy)
    return (copy, complete, lacking)
  }

  // The step between the two commits is searched for once.
  private static let interruption = Result { try Self().interrupt() }

  private func interrupt() throws -> (URL, complete: String, lacking: String) {
    let template = try template()
    for step in try steps(template) {
      let (two, faults) = try opened(template)
      let context = two.context()
      try Self.change(context, two)
      faults.begin(.at(step.number, .crash))
      try? context.save()
      try? two.close()
      faults.end()
      let contents = try ["A", "B"].map { try Self.contents(two.folder, $0) }
      if contents == [Self.after, Self.before] { return (two.folder, "A", "B") }
      if contents == [Self.before, Self.after] { return (two.folder, "B", "A") }
    }
    throw CocoaError(.featureUnsupported)
  }

  @Test(
    "A save whose rows have changed since is dropped and reported, and nothing is half written", .onSQLite)
  func changedRows() async throws {
    let (folder, complete, lacking) = try interrupted()
    let place = lacking == "B" ? 1 : 0
    let lone = try TwoStores([lacking], in: folder)
    let context = lone.context()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.predicate = NSPredicate(format: "n < 2")
    try context.fetch(request)[0].setValue("mine", forKey: "text")
    try context.save()
    try lone.close()
    await Self.openReporting(folder)
    let contents = try Self.contents(folder, lacking)
    #expect(contents == ["0 mine", "90 gone"], "\(place)")
    #expect(try Self.contents(folder, complete) == Self.after)
    let two = try TwoStores(in: folder)
    #expect(try Self.leftovers(two, "A").isEmpty && Self.leftovers(two, "B").isEmpty)
  }

  @Test("A save whose new keys are taken, or whose entities have changed, is dropped and reported", .onSQLite)
  func takenKeys() async throws {
    for reason in ["keys", "entities"] {
      let (folder, _, lacking) = try interrupted()
      if reason == "keys" {
        let lone = try TwoStores([lacking], in: folder)
        let context = lone.context()
        _ = context.make("Part", ["n": 77])
        try context.save()
        try lone.close()
      } else {
        let raw = try RawSQLite(folder.appendingPathComponent("\(lacking == "A" ? "B" : "A").sqlite").path)
        try raw.run("UPDATE CDE_PENDINGSAVE SET CONTENT = x'00' WHERE CONTENT IS NOT NULL")
      }
      await Self.openReporting(folder)
      let two = try TwoStores(in: folder)
      #expect(try Self.leftovers(two, "A").isEmpty && Self.leftovers(two, "B").isEmpty)
    }
  }

  @Test("A store that is opened alone keeps its record until the other one is opened beside it", .onSQLite)
  func openedAlone() throws {
    let (folder, complete, lacking) = try interrupted()
    for name in [complete, lacking, complete] { try TwoStores([name], in: folder).close() }
    #expect(try Self.contents(folder, lacking) == Self.before)
    // Contexts with objects of the store learn of it.
    let two = try TwoStores([lacking], in: folder)
    let context = two.context()
    context.automaticallyMergesChangesFromParent = true
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.predicate = NSPredicate(format: "n < 2")
    let part = try context.performAndWait {
      let part = try context.fetch(request)[0]
      #expect(part.value(forKey: "text") as? String == "old")
      return part
    }
    try two.coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: two.file(complete))
    context.performAndWait { #expect(part.value(forKey: "text") as? String == "new") }
    try two.close()
    #expect(try Self.contents(folder, lacking) == Self.after)
  }

  @Test("A process that is killed between two commits leaves all of its saves or none of them in both stores")
  func killed() async throws {
    let folder = ProcessFolder.newURL()
    let seed = UInt64.random(in: 1...UInt64.max)
    print("Killed in a save over two stores, seed \(seed)")
    var random = SplitMix(state: seed)
    var last = 0
    for round in 0..<20 {
      let delay = Int.random(in: 1_000...60_000, using: &random)
      // Every other process has made a save when its time begins: a busy machine may let none come so far.
      let saved = round.isMultiple(of: 2) ? 1 : 0
      await #expect(processExitsWith: .signal(SIGKILL), "seed \(seed), round \(round)") {
        [path = folder.path as String, delay = delay as Int, saved = saved as Int] in
        let two = try TwoStores(in: URL(fileURLWithPath: path))
        let context = two.context()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
        var owners = try context.fetch(request)
        if owners.isEmpty {
          owners = two.stores.map { context.make("Owner", in: $0, ["rank": 0]) }
          try context.save()
        }
        var saves = 0
        while true {
          if saves == saved {
            // A queue of its own has a thread of its own, also where the pool's only thread saves.
            DispatchQueue(label: "death").asyncAfter(deadline: .now() + .microseconds(delay)) {
              kill(getpid(), SIGKILL)
            }
          }
          saves += 1
          for owner in owners { owner.setValue(owner.value(forKey: "rank") as! Int + 1, forKey: "rank") }
          let rank = owners[0].value(forKey: "rank") as! Int
          for store in two.stores { _ = context.make("Part", in: store, ["n": rank]) }
          try context.save()
        }
      }
      let two = try TwoStores(in: folder)
      let ranks = try two.stores.map { try two.context().list("rank", of: "Owner", in: [$0]) as [Int] }
      let note = Comment(rawValue: "seed \(seed), round \(round): \(ranks)")
      #expect(ranks[0] == ranks[1], note)
      for store in two.stores {
        let numbers: [Int] = try two.context().list("n", of: "Part", sort: Self.byN, in: [store])
        #expect(numbers == Array(1..<(ranks[0].first ?? 0) + 1), note)
      }
      #expect(ranks[0].first ?? 0 >= last, note)
      last = ranks[0].first ?? 0
      for name in ["A", "B"] { #expect(try Self.leftovers(two, name).isEmpty, note) }
      try two.close()
    }
    #expect(last > 0)
  }
}

/// Collects diagnostics.
private final class Notes: Sendable {
  let list = Mutex<[String]>([])
}
