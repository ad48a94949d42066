/// How one list of an observed fetch became the next.
public struct CDEObservedFetchChange: Hashable, Sendable {
  /// An element that stands elsewhere among those that stayed.
  public struct Move: Hashable, Sendable {
    /// The element's place in the old list.
    public let from: Int
    /// The element's place in the new list.
    public let to: Int
  }

  /// Places in the new list of elements that came.
  public internal(set) var inserted: [Int] = []
  /// Places in the old list of elements that went.
  public internal(set) var removed: [Int] = []
  /// As few elements as possible whose moves, with the others in place, make the new order.
  public internal(set) var moved: [Move] = []
  /// Places in the new list of elements that stayed and whose properties changed, as far as the change said.
  public internal(set) var updated: [Int] = []

  /// Whether both lists are the same and no element changed.
  public var isEmpty: Bool { !isReordering && updated.isEmpty }

  var isReordering: Bool { !inserted.isEmpty || !removed.isEmpty || !moved.isEmpty }

  init(updated: [Int] = []) { self.updated = updated }

  /// Compares by identity. Costs by the lists' lengths, and a logarithm for lists that were reordered.
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

  /// Places of a longest ascending part of a list of distinct numbers.
  private static func longestRise(_ numbers: [Int]) -> Set<Int> {
    if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) { return Set(numbers.indices) }
    // For each length the place of the smallest number that ends such a part, and each place's predecessor.
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
