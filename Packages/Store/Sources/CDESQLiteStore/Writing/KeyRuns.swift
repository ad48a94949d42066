/// Distinct keys in ascending order. Consecutive keys are joined.
struct KeyRuns {
  let ranges: [ClosedRange<Int64>]

  /// From this length on, counting the rows of a run costs less than a look-up of each row.
  static let worthCounting = 4

  init(_ keys: [Int64]) {
    var ranges: [ClosedRange<Int64>] = []
    for key in Self.ascending(keys) {
      if let last = ranges.last {
        if key == last.upperBound { continue }
        if key == last.upperBound + 1 {
          ranges[ranges.count - 1] = last.lowerBound...key
          continue
        }
      }
      ranges.append(key...key)
    }
    self.ranges = ranges
  }

  /// The keys in ascending order. Takes linear time if they are dense, as those of a table mostly are.
  private static func ascending(_ keys: [Int64]) -> [Int64] {
    if zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }) { return keys }
    guard let low = keys.min(), let high = keys.max() else { return [] }
    let (span, isTooWide) = high.subtractingReportingOverflow(low)
    // At most one word of 64 bits for each key.
    if isTooWide || span / 64 >= Int64(keys.count) { return keys.sorted() }
    var bits = [UInt64](repeating: 0, count: Int(span / 64) + 1)
    for key in keys {
      let place = Int(key &- low)
      bits[place >> 6] |= 1 << UInt64(place & 63)
    }
    var ordered: [Int64] = []
    ordered.reserveCapacity(keys.count)
    for (index, word) in bits.enumerated() {
      var rest = word
      while rest != 0 {
        ordered.append(low &+ Int64(index * 64 + rest.trailingZeroBitCount))
        rest &= rest &- 1
      }
    }
    return ordered
  }
}
