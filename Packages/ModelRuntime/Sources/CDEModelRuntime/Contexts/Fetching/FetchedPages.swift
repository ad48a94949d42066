internal import CDEStore

/// The last results of fetches with a batch size: which objects are read together.
///
/// A result has keys and no objects, so it keeps none alive.
struct FetchedPages {
  private struct Result {
    let root: RootIndex
    let batchSize: Int
    /// The keys in the order of the result.
    let keys: [Int64]
    /// The places of the keys, in the order of the keys.
    let places: [Int32]
  }

  /// Lists are scrolled one or two at a time, and each remembered result costs 12 bytes for each object.
  private static let limit = 4

  private var results: [Result] = []

  var isEmpty: Bool { results.isEmpty }

  mutating func add(_ keys: [Int64], root: RootIndex, batchSize: Int) {
    let places = keys.indices.map { Int32(truncatingIfNeeded: $0) }.sorted { keys[Int($0)] < keys[Int($1)] }
    if results.count == Self.limit { results.removeFirst() }
    results.append(Result(root: root, batchSize: batchSize, keys: keys, places: places))
  }

  /// The keys of the batch that an object is in, from the last result that has it; empty if none has.
  func batch(root: RootIndex, key: Int64) -> ArraySlice<Int64> {
    for result in results.reversed() where result.root == root {
      var (low, high) = (0, result.places.count)
      while low < high {
        let middle = (low + high) / 2
        if result.keys[Int(result.places[middle])] < key { low = middle + 1 } else { high = middle }
      }
      guard low < result.places.count, result.keys[Int(result.places[low])] == key else { continue }
      let start = Int(result.places[low]) / result.batchSize * result.batchSize
      return result.keys[start...].prefix(result.batchSize)
    }
    return []
  }
}
