@_spi(CDE) internal import CDEModelRuntime
internal import CDEStore
internal import Synchronization

/// Wakes readers for the saves and merges of the view context.
///
/// # How a change reaches its readers
///
/// Each commit carries a trace: who expected it (listeners that the writer's context had when it saved) and
/// who has had it. The router is one listener. For a commit it knows these states:
///
///     foreign  --merge-->  had          all observable fields of the changed objects wake
///     expected --merge-->  had          exactly the changed fields wake
///     own      --save--->  had          exactly the changed fields wake (a save of the view context itself)
///     had      --merge-->  had          an echo: nothing wakes when echoes are swallowed, else all fields do
///     some     --merge-->  had          objects that came by their IDs before: as an echo; others: as above
///
/// A commit is expected when a registered context, or a context inside `saveObservedChanges`, wrote it; this
/// is decided at the save and stays with the commit, so registrations may end before the merge, merges may
/// come in any order and number, and no failed save leaves anything behind: what was never committed has no
/// trace.
///
/// What concerns single objects:
///
///     unobserved  --tracked read on the main actor-->  observed      (the object makes its registrar)
///     observed    --saved or merged change---------->  observed      (fields or all wake)
///     observed    --refresh, rollback--------------->  observed      (all wake)
///     observed    --merged deletion----------------->  gone          (all wake, once)
///     observed    --saved local deletion------------>  gone          (silently)
///     observed    --reset, rollback of an insert---->  gone          (silently)
///
/// A gone object belongs to no context: it records no reads, and no change finds it again. Objects turned
/// into faults and objects whose ID became permanent stay what they are, since registrars live in the objects
/// and not in a table by ID.
///
/// An owner whose to-many relationship changed only through the other side is woken for that relationship
/// alone, whichever context saved: nothing else of it can have changed.
///
/// A merge by IDs looks its objects up in the last saves of the container: what a save changed in an object arrives with
/// the object's ID as it would with the save, and is remembered in the save's trace. A change that no recent save
/// explains wakes all fields of its objects. IDs out of a batch's result know what the batch changed; with precision
/// for every save that counts.
///
/// A commit that is merged twice in one job of the context's executor is no echo: it wakes once.
///
/// Followers, such as observed fetches, compute anew between a change and the first wake-up.
final class ObservationRouter: ContextObserver, @unchecked Sendable {
  // Guard: `followers` belongs to the observed context's isolation; all else is immutable or atomic.
  let listener = CommitListener()
  private let precision: CDEObservationPrecision
  private let swallowsEchoes: Bool
  // Cleared by the domain's end, from any thread, before the context lets go of the router on its own
  // isolation.
  private let isActive = Atomic(true)
  let log: ObservationLog
  var followers = FollowerList()

  init(precision: CDEObservationPrecision, swallowsEchoes: Bool, log: ObservationLog) {
    self.precision = precision
    self.swallowsEchoes = swallowsEchoes
    self.log = log
  }

  /// - Parameter context: The one to observe, on its isolation.
  func attach(to context: NSManagedObjectContext) { context.observer = self }

  /// Ends the router, from any thread; the context lets go of it on its own isolation.
  func end(in context: NSManagedObjectContext) {
    deactivate()
    func release(_ context: NSManagedObjectContext) {
      // A later domain may have taken over.
      if context.observer === self { context.observer = nil }
    }
    if context.executor.isCurrent {
      release(context)
    } else {
      // Inactive already, so releasing the context may happen later, on its executor.
      context.executor.enqueue { [weak context, self] in
        if let context, context.observer === self { context.observer = nil }
      }
    }
  }

  private func deactivate() { isActive.store(false, ordering: .releasing) }

  private var routes: Bool { isActive.load(ordering: .acquiring) }

  // MARK: What the context says

  func contextWillTrack(_ object: NSManagedObject) {
    log.write("observes \(object)")
  }

  func contextDidSave(_ changes: [ObjectChange], commit: CommittedTransaction) {
    guard routes else { return }
    _ = commit.trace.deliver(to: listener)
    let wakes = followers.settle(ContextEvent(source: .commit(commit), changes: changes))
    route(changes, .exactly, of: "save \(commit.sequence) of the context itself") { $0.kind != .deleted }
    for wake in wakes { wake() }
  }

  func contextDidMerge(_ changes: [ObjectChange], _ source: MergeSource) {
    guard routes else { return }
    switch source {
    case .commit(let commit, let isRepeated):
      let wakes = followers.settle(ContextEvent(source: .commit(commit), changes: changes))
      route(changes, of: commit, isRepeated)
      for wake in wakes { wake() }
    case .identities(let recent):
      let wakes = followers.settle(ContextEvent(source: .identities, changes: changes))
      route(changes, recent)
      for wake in wakes { wake() }
    }
  }

  private func route(_ changes: [ObjectChange], of commit: CommittedTransaction, _ isRepeated: Bool) {
    let breadth = isExact(commit.trace) || commit.isFromHistory ? Breadth.exactly : .everything
    let swallows = swallowsEchoes || isRepeated
    switch commit.trace.deliver(to: listener) {
    case .first: route(changes, breadth, of: "merge of save \(commit.sequence)")
    case .after(let rows):
      route(changes, breadth, of: "merge of the rest of save \(commit.sequence)") {
        !rows.contains($0.object)
      }
      if swallows { return }
      route(changes, .everything, of: "echo of a part of save \(commit.sequence)") {
        rows.contains($0.object)
      }
    case .echo where swallows: log.write("swallowed an echo of save \(commit.sequence)")
    case .echo: route(changes, .everything, of: "echo of save \(commit.sequence)")
    }
  }

  /// Routes a merge by IDs: each object by the saves that are known to have changed it.
  private func route(_ changes: [ObjectChange], _ recent: RecentChanges) {
    var wakes = Wakes()
    for change in changes where change.object.isTracked {
      let saves = change.kind == .updated ? recent[change.object] : []
      if saves.isEmpty {
        let isExact = change.kind == .touched || (precision == .everySave && change.kind != .deleted)
        wakes.add(change.object, isExact ? change.properties : nil)
        continue
      }
      // What a batch changed beside the saves is known for some IDs.
      var isNews = change.properties != nil
      var slots = change.properties.map { precision == .everySave ? $0 : nil } ?? PropertySet()
      for save in saves where save.trace.deliver(change.object, to: listener) {
        isNews = true
        slots = isExact(save.trace) ? slots?.union(save.properties) : nil
      }
      if isNews {
        wakes.add(change.object, slots)
      } else if swallowsEchoes || saves.allSatisfy({ recent.isRepeated($0.trace) }) {
        log.write("swallowed an echo of \(change.object), merged by its ID")
      } else {
        wakes.add(change.object, nil)
      }
    }
    wake(wakes, "merge by IDs")
  }

  private func isExact(_ trace: CommitTrace) -> Bool {
    precision == .everySave || trace.isExpected(by: listener)
  }

  func contextDidRefresh(_ objects: [NSManagedObject]) {
    guard routes else { return }
    var wakes = Wakes()
    for object in objects where object.isTracked { wakes.add(object, nil) }
    wake(wakes, "refresh or rollback")
  }

  func contextDidReset() {
    guard routes else { return }
    log.write("the context was reset")
    for wake in followers.settle(ContextEvent(source: .reset)) { wake() }
  }

  // MARK: Waking

  private enum Breadth { case exactly, everything }

  private func route(
    _ changes: [ObjectChange], _ breadth: Breadth, of source: @autoclosure () -> String,
    where concerns: (ObjectChange) -> Bool = { _ in true }
  ) {
    var wakes = Wakes()
    for change in changes where change.object.isTracked && concerns(change) {
      let isExact = change.kind == .touched || (breadth == .exactly && change.kind != .deleted)
      wakes.add(change.object, isExact ? change.properties : nil)
    }
    wake(wakes, source())
  }

  /// Wakes once everything is known, because a woken reader may run code that changes or reads any object.
  private func wake(_ wakes: Wakes, _ source: @autoclosure () -> String) {
    guard let first = wakes.first else { return }
    wake(first.object, first.slots, source())
    for wake in wakes.others { self.wake(wake.object, wake.slots, source()) }
  }

  private func wake(_ object: NSManagedObject, _ slots: PropertySet?, _ source: @autoclosure () -> String) {
    if log.isEnabled {
      log.write(
        "\(source()): \(object) \(slots.map { "\(object.observedPaths(of: $0))" } ?? "all properties")")
    }
    object.wakeReaders(of: slots)
  }

  /// Whom to wake, each object once: one commit may name an object as changed and as touched.
  private struct Wakes {
    /// Most commits concern one observed object or none, and need no list.
    private(set) var first: (object: NSManagedObject, slots: PropertySet?)?
    private(set) var others: [(object: NSManagedObject, slots: PropertySet?)] = []
    private var places: [ObjectIdentifier: Int] = [:]

    mutating func add(_ object: NSManagedObject, _ slots: PropertySet?) {
      guard let known = first else {
        first = (object, slots)
        return
      }
      if known.object === object {
        first?.slots = Self.union(known.slots, slots)
      } else if let place = places[ObjectIdentifier(object)] {
        others[place].slots = Self.union(others[place].slots, slots)
      } else {
        places[ObjectIdentifier(object)] = others.count
        others.append((object, slots))
      }
    }

    /// No slots mean all of them.
    private static func union(_ left: PropertySet?, _ right: PropertySet?) -> PropertySet? {
      guard let left, let right else { return nil }
      return left.union(right)
    }
  }
}
