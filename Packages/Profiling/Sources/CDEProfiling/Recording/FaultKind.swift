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
  let count = Atomic<Int>(0)
  /// How many of them belong to a run.
  let repeated = Atomic<Int>(0)
  private let details = Lock(Details())

  struct Details {
    /// How many of the events the places explain.
    var explained = 0
    /// The place of the last look.
    var last: CallStack?
    var places: [Int: CountedPlace] = [:]
    var remedy: FoundRemedy?
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

  /// Whether the place of an event is looked at.
  static func looksAt(_ number: Int) -> Bool { number <= 32 || number & 511 == 0 }

  /// Attributes all events since the last look to the current place.
  func note(_ number: Int, at stack: CallStack) {
    details.withLock { details in
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
