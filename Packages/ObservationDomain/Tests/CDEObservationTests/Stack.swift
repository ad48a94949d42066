import CDEManagedModel
import CDEModelRuntime
import CDEObservation
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Observation

/// A container over a throw-away store, with one item in one folder in its view context.
@MainActor
final class Stack {
  let container: NSPersistentContainer
  let item: Item
  let folder: Folder
  nonisolated let id: NSManagedObjectID
  nonisolated let folderID: NSManagedObjectID
  private nonisolated let directory: URL

  /// - Parameter options: options of the store that are on.
  init(merges: Bool = true, cloud: Bool = false, options: [String] = []) throws {
    let model = try NSManagedObjectModel.makeRuntimeModel(Item.self, Folder.self, Label.self, Memo.self)
    container =
      cloud
      ? NSPersistentCloudKitContainer(name: "Observed", managedObjectModel: model)
      : NSPersistentContainer(name: "Observed", managedObjectModel: model)
    directory = ProcessFolder.newURL()
    let description = NSPersistentStoreDescription(url: directory.appendingPathComponent("Observed.sqlite"))
    for option in options { description.setOption(true as NSNumber, forKey: option) }
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    container.viewContext.automaticallyMergesChangesFromParent = merges
    folder = Folder(context: container.viewContext)
    folder.name = "inbox"
    item = Item(context: container.viewContext)
    item.title = "old"
    item.folder = folder
    try container.viewContext.save()
    id = item.objectID
    folderID = folder.objectID
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  var view: NSManagedObjectContext { container.viewContext }

  /// Returns when the view context has merged everything saved so far.
  func merged() async {
    await view.perform(schedule: .enqueued) {}
  }

  /// Changes the item in another context and saves there.
  func write(
    in context: NSManagedObjectContext, _ change: @escaping @Sendable (Item) throws -> Void
  ) async throws {
    try await edit(id, in: context, change) { try context.save() }
  }
}

/// Changes an item on its context's executor.
nonisolated func edit(
  _ id: NSManagedObjectID, in context: NSManagedObjectContext,
  _ change: @escaping @Sendable (Item) throws -> Void,
  then finish: @escaping @Sendable () throws -> Void = {}
) async throws {
  try await context.perform {
    guard let item = try context.existingObject(with: id) as? Item else { throw Unwanted() }
    try change(item)
    try finish()
  }
}

/// Readers that track one property each, and again whenever they are woken.
@MainActor
final class Readers {
  private var counts: [String: Int] = [:]
  private var reads: [String: () -> Void] = [:]

  func add(_ name: String, _ read: @escaping () -> Void) {
    reads[name] = read
    track(name)
  }

  private func track(_ name: String) {
    guard let read = reads[name] else { return }
    withObservationTracking(read) { [weak self] in
      MainActor.assumeIsolated {
        self?.counts[name, default: 0] += 1
        self?.track(name)
      }
    }
  }

  /// Who woke how often since the last time.
  func take() -> [String: Int] {
    defer { counts = [:] }
    return counts
  }

  func take() -> Set<String> {
    let counts: [String: Int] = take()
    return Set(counts.keys)
  }

  static let itemFields: Set<String> = [
    "title", "summary", "rank", "draft", "folder", "labels", "labelsCount",
  ]
  static let folderFields: Set<String> = ["name", "items", "itemsCount"]
}

extension Readers {
  /// One reader for each property of an item.
  convenience init(_ item: Item) {
    self.init()
    add("title") { _ = item.title }
    add("summary") { _ = item.summary }
    add("rank") { _ = item.rank }
    add("draft") { _ = item.draft }
    add("folder") { _ = item.folder }
    add("labels") { _ = item.labels }
    add("labelsCount") { _ = item.labelsCount }
  }

  convenience init(_ folder: Folder) {
    self.init()
    add("name") { _ = folder.name }
    add("items") { _ = folder.items }
    add("itemsCount") { _ = folder.itemsCount }
  }
}
