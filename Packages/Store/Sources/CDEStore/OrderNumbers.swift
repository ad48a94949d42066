/// The numbers that give the members of an ordered relationship their order.
///
/// Numbers are above zero and ascend. Members with the same number are ordered by their keys, because two writers may append at
/// the same time. New orders have Core Data's numbers: 2048 for the first member, and 1024 more for each further one.
@_spi(CDE) public enum OrderNumbers {
  /// A member of the order.
  public struct Member: Sendable {
    /// Its stored number; nil if it has none in this order.
    public var number: Int64?
    /// The key of its row, which counts for members with a number.
    public var key: Int64

    /// Makes a member from its parts.
    public init(number: Int64?, key: Int64) {
      self.number = number
      self.key = key
    }
  }

  /// A new number for a member.
  public struct Change: Hashable, Sendable {
    /// The place of the member among those given.
    public var index: Int
    /// Its number.
    public var number: Int64
  }

  private static let step: Int64 = 1024
  /// A member with a higher number gets a new one, so that there is always room for further members.
  private static let limit = Int64.max / 2

  /// The numbers to write, so that members have the order in which they are given.
  ///
  /// As few members as possible get new numbers: those between two others get numbers between theirs, and where there is no room,
  /// the longest series that can keep its numbers does. Costs time for n members that keep their order, otherwise for n log n.
  public static func changes(to members: [Member]) -> [Change] {
    let kept = kept(members)
    if kept.count == members.count { return [] }
    var changes: [Change] = []
    changes.reserveCapacity(members.count - kept.count)
    var (next, last) = (0, Int64(0))
    for index in kept {
      let number = members[index].number!
      let distance = (number - last) / Int64(index - next + 1)
      for index in next..<index {
        last += distance
        changes.append(Change(index: index, number: last))
      }
      (next, last) = (index + 1, number)
    }
    if kept.isEmpty { last = step }
    for index in next..<members.count {
      last += step
      changes.append(Change(index: index, number: last))
    }
    return changes
  }

  /// The places of the members that keep their numbers.
  private static func kept(_ members: [Member]) -> [Int] {
    var count = 0
    while count < members.count, let number = members[count].number, number > 0, number <= limit,
      count == 0 || isBefore(members[count - 1], members[count])
    {
      count += 1
    }
    if members[count...].allSatisfy({ $0.number == nil }) { return Array(0..<count) }
    return longestSeries(members)
  }

  private static func isBefore(_ left: Member, _ right: Member) -> Bool {
    left.number! < right.number! || (left.number == right.number && left.key < right.key)
  }

  /// A longest series of members whose numbers ascend and leave room for the members between them.
  ///
  /// There is room if two numbers differ at least as much as the places, so the number minus the place must not fall. Members with
  /// the same number have no room between them, and can both keep it only side by side.
  private static func longestSeries(_ members: [Member]) -> [Int] {
    let rooms = members.indices.map { index -> Int64? in
      guard let number = members[index].number, number > 0, number <= limit else { return nil }
      return number - Int64(index)
    }
    let ranks = Array(Set(rooms.compactMap { $0 })).sorted()
    // A tree of maxima (Fenwick): for each rank a member that ends a longest series among those of lower and equal ranks.
    var ends = [Int](repeating: -1, count: ranks.count + 1)
    var lengths = [Int](repeating: 0, count: members.count)
    var previous = [Int](repeating: -1, count: members.count)
    var longest = -1
    for (index, room) in rooms.enumerated() {
      guard let room else { continue }
      let rank = ranks.partitioningIndex { $0 >= room } + 1
      var best = -1
      func consider(_ candidate: Int) {
        if candidate >= 0, best < 0 || lengths[candidate] > lengths[best] { best = candidate }
      }
      var node = rank
      while node > 0 {
        consider(ends[node])
        node &= node - 1
      }
      if index > 0, lengths[index - 1] > 0, isBefore(members[index - 1], members[index]) {
        consider(index - 1)
      }
      // The first number of a series leaves room for the members before it.
      guard best >= 0 || room > 0 else { continue }
      lengths[index] = best < 0 ? 1 : lengths[best] + 1
      previous[index] = best
      if longest < 0 || lengths[index] > lengths[longest] { longest = index }
      node = rank
      while node < ends.count {
        if ends[node] < 0 || lengths[index] > lengths[ends[node]] { ends[node] = index }
        node += node & -node
      }
    }
    var result: [Int] = []
    while longest >= 0 {
      result.append(longest)
      longest = previous[longest]
    }
    return result.reversed()
  }
}

extension [Int64] {
  /// The first index whose element, and all elements after it, fulfil a condition.
  fileprivate func partitioningIndex(_ condition: (Int64) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
