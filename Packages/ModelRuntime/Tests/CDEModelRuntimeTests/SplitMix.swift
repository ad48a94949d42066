/// Random numbers that a seed repeats.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Leaves steps of a random program out while it still fails: halves at first, single steps at the end.
func shortened(_ steps: [UInt64], while fails: ([UInt64]) throws -> Bool) rethrows -> [UInt64] {
  var steps = steps
  var size = steps.count / 2
  while size > 0 {
    var start = 0
    while start < steps.count {
      var fewer = steps
      fewer.removeSubrange(start..<min(start + size, steps.count))
      if try fails(fewer) { steps = fewer } else { start += size }
    }
    size /= 2
  }
  return steps
}
