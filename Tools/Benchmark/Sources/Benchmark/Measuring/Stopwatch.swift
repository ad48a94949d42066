/// Runs a body and says how long it took, in nanoseconds.
@inline(__always)
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  countingBegins()
  let start = clock.now
  try body()
  let time = clock.now - start
  countingEnds()
  return time.nanoseconds
}

/// Awaits a body and says how long it took, in nanoseconds.
func nanoseconds(awaiting body: () async throws -> Void) async rethrows -> Double {
  let clock = ContinuousClock()
  countingBegins()
  let start = clock.now
  try await body()
  let time = clock.now - start
  countingEnds()
  return time.nanoseconds
}

extension Duration {
  var nanoseconds: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
  }
}

/// Keeps the optimiser from leaving out work whose result is not used.
@inline(never) @_optimize(none)
func consume<Value>(_ value: Value) {}

extension Collection where Element == Double {
  /// The middle value; `nan` for none.
  var median: Double {
    if isEmpty { return .nan }
    let sorted = self.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The largest less the smallest value, as a part of the middle one; `nan` for none.
  var spread: Double {
    guard let least = self.min(), let most = self.max() else { return .nan }
    return (most - least) / median
  }
}
