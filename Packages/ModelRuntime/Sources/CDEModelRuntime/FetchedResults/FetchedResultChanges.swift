@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

/// The difference between two states of a fetched result, by object IDs.
///
/// Places of removals, and places that objects leave, belong to the former state; all others to the new one. So a copy of the
/// result is brought up to date by ``apply(to:)``: first everything that left its place goes, from the end to the start, then
/// everything comes that has a new place, from the start to the end.
public struct FetchedResultDifference: Sendable, Hashable {
  /// An object at a place.
  public struct Place: Sendable, Hashable {
    /// The object's ID.
    public let id: NSManagedObjectID
    /// Its place in the result.
    public let index: Int

    /// Makes a place; see the properties.
    public init(id: NSManagedObjectID, index: Int) {
      self.id = id
      self.index = index
    }
  }

  /// An object with another place than before.
  public struct Move: Sendable, Hashable {
    /// The object's ID.
    public let id: NSManagedObjectID
    /// Its place in the former state.
    public let from: Int
    /// Its place in the new state.
    public let to: Int
    /// The persistent names of the changed properties; nil if they are not known. See ``Update/properties``.
    public let properties: Set<String>?

    /// Makes a move; see the properties.
    public init(id: NSManagedObjectID, from: Int, to: Int, properties: Set<String>?) {
      self.id = id
      self.from = from
      self.to = to
      self.properties = properties
    }
  }

  /// An object that changed and kept its place among the other objects.
  public struct Update: Sendable, Hashable {
    /// The object's ID.
    public let id: NSManagedObjectID
    /// Its place in the new state.
    public let index: Int
    /// The persistent names of the changed properties; nil if they are not known, as after a refresh.
    ///
    /// For unsaved changes these are all properties changed since the last save.
    public let properties: Set<String>?

    /// Makes an update; see the properties.
    public init(id: NSManagedObjectID, index: Int, properties: Set<String>?) {
      self.id = id
      self.index = index
      self.properties = properties
    }
  }

  /// The objects that are new in the result, in ascending order of their places. In the first difference: all objects.
  public let insertions: [Place]
  /// The objects that left the result, in descending order of their former places.
  public let removals: [Place]
  /// The objects that changed and moved, in ascending order of their new places.
  public let moves: [Move]
  /// The objects that changed and did not move, in ascending order of their places.
  public let updates: [Update]
  /// The number of objects in the new state.
  public let count: Int

  /// Brings a copy of the former state up to date.
  ///
  /// - Parameter ids: the IDs of the former state, in order.
  /// - Precondition: the array is the former state.
  public func apply(to ids: inout [NSManagedObjectID]) {
    for place in (removals.map(\.index) + moves.map(\.from)).sorted(by: >) { ids.remove(at: place) }
    let arriving = insertions + moves.map { Place(id: $0.id, index: $0.to) }
    for place in arriving.sorted(by: { $0.index < $1.index }) { ids.insert(place.id, at: place.index) }
  }
}

/// The changes of a fetched result, for as long as a task reads them.
///
/// See ``NSManagedObjectContext/changes(of:)``.
public struct FetchedResultChanges<Object: NSManagedObject>: AsyncSequence, Sendable {
  let context: NSManagedObjectContext
  let request: NSFetchRequest<Object>

  /// Reads the changes. Ends with its task, and stops following when it is freed.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let subscription: FetchSubscription<Object>

    /// Waits for the next difference.
    ///
    /// - Returns: nil when the task is cancelled.
    /// - Throws: ``ManagedObjectError``: the errors of the fetch. A later call tries again.
    public mutating func next() async throws -> FetchedResultDifference? { try await subscription.next() }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: FetchSubscription(context, request))
  }
}

/// One reader of a result's changes.
private final class FetchSubscription<Object: NSManagedObject>: @unchecked Sendable {
  // Guard: `tracker` belongs to the context's executor; the rest is immutable. One task at a time reads the wake-ups.
  private let context: NSManagedObjectContext
  private let request: NSFetchRequest<Object>
  private var tracker: FetchTracker?
  /// One element while there are changes that were not read.
  private let wakeUps: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

  init(_ context: NSManagedObjectContext, _ request: NSFetchRequest<Object>) {
    self.context = context
    self.request = request
    (wakeUps, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    signal.yield()
  }

  deinit { tracker?.end() }

  @concurrent func next() async throws -> FetchedResultDifference? {
    for await _ in wakeUps {
      let step = { try self.step() }
      do {
        if let difference = try await context.perform(step) { return difference }
      } catch {
        signal.yield()
        throw nsError(error)
      }
    }
    return nil
  }

  /// On the context's executor.
  private func step() throws -> FetchedResultDifference? {
    guard let tracker else { return try start() }
    guard let (update, slots) = try tracker.update() else { return nil }
    return try difference(update, slots, of: tracker)
  }

  private func start() throws -> FetchedResultDifference {
    guard request.resultType == .managedObjectResultType, request.sortDescriptors?.isEmpty == false else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "changes(of:) follows objects in an order. Give the request sort descriptors, and leave its resultType at "
          + ".managedObjectResultType.", entity: request.entityName)
    }
    let made = try FetchTracker(
      try request.plan(in: context), sectionKeyPath: nil, in: context, title: nil, keepsLimit: true,
      checking: { _ in })
    tracker = made
    made.onNews = { [signal] in signal.yield() }
    let objects = made.content.objects
    var update = FetchedUpdate()
    update.insertions = objects.enumerated().map {
      .init(object: $1, old: nil, new: IndexPath(row: $0, section: 0))
    }
    return try difference(update, [:], of: made)
  }

  private func difference(
    _ update: FetchedUpdate, _ slots: [ObjectIdentifier: PropertySet], of tracker: FetchTracker
  ) throws -> FetchedResultDifference {
    // Temporary IDs are valid in this context only, and the save replaces them.
    try context.obtainPermanentIDs(for: update.insertions.map(\.object))
    func names(_ object: NSManagedObject) -> Set<String>? {
      slots[ObjectIdentifier(object)].map { slots in Set(slots.map { object._binding.properties[$0].name }) }
    }
    return FetchedResultDifference(
      insertions: update.insertions.map { .init(id: $0.object.objectID, index: $0.new!.row) },
      removals: update.deletions.map { .init(id: $0.object.objectID, index: $0.old!.row) },
      moves: update.moves.map {
        .init(id: $0.object.objectID, from: $0.old!.row, to: $0.new!.row, properties: names($0.object))
      },
      updates: update.updates.map {
        .init(id: $0.object.objectID, index: $0.new!.row, properties: names($0.object))
      },
      count: tracker.content.count)
  }
}

extension NSManagedObjectContext {
  /// The result of a request, and its changes for as long as they are read.
  ///
  /// ```swift
  /// for try await difference in context.changes(of: request) {
  ///   difference.apply(to: &ids)
  /// }
  /// ```
  ///
  /// The first element has the whole result as insertions, the others what changed since the element before. Changes that come
  /// while the reader is busy are one element. Unsaved changes of the context count, as in a fetch.
  ///
  /// May be called and read on any isolation; the work is done on the context's. New objects get permanent IDs. The sequence ends
  /// when its task is cancelled. The context is kept alive while an iterator exists.
  ///
  /// - Parameter request: the request, with at least one sort descriptor. Must not be changed afterwards. Its limit applies to
  ///   the first element only, as for ``NSFetchedResultsController``.
  public nonisolated func changes<Object: NSManagedObject>(
    of request: NSFetchRequest<Object>
  ) -> FetchedResultChanges<Object> {
    FetchedResultChanges(context: self, request: request)
  }
}
