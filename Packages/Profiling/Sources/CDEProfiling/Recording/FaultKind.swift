@_spi(CDE) internal import CDEExecutors
internal import Synchronization

/// What fires again and again: the objects of an entity, a relationship of an entity, or fetches of an entity.
@_spi(CDE) public struct ActivityKey: Sendable, Hashable {
  /// The entity's description in the runtime.
  let entity: ObjectIdentifier
  /// The relationship's place in its entity, or one of the values below.
  let slot: Int

  private static let objects = -1
  private static let fetches = -2

  /// Single objects of an entity.
  public static func objects(of entity: AnyObject) -> ActivityKey {
    ActivityKey(entity: ObjectIdentifier(entity), slot: objects)
  }

  /// The members of a relationship, for one owner.
  public static func members(of entity: AnyObject, slot: Int) -> ActivityKey {
    ActivityKey(entity: ObjectIdentifier(entity), slot: slot)
  }

  /// Fetches of an entity.
  public static func fetches(of entity: AnyObject) -> ActivityKey {
    ActivityKey(entity: ObjectIdentifier(entity), slot: fetches)
  }

  var isFetch: Bool { slot == Self.fetches }
  var isRelationship: Bool { slot >= 0 }
}

/// All events of one key, from all contexts.
final class FaultKind: Sendable {
  let key: ActivityKey
  let entity: String
  let relationship: String?
  private let details = Lock(Details())

  struct Details {
    /// The counts of contexts that note events, and the sums of those that no longer do.
    var counts: [EventCount] = []
    var ended = 0
    var endedRepeated = 0
    /// How many of the events the places explain.
    var explained = 0
    /// The place of the last look.
    var last: CallStack?
    var places: [Int: CountedPlace] = [:]
    var remedy: FoundRemedy?

    var count: Int { counts.reduce(ended) { $0 + $1.count } }
    /// How many of them belong to a run.
    var repeated: Int { counts.reduce(endedRepeated) { $0 + $1.repeated } }
  }

  struct CountedPlace {
    let stack: CallStack
    var count: Int
  }

  init(_ key: ActivityKey, entity: String, relationship: String?) {
    self.key = key
    self.entity = entity
    self.relationship = relationship
  }

  /// Begins to count the events of a context.
  ///
  /// - Parameter isReported: whether each event goes to counters.
  func makeCount(isReported: Bool) -> EventCount {
    details.withLock { details in
      let count = EventCount(self, before: details.count, isReported: isReported)
      details.counts.append(count)
      return count
    }
  }

  /// Keeps the sums of a context that notes no more events.
  func end(_ count: EventCount) {
    details.withLock { details in
      guard let index = details.counts.firstIndex(where: { $0 === count }) else { return }
      details.counts.swapAt(index, details.counts.count - 1)
      details.counts.removeLast()
      details.ended += count.count
      details.endedRepeated += count.repeated
    }
  }

  /// Whether the place of an event is looked at.
  @inline(__always)
  static func looksAt(_ number: Int) -> Bool { number <= 32 || number & 511 == 0 }

  /// Attributes all events since the last look to the current place.
  func note(at stack: CallStack) {
    details.withLock { details in
      let number = details.count
      let amount = max(number - details.explained, 0)
      details.explained = max(number, details.explained)
      details.last = stack
      details.places[stack.way, default: CountedPlace(stack: stack, count: 0)].count += amount
    }
  }

  /// The first remedy stays: later ones are of the same kind.
  func note(_ remedy: FoundRemedy) { details.withLock { $0.remedy = $0.remedy ?? remedy } }

  var hasRemedy: Bool { details.withLock { $0.remedy != nil } }

  var noted: Details { details.withLock { $0 } }
}

/// What would have read the rows of a run at once.
@_spi(CDE) public struct FoundRemedy: Sendable {
  /// The entity of the fetch; nil if no fetch made the objects.
  let entity: String?
  /// What the fetch should prefetch: one key path, or several of which one leads to the objects.
  let keyPaths: [String]
  /// Where the fetch is.
  let fetch: CallStack?

  /// - Parameters:
  ///   - fetch: the fetch before, of which the objects are or to whose objects they are related.
  ///   - keyPaths: from the fetch's entity.
  public init(_ fetch: RecentFetch?, keyPaths: [String]) {
    entity = fetch?.entity
    self.fetch = fetch?.stack
    self.keyPaths = keyPaths
  }
}

/// A fetch of several objects.
@_spi(CDE) public struct RecentFetch: Sendable {
  /// The name of the fetch's entity.
  public let entity: String
  let stack: CallStack?
}
