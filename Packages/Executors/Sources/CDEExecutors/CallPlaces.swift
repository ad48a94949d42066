/// Tells calls of the library that come from a new place in the program from those that were seen before.
@_spi(CDE) public final class CallPlaces: Sendable {
  private struct Known {
    var ways: Set<Int> = []
    var places: Set<String> = []
    var asked = 0
  }

  private let known = Lock(Known())
  private let limit: Int

  /// - Parameter limit: for how many calls the stack is read. Later calls do not count as new.
  public init(limit: Int = 500) { self.limit = limit }

  /// Whether this call is the first one from its place in the program, and the place, as far as debug information tells.
  ///
  /// - Parameter topic: what the call is about. Calls about other things are other calls.
  public func note(_ topic: String) -> (isNew: Bool, place: String?) {
    let isOver = known.withLock { known in
      known.asked += 1
      return known.asked > limit
    }
    if isOver { return (false, nil) }
    let way = Self.way(topic)
    guard known.withLock({ $0.ways.insert(way).inserted }) else { return (false, nil) }
    guard let place = CallerPlace.find() else { return (true, nil) }
    // Several ways may lead to one line.
    return (known.withLock { $0.places.insert("\(place) \(topic)").inserted }, place)
  }

  private static func way(_ topic: String) -> Int {
    var hasher = Hasher()
    hasher.combine(topic)
    hasher.combine(CallStack.captured().way)
    return hasher.finalize()
  }
}
