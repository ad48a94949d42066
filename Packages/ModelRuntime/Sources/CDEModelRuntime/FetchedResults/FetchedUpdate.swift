internal import CDEStore
internal import Foundation

/// The difference between two states of a fetched result.
///
/// Places of deletions, and places that objects leave, belong to the old state; all others to the new one.
struct FetchedUpdate {
  struct Object {
    var object: NSManagedObject
    /// The place in the old state; nil for a new object.
    var old: IndexPath?
    /// The place in the new state; nil for an object that left.
    var new: IndexPath?
  }

  var deletedSections: [(section: FetchedSection, index: Int)] = []
  var insertedSections: [(section: FetchedSection, index: Int)] = []
  /// In descending order of their old places.
  var deletions: [Object] = []
  /// In ascending order of their new places.
  var insertions: [Object] = []
  /// In ascending order of their new places.
  var moves: [Object] = []
  /// In ascending order of their new places.
  var updates: [Object] = []
}

/// The elements of the longest ascending part of a sequence without repetitions.
///
/// Objects that keep their order among each other need not move. This finds as many of them as possible.
func longestAscendingPart(of sequence: [Int]) -> Set<Int> {
  /// For each length, the index of the smallest element that ends a part of this length.
  var ends: [Int] = []
  var former: [Int] = []
  for (index, element) in sequence.enumerated() {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if sequence[ends[middle]] < element { low = middle + 1 } else { high = middle }
    }
    former.append(low == 0 ? -1 : ends[low - 1])
    if low == ends.count { ends.append(index) } else { ends[low] = index }
  }
  var result: Set<Int> = []
  var index = ends.last ?? -1
  while index >= 0 {
    result.insert(sequence[index])
    index = former[index]
  }
  return result
}
