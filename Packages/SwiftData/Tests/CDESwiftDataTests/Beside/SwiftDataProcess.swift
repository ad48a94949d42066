@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation

/// The process that works by SwiftData, on its main actor.
@MainActor
final class SwiftDataProcess {
  private let container: ModelContainer
  private let url: URL
  private var context: ModelContext { container.mainContext }
  private var random: SplitMix
  private var next = 1_000_000
  private var last: DefaultHistoryToken?
  private var report = BesideReport()
  private let changes: AsyncStream<Void>
  private let observer: any NSObjectProtocol
  /// Kept, so that merges and not fetches bring their values.
  private var kept: [any PersistentModel] = []

  nonisolated static let name = "swiftdata"

  init(_ url: URL, seed: UInt64) throws {
    self.url = url
    container = try ModelContainer(
      for: Binder.self, Participant.self, configurations: ModelConfiguration(url: url))
    random = SplitMix(seed: seed)
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    changes = stream
    observer = NotificationCenter.default.addObserver(
      forName: Notification.Name("NSPersistentStoreRemoteChangeNotification"), object: nil, queue: nil
    ) { _ in continuation.yield() }
    context.autosaveEnabled = false
    context.author = Self.name
  }

  func run(seconds: Double) async throws -> BesideReport {
    let me = Participant(name: Self.name)
    context.insert(me)
    try context.save()
    try await wait { try $0.fetchCount(FetchDescriptor<Participant>()) == 2 }
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
      try step()
      try hear()
      // Merges of the other process's saves are jobs of the main actor.
      await Task.yield()
    }
    me.isDone = true
    try context.save()
    try await wait {
      try $0.fetchCount(FetchDescriptor<Participant>(predicate: #Predicate { $0.isDone })) == 2
    }
    let stored = try BinderGraph(
      ModelContext(
        ModelContainer(
          for: Binder.self, Participant.self, configurations: ModelConfiguration(url: url))))
    try await wait { try BinderGraph($0) == stored }
    try hear()
    report.graph = try BinderGraph(context)
    NotificationCenter.default.removeObserver(observer)
    return report
  }

  /// Waits for changes until a condition is met.
  private func wait(_ condition: (ModelContext) throws -> Bool) async throws {
    if try condition(context) { return }
    for await _ in changes where try condition(context) { return }
  }

  /// Reads the transactions that were not read yet.
  private func hear() throws {
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    if let last { descriptor.predicate = #Predicate { $0.token > last } }
    for transaction in try context.fetchHistory(descriptor) {
      report.heard.append(transaction.transactionIdentifier)
      last = transaction.token
    }
  }

  private func step() throws {
    let binders = try context.fetch(FetchDescriptor<Binder>())
    let sheets = try context.fetch(FetchDescriptor<Sheet>())
    kept = binders + sheets
    next += 1
    switch Int.random(in: 0..<10, using: &random) {
    case 0 where binders.count < 12:
      context.insert(Binder(number: next, title: "S\(next)"))
    case 1, 2:
      if sheets.count < 40, let binder = binders.randomElement(using: &random) {
        binder.sheets.append(Sheet(number: next, text: "S", binder: nil))
      }
    case 3, 4:
      binders.randomElement(using: &random)?.count += 1
    case 5, 6:
      sheets.randomElement(using: &random)?.text = "S\(next)"
    case 7:
      sheets.randomElement(using: &random)?.binder = binders.randomElement(using: &random)
    case 8:
      if let sheet = sheets.randomElement(using: &random) { context.delete(sheet) }
    default:
      if binders.count > 3, let binder = binders.randomElement(using: &random) { context.delete(binder) }
    }
    do {
      try context.save()
      report.saves += 1
    } catch {
      // What the other process deleted meanwhile.
      context.rollback()
      report.refusals += 1
    }
  }
}
