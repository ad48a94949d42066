import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Stores of every kind of property, damaged at random: bytes of the file, and cells by SQL, in every column there is.
///
/// Whatever they then hold, reading it by the getters that a program has, changing and saving it ends in values and
/// typed errors, never in the end of the process.
@Suite("Mutated stores", .onSQLite)
struct MutatedStoreTests {
  /// 3,000 is the long run.
  private static let rounds =
    ProcessInfo.processInfo.environment["CDE_MUTATED_STORES"].flatMap(Int.init) ?? 16
  private static let seed =
    ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? 1
  private static let groupSize = 100

  @Test("Damaged stores are read, changed and saved without ending the process")
  func mutations() async throws {
    let log = ProcessFolder.newURL("log")
    defer { try? FileManager.default.removeItem(at: log) }
    for first in stride(from: 0, to: Self.rounds, by: Self.groupSize) {
      let last = min(first + Self.groupSize, Self.rounds)
      let result = await #expect(processExitsWith: .success) {
        [seed = Self.seed as UInt64, first = first as Int, last = last as Int, log = log.path as String] in
        // The backtrace of a trap comes from the process itself, and goes where it says its errors.
        dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC, 0o600), 2)
        try MutatedStoreTests.run(seed, first, last)
      }
      if result == nil {
        let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
        Issue.record("CDE_SEED=\(Self.seed), the last round begun of: \(text.prefix(12_000))")
      }
    }
  }

  private static func run(_ seed: UInt64, _ first: Int, _ last: Int) throws {
    // What the reads have to tell is much, and not what this is about.
    Diagnostics.handler = { _ in }
    let stack = try Stack(model: try ValueModel.make())
    try ValueModel.fill(stack.context())
    try stack.close()
    let columns = try Column.all(of: stack)
    let original = try Data(contentsOf: stack.file)
    for round in first..<last {
      FileHandle.standardError.write(Data("round \(round)\n".utf8))
      var random = SplitMix(state: seed &+ UInt64(round) &* 0x9E37_79B9)
      try mutate(stack, original, columns, &random)
      exercise(stack)
    }
    try FileManager.default.removeItem(at: stack.folder)
  }

  // MARK: Damage

  fileprivate struct Column {
    let table: String
    let name: String

    static func all(of stack: Stack) throws -> [Column] {
      try stack.sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'").flatMap
      { row in
        try stack.sql("PRAGMA table_info(\"\(row[0])\")").map { Column(table: row[0], name: $0[1]) }
      }
    }
  }

  private static let values = [
    "NULL", "0", "1", "-1", "-2", "2", "3", "40000", "-40000", "3000000000", "9223372036854775807",
    "-9223372036854775808", "0.5", "1e300", "-9e999", "9e999", "'text'", "''", "'-1'", "x''", "x'00'",
    "x'02'",
    "x'0201ff'", "x'01'", "randomblob(16)", "randomblob(40)", "zeroblob(300)", "'NaN'", "'1e200'",
    "char(0, 55)",
  ]

  private static func mutate(
    _ stack: Stack, _ original: Data, _ columns: [Column], _ random: inout SplitMix
  ) throws {
    for suffix in ["", "-wal", "-shm"] {
      let file = stack.file.path + suffix
      if FileManager.default.fileExists(atPath: file) { try FileManager.default.removeItem(atPath: file) }
    }
    var bytes = original
    if Int.random(in: 0..<4, using: &random) == 0 {
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      return try bytes.write(to: stack.file)
    }
    try bytes.write(to: stack.file)
    let writer = try RawSQLite(stack.file.path)
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let column = columns.randomElement(using: &random)!
      // A key column takes integers only, and a unique one each value once.
      let rows = ["", " WHERE rowid % 2 = 0", " WHERE rowid = 1"].randomElement(using: &random)!
      let sql = "UPDATE OR IGNORE \"\(column.table)\" SET \"\(column.name)\" = "
      do { try writer.run(sql + values.randomElement(using: &random)! + rows) } catch is RawSQLite.Failure {
        continue
      }
    }
  }

  // MARK: Use

  /// Does whatever a program does with a store. Anything but an error is fine, and errors are typed.
  private static func exercise(_ stack: Stack) {
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch {
        precondition(error is ManagedObjectError, "\(error) is no ManagedObjectError.")
      }
    }
    attempt {
      let container = try Stack.open(stack.file, stack.container.managedObjectModel)
      defer { attempt { try close(container) } }
      for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump] {
        let context = container.newBackgroundContext()
        context.mergePolicy = policy
        attempt { try readAll(context) }
        attempt { try change(context) }
      }
      attempt { try batch(container.newBackgroundContext()) }
      let store = container.persistentStoreCoordinator.persistentStores[0]
      _ = container.persistentStoreCoordinator.metadata(for: store)
    }
  }

  private static func close(_ container: NSPersistentContainer) throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  private static func readAll(_ context: NSManagedObjectContext) throws {
    var failure: (any Error)?
    for name in ["Specimen", "Curator", "Sticker", "Cart", "Node", "Leaf"] {
      do {
        for object in try context.all(name) { read(object) }
        _ = try context.all(name, nil, sort: object(named: name))
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private static func object(named entity: String) -> String {
    ["Specimen": "text", "Cart": "seats"][entity] ?? "name"
  }

  private static func read(_ object: NSManagedObject) {
    switch object {
    case let specimen as Specimen:
      _ = ValueModel.read(specimen)
      if let snapshot = try? specimen.snapshot() {
        _ = (snapshot.small, snapshot.text, snapshot.status, snapshot.uuid, snapshot.place, snapshot.keeper)
      }
    case let keeper as Curator: _ = keeper.name.count + keeper.specimens.count + keeper.ordered.count
    case let label as Sticker: _ = label.name.count + label.specimens.count
    case let car as Cart: _ = Int(car.seats) + car.show.count
    default: break
    }
    for name in object.entity.propertiesByName.keys {
      _ = object.value(forKey: name)
      _ = object.committedValues(forKeys: [name])
    }
    _ = (object.isDeleted, object.objectID.uriRepresentation(), object.description)
  }

  private static func change(_ context: NSManagedObjectContext) throws {
    let specimens = try context.fetch(Specimen.fetchRequest())
    for (index, specimen) in specimens.enumerated() {
      specimen.text += "!"
      specimen.whole &+= 1
      if index.isMultiple(of: 2) { specimen.shelf = specimens[0].shelf }
      if let label = specimen.labels.first { specimen.mutableSetValue(forKey: "labels").remove(label) }
      specimen.place = Place(latitude: 3, longitude: 4)
    }
    let new = Specimen(context: context)
    ValueModel.fill(new, 3)
    new.keeper = specimens.first?.keeper
    new.shelf = specimens.first?.shelf
    for branch in try context.all("Branch") {
      branch.setValue("changed", forKey: "name")
      branch.setValue(NSOrderedSet(array: branch.list("row").reversed()), forKey: "row")
    }
    do { try context.save() } catch {
      context.rollback()
      throw error
    }
    context.refreshAllObjects()
    for object in context.registeredObjects { read(object) }
    if let specimen = specimens.first { context.delete(specimen) }
    if let branch = try context.all("Branch").first { context.delete(branch) }
    do { try context.save() } catch {
      context.rollback()
      throw error
    }
  }

  private static func batch(_ context: NSManagedObjectContext) throws {
    var failure: (any Error)?
    func attempt(_ request: NSPersistentStoreRequest) {
      do { try context.execute(request) } catch { failure = error }
    }
    let update = NSBatchUpdateRequest(entityName: "Specimen")
    update.propertiesToUpdate = ["text": "batch", "small": 4]
    update.resultType = .updatedObjectIDsResultType
    attempt(update)
    attempt(NSBatchInsertRequest(entityName: "Sticker", objects: [["name": "batch"]]))
    let delete = NSBatchDeleteRequest(
      fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Node"))
    delete.resultType = .resultTypeObjectIDs
    attempt(delete)
    if let failure { throw failure }
  }
}
