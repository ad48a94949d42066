import CDESwiftData
import CoreDataEvolution
import Foundation

/// The folder of a run: one filled database in the opponents' layout, one store of ours with the same
/// content, and copies of both for the rows that write.
@MainActor
final class Workspace {
  nonisolated let samples: Samples
  let folder: URL
  /// Larger runs of everything in smoke size only show that it works.
  let isSmoke: Bool
  /// The objects of an import.
  let importCount: Int

  private var rawMaster: URL { folder.appendingPathComponent("opponents.sqlite") }
  private var piecesMaster: URL { folder.appendingPathComponent("pieces.sqlite") }
  private var knownPieces: ModelContainer?
  private var ourMaster: URL { folder.appendingPathComponent("ours.sqlite") }

  init(samples: Samples, isSmoke: Bool, importCount: Int) throws {
    self.samples = samples
    self.importCount = importCount
    self.isSmoke = isSmoke
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cde-benchmark-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // First, so that SQLite runs as the opponents find it: our engine would switch its statistics off.
    try fillOpponents()
    try fillOurs()
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  private func fillOpponents() throws {
    let raw = RawDatabase(rawMaster.path)
    raw.execute(RawDatabase.schema)
    raw.execute("BEGIN")
    raw.insert(samples.items[...])
    let statement = raw.prepare("INSERT INTO category VALUES(?,?)")
    for (index, name) in samples.categoryNames.enumerated() {
      statement.bind(1, Int64(index + 1))
      statement.bind(2, name)
      statement.run()
    }
    raw.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE); ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private func fillOurs() throws {
    let store = try OurStore(at: ourMaster)
    let context = store.container.newBackgroundContext()
    try context.performAndWait {
      let categories = OurStore.makeCategories(samples, in: context)
      // In slices, so that the keys ascend with the samples whatever order a save writes its rows in.
      for start in stride(from: 0, to: samples.itemCount, by: 1000) {
        for values in samples.items[start..<min(start + 1000, samples.itemCount)] {
          _ = Item(values, categories: categories, context: context)
        }
        try context.save()
      }
      let count = try context.count(for: Item.fetchRequest())
      precondition(count == samples.itemCount, "The store holds \(count) of \(samples.itemCount) items.")
    }
    try store.close()
  }

  /// The items as models of SwiftData's layer. Filled when the first row asks for them.
  func pieces() throws -> ModelContainer {
    if let knownPieces { return knownPieces }
    let made = try samples.fillPieces(at: piecesMaster)
    knownPieces = made
    return made
  }

  var piecesPath: String { piecesMaster.path }

  // MARK: Opening

  /// A connection to the filled database of the opponents, only to be read.
  func raw(_ pragmas: RawDatabase.Pragmas = .plain) -> RawDatabase { RawDatabase(rawMaster.path, pragmas) }

  var rawPath: String { rawMaster.path }

  var ourPath: String { ourMaster.path }

  /// Our filled store, only to be read.
  func ours() throws -> OurStore { try OurStore(at: ourMaster) }

  /// A fresh copy of the opponents' database, to be written.
  func rawCopyPath() throws -> String { try copy(rawMaster, to: "opponents-copy.sqlite").path }

  /// A fresh copy of our store, to be written.
  ///
  /// - Parameter options: options of the store that are on.
  func oursCopy(_ options: [String] = []) throws -> OurStore {
    try OurStore(at: copy(ourMaster, to: "ours-copy.sqlite"), options)
  }

  /// A path at which nothing is.
  func emptyPath(_ name: String) throws -> URL {
    let url = folder.appendingPathComponent(name)
    try Self.removeDatabase(url)
    return url
  }

  private func copy(_ master: URL, to name: String) throws -> URL {
    let target = try emptyPath(name)
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: master.path + suffix) {
      try FileManager.default.copyItem(atPath: master.path + suffix, toPath: target.path + suffix)
    }
    return target
  }

  private static func removeDatabase(_ url: URL) throws {
    for suffix in ["", "-wal", "-shm", "-journal"]
    where FileManager.default.fileExists(atPath: url.path + suffix) {
      try FileManager.default.removeItem(atPath: url.path + suffix)
    }
  }
}

/// A container over one file.
@MainActor
struct OurStore {
  let container: NSPersistentContainer

  static let model: NSManagedObjectModel = {
    do {
      let model = try NSManagedObjectModel.makeRuntimeModel([
        Item.self, Category.self, PlainCounter.self, Diary.self, PlainDiary.self, Entry.self,
        Link.self,
      ])
      model.entities.append(NamedLink.description())
      model.entitiesByName["Entry"]!.attributesByName["section"]!.isIndexed = true
      return model
    } catch {
      preconditionFailure("The benchmark's model is invalid: \(error)")
    }
  }()

  init(at url: URL, _ options: [String] = [], model: NSManagedObjectModel = Self.model) throws {
    container = NSPersistentContainer(name: "Benchmark", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
    for option in options { description.setOption(true as NSNumber, forKey: option) }
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  /// Closes the file, so that it can be copied or replaced.
  func close() throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  nonisolated static func makeCategories(_ samples: Samples, in context: NSManagedObjectContext) -> [Category]
  {
    samples.categoryNames.map {
      let category = Category(context: context)
      category.name = $0
      return category
    }
  }

  /// Fetched objects by their rows' keys, which the samples count from 1.
  nonisolated static func byKey<Object: NSManagedObject>(
    _ request: NSFetchRequest<Object>, in context: NSManagedObjectContext
  ) throws -> [Int64: Object] {
    request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
    let objects = try context.fetch(request)
    let last = objects.last?.objectID.primaryKey ?? 0
    precondition(last == objects.count, "The keys of \(objects.count) rows end in \(last).")
    return Dictionary(uniqueKeysWithValues: zip(1..., objects))
  }
}
