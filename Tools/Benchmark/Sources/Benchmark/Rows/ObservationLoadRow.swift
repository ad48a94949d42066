import CoreDataEvolution
import Observation
import Synchronization

/// Row observe-load: a thousand saves a second, while the main actor observes every object.
@MainActor
struct ObservationLoadRow {
  let workspace: Workspace

  private static let savesPerSecond = 1_000

  private var saves: Int { workspace.isSmoke ? 50 : 1_000 }

  /// How long after the last save its reader is woken: a backlog, if there is one, shows here.
  var contenders: [Contender] {
    get throws {
      let store = try workspace.oursCopy()
      store.container.viewContext.automaticallyMergesChangesFromParent = true
      let domain = CDEObservationDomain(container: store.container)
      let items = try store.container.viewContext.fetch(Item.fetchRequest())
      let readers = items.map { Reader($0) }
      let keys = workspace.samples.randomKeys
      let byKey = Dictionary(uniqueKeysWithValues: zip(items.lazy.map(\.objectID.primaryKey), readers))
      return [
        Contender(.ours) { [saves] in
          let writer = LoadWriter(observationDomain: domain)
          // Distinct objects: each save must wake a reader of its own.
          let chosen = Array(Set(keys.prefix(saves)))
          try await writer.prepare(chosen)
          for reader in readers { reader.readAgain() }
          let ended = try await writer.save(every: .seconds(1) / Self.savesPerSecond)
          guard let last = chosen.last.flatMap({ byKey[$0] }) else { return .nan }
          let woken = await last.woken()
          let missed = chosen.filter { byKey[$0]?.isWoken != true }.count
          precondition(missed == 0, "\(missed) of \(chosen.count) readers did not wake.")
          return withExtendedLifetime((items, domain)) { max((woken - ended).nanoseconds, 0) }
        }
      ]
    }
  }

  /// Reads one property of one object, as a view that shows it does.
  @MainActor
  private final class Reader {
    private let item: Item
    private let state = Mutex<(woken: ContinuousClock.Instant?, waiter: CheckedContinuation<Void, Never>?)>(
      (nil, nil))
    private var isReading = false

    init(_ item: Item) { self.item = item }

    var isWoken: Bool { state.withLock { $0.woken != nil } }

    func readAgain() {
      if isReading, !isWoken { return }
      isReading = true
      state.withLock { $0.woken = nil }
      withObservationTracking {
        consume(item.count)
      } onChange: { [weak self] in
        // Weak: the object keeps this closure, and with it would keep itself and its store, if it never changes.
        self?.wake()
      }
    }

    nonisolated private func wake() {
      state.withLock { state in
        state.woken = .now
        state.waiter?.resume()
        state.waiter = nil
      }
    }

    func woken() async -> ContinuousClock.Instant {
      await withCheckedContinuation { waiter in
        let isWoken = state.withLock { state in
          if state.woken == nil { state.waiter = waiter }
          return state.woken != nil
        }
        if isWoken { waiter.resume() }
      }
      return state.withLock { $0.woken } ?? .now
    }
  }
}

/// Changes one object a save.
@NSModelActor
actor LoadWriter {
  private var items: [Item] = []

  func prepare(_ keys: [Int64]) throws {
    let items = try OurStore.byKey(Item.fetchRequest(), in: modelContext)
    self.items = keys.compactMap { items[$0] }
  }

  /// - Returns: when the last save was over.
  func save(every interval: Duration) async throws -> ContinuousClock.Instant {
    let start = ContinuousClock.now
    for (turn, item) in items.enumerated() {
      try await Task.sleep(until: start + interval * turn, tolerance: .zero, clock: .continuous)
      item.count &+= 1
      try await saveObservedChanges()
    }
    return .now
  }
}
