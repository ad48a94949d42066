/// The differences between two consecutive lists of an observed fetch.
public struct CDEObservedFetchChange: Hashable, Sendable {
  /// An element of both lists that has another position among the elements of both.
  public struct Move: Hashable, Sendable {
    /// The element's index in the old list.
    public let from: Int
    /// The element's index in the new list.
    public let to: Int
  }

  /// Indices in the new list of the elements that the old list lacks, ascending.
  public internal(set) var inserted: [Int] = []
  /// Indices in the old list of the elements that the new list lacks, ascending.
  public internal(set) var removed: [Int] = []
  /// The smallest set of moves that makes the new order. All other elements of both lists keep their order.
  public internal(set) var moved: [Move] = []
  /// Indices in the new list of the elements of both lists whose properties changed, where the change names them.
  public internal(set) var updated: [Int] = []

  /// Whether both lists are the same and no element changed.
  public var isEmpty: Bool { !isReordering && updated.isEmpty }

  var isReordering: Bool { !inserted.isEmpty || !removed.isEmpty || !moved.isEmpty }

  init(updated: [Int] = []) { self.updated = updated }

  /// Compares by identity. Takes time proportional to the lengths of the lists, times a logarithm if they were reordered.
  init<Element: AnyObject>(from old: [Element], to new: [Element]) {
    var oldPlaces: [ObjectIdentifier: Int] = [:]
    oldPlaces.reserveCapacity(old.count)
    for (index, object) in old.enumerated() { oldPlaces[ObjectIdentifier(object)] = index }
    var stayed = Set<Int>()
    var kept: [Move] = []
    for (index, object) in new.enumerated() {
      if let place = oldPlaces[ObjectIdentifier(object)] {
        stayed.insert(place)
        kept.append(Move(from: place, to: index))
      } else {
        inserted.append(index)
      }
    }
    removed = old.indices.filter { !stayed.contains($0) }
    let resting = Self.longestRise(kept.map(\.from))
    moved = kept.indices.filter { !resting.contains($0) }.map { kept[$0] }
  }

  /// The indices of a longest ascending subsequence of distinct numbers.
  private static func longestRise(_ numbers: [Int]) -> Set<Int> {
    if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) { return Set(numbers.indices) }
    // For each length the index of the smallest number that ends such a subsequence, and each index's predecessor.
    var ends: [Int] = []
    var before = [Int](repeating: -1, count: numbers.count)
    for place in numbers.indices {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < numbers[place] { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[place] = ends[low - 1] }
      if low == ends.count { ends.append(place) } else { ends[low] = place }
    }
    var result: Set<Int> = []
    var place = ends.last ?? -1
    while place >= 0 {
      result.insert(place)
      place = before[place]
    }
    return result
  }
}
