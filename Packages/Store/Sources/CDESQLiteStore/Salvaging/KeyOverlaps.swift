/// Rows that claim a key among the keys of another page.
///
/// A damaged byte in a key can leave a page that fits together. In a whole tree no two leaves have keys in one range, so an
/// overlap shows the damage. Damage is rare, so of two pages the fewer rows in the overlap count as damaged.
struct KeyOverlaps {
  /// The keys in doubt, by page.
  private(set) var doubtful: [Int: Set<Int64>] = [:]

  /// - Parameters:
  ///   - leaves: the first and last keys of a table's whole leaves.
  ///   - keys: reads the keys of a leaf, in ascending order.
  init(_ leaves: [(page: Int, keys: ClosedRange<Int64>)], keys: (Int) -> [Int64]) {
    var former: (page: Int, keys: ClosedRange<Int64>)?
    for leaf in leaves.sorted(by: { ($0.keys.lowerBound, $0.page) < ($1.keys.lowerBound, $1.page) }) {
      guard let last = former, last.keys.upperBound >= leaf.keys.lowerBound else {
        former = leaf
        continue
      }
      let (lower, upper) = (keys(last.page), keys(leaf.page))
      let high = lower.filter { leaf.keys.lowerBound <= $0 && $0 <= last.keys.upperBound }
      let low = upper.filter { $0 <= last.keys.upperBound }
      if high.count <= low.count { doubtful[last.page, default: []].formUnion(high) }
      if low.count <= high.count { doubtful[leaf.page, default: []].formUnion(low) }
      // What follows is compared with the page that reaches further without its rows in doubt.
      let lowerEnd = high.count <= low.count ? lower.last { $0 < leaf.keys.lowerBound } : last.keys.upperBound
      let upperEnd = low.count <= high.count ? upper.last { $0 > last.keys.upperBound } : leaf.keys.upperBound
      let ends = [(last, lowerEnd), (leaf, upperEnd)].compactMap { page, end in
        end.map { (page: page.page, keys: min(page.keys.lowerBound, $0)...$0) }
      }
      former = ends.max { $0.keys.upperBound < $1.keys.upperBound } ?? leaf
    }
  }
}
