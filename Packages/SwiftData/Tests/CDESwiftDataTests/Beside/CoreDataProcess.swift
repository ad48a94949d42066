import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Dispatch
import Foundation
import Synchronization

/// The process that works by Core Data, in a context of its own queue.
final class CoreDataProcess: Sendable {
  private let container: NSPersistentContainer
  private let context: NSManagedObjectContext

  static let name = "coredata"

  static func open(_ url: URL) throws -> NSPersistentContainer {
    guard
      let model = NSManagedObjectModel.makeManagedObjectModel(for: [Binder.self, Participant.self])
    else { throw CocoaError(.coderInvalidValue) }
    let container = NSPersistentContainer(name: "Beside", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  init(_ url: URL) throws {
    container = try Self.open(url)
    context = container.newBackgroundContext()
    context.automaticallyMergesChangesFromParent = true
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.transactionAuthor = Self.name
  }

  func run(_ url: URL, seconds: Double, seed: UInt64) async throws -> BesideReport {
    let (merges, continuation) = AsyncStream.makeStream(of: Void.self)
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, queue: nil
    ) { _ in continuation.yield() }
    defer { NotificationCenter.default.removeObserver(observer) }
    let me = try await context.perform { [context] in
      let me = NSEntityDescription.insertNewObject(forEntityName: "Participant", into: context)
      me.setValue(Self.name, forKey: "name")
      me.setValue(false, forKey: "isDone")
      try context.save()
      return me.objectID
    }
    try await wait(merges) { try Self.participants($0).count == 2 }
    let worked = try await context.perform { [context] in
      var work = CoreDataWork(context, seed)
      let end = ContinuousClock.now + .seconds(seconds)
      while ContinuousClock.now < end { try work.step() }
      context.object(with: me).setValue(true, forKey: "isDone")
      try context.save()
      return work
    }
    var report = worked.report
    try await wait(merges) {
      try Self.participants($0).filter { $0.value(forKey: "isDone") as? Bool == true }.count == 2
    }
    let fresh = try Self.open(url).newBackgroundContext()
    let stored = try await fresh.perform { try CoreDataWork.graph(fresh) }
    try await wait(merges) { try CoreDataWork.graph($0) == stored }
    report.graph = try await context.perform { [context] in try CoreDataWork.graph(context) }
    // The stream has the whole history, each transaction once.
    let last = try await context.perform { [context] () -> Int64 in
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      return (result?.result as? [NSPersistentHistoryTransaction])?.last?.transactionNumber ?? 0
    }
    for try await transaction in context.changes(after: nil) {
      report.heard.append(transaction.transactionNumber)
      if transaction.transactionNumber >= last { break }
    }
    return report
  }

  private static func participants(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Participant"))
  }

  /// Waits for merges until a condition is met.
  private func wait(
    _ merges: AsyncStream<Void>, _ condition: @escaping @Sendable (NSManagedObjectContext) throws -> Bool
  ) async throws {
    func isMet() async throws -> Bool { try await context.perform { [context] in try condition(context) } }
    if try await isMet() { return }
    for await _ in merges { if try await isMet() { return } }
  }
}

/// The steps of that process, on its context's queue.
struct CoreDataWork {
  private let context: NSManagedObjectContext
  private var random: SplitMix
  private var next = 2_000_000
  private var kept: [NSManagedObject] = []
  private(set) var report = BesideReport()

  init(_ context: NSManagedObjectContext, _ seed: UInt64) {
    self.context = context
    random = SplitMix(seed: seed)
  }

  static func graph(_ context: NSManagedObjectContext) throws -> BinderGraph {
    var graph = BinderGraph()
    for binder in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Binder")) {
      let sheets = binder.value(forKey: "sheets") as? Set<NSManagedObject> ?? []
      graph.add(
        binder: binder.value(forKey: "number") as? Int ?? 0,
        title: binder.value(forKey: "title") as? String ?? "",
        count: binder.value(forKey: "count") as? Int ?? 0,
        sheets: sheets.map { $0.value(forKey: "number") as? Int ?? 0 })
    }
    for sheet in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Sheet")) {
      let binder = sheet.value(forKey: "binder") as? NSManagedObject
      graph.add(
        sheet: sheet.value(forKey: "number") as? Int ?? 0, text: sheet.value(forKey: "text") as? String ?? "",
        binder: binder?.value(forKey: "number") as? Int)
    }
    graph.sort()
    return graph
  }

  mutating func step() throws {
    let binders = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Binder"))
    let sheets = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Sheet"))
    kept = binders + sheets
    next += 1
    switch Int.random(in: 0..<10, using: &random) {
    case 0 where binders.count < 12:
      let binder = NSEntityDescription.insertNewObject(forEntityName: "Binder", into: context)
      binder.setValue(next, forKey: "number")
      binder.setValue("C\(next)", forKey: "title")
    case 1, 2:
      if sheets.count < 40, let binder = binders.randomElement(using: &random) {
        let sheet = NSEntityDescription.insertNewObject(forEntityName: "Sheet", into: context)
        sheet.setValue(next, forKey: "number")
        sheet.setValue("C", forKey: "text")
        sheet.setValue(binder, forKey: "binder")
      }
    case 3, 4:
      if let binder = binders.randomElement(using: &random) {
        binder.setValue((binder.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count")
      }
    case 5, 6:
      sheets.randomElement(using: &random)?.setValue("C\(next)", forKey: "text")
    case 7:
      sheets.randomElement(using: &random)?.setValue(binders.randomElement(using: &random), forKey: "binder")
    case 8:
      if let sheet = sheets.randomElement(using: &random) { context.delete(sheet) }
    default:
      if binders.count > 3, let binder = binders.randomElement(using: &random) { context.delete(binder) }
    }
    do {
      try context.save()
      report.saves += 1
    } catch {
      context.rollback()
      report.refusals += 1
    }
  }
}
