@_spi(CDE) import CDEStore
import Foundation
import Testing

/// The most members that can keep their numbers, by trying all members before each one.
private func mostKept(_ members: [OrderNumbers.Member]) -> Int {
  var lengths = [Int](repeating: 0, count: members.count)
  for (index, member) in members.enumerated() {
    guard let number = member.number, number > 0, number <= Int64.max / 2 else { continue }
    // As many numbers from 1 on as members before it.
    if number > Int64(index) { lengths[index] = 1 }
    for earlier in 0..<index where lengths[earlier] > 0 {
      let other = members[earlier]
      let isBeside = earlier == index - 1 && other.number == number && other.key < member.key
      if isBeside || number - other.number! >= Int64(index - earlier) {
        lengths[index] = max(lengths[index], lengths[earlier] + 1)
      }
    }
  }
  return lengths.max() ?? 0
}

@Suite("Numbers of an order")
struct OrderNumberTests {
  private func members(_ numbers: [Int64?]) -> [OrderNumbers.Member] {
    numbers.enumerated().map { OrderNumbers.Member(number: $1, key: Int64($0 + 1)) }
  }

  private func changed(_ numbers: [Int64?]) -> [Int64] {
    var result = numbers
    for change in OrderNumbers.changes(to: members(numbers)) { result[change.index] = change.number }
    return result.map { $0! }
  }

  @Test("A new order begins at 2048, and each further member is 1024 above the last one")
  func new() {
    #expect(changed([nil, nil, nil]) == [2048, 3072, 4096])
    #expect(changed([1, 2, 4, nil, nil]) == [1, 2, 4, 1028, 2052])
    #expect(changed([]) == [])
  }

  @Test("An insertion lies halfway between its neighbours, and moves others only where there is no room")
  func insertions() {
    #expect(changed([1024, nil, 2048]) == [1024, 1536, 2048])
    #expect(changed([nil, 2048]) == [1024, 2048])
    #expect(changed([1, 2, nil, 4]) == [1, 2, 3, 4])
    #expect(changed([1, nil, 2, 4]) == [1, 2, 3, 4])
    #expect(changed([nil, 1, 2, 40]) == [10, 20, 30, 40])
    // No number is left before 1.
    #expect(changed([3, 1, 2]) == [3, 1027, 2051])
    #expect(changed([13, 11, 12]) == [5, 11, 12])
  }

  @Test("Numbers below 1 and near the greatest integer are replaced")
  func extremes() {
    #expect(changed([0, -7, Int64.min]) == [2048, 3072, 4096])
    #expect(changed([5, Int64.max, Int64.max - 1]) == [5, 1029, 2053])
    #expect(changed([Int64.max, nil]) == [2048, 3072])
  }

  @Test("Random orders ascend afterwards, and as few numbers as possible are written", arguments: 0..<4)
  func random(_ run: Int) {
    let seed =
      ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64(run) &* 7_919 &+ 5
    print("OrderNumberTests, seed \(seed)")
    var random = Generator(state: seed)
    for _ in 0..<3_000 {
      let spread = [3, 12, 60, 100_000].randomElement(using: &random)!
      var numbers = (0..<Int.random(in: 0...24, using: &random)).map { _ in
        Int64.random(in: -1...Int64(spread), using: &random)
      }
      if Int.random(in: 0..<3, using: &random) > 0 { numbers.sort() }
      var given: [OrderNumbers.Member] = numbers.map {
        OrderNumbers.Member(number: $0, key: Int64.random(in: 1...40, using: &random))
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let place = Int.random(in: 0...given.count, using: &random)
        if Bool.random(using: &random) || given.isEmpty {
          given.insert(OrderNumbers.Member(number: nil, key: -1), at: place)
        } else {
          given.insert(given.remove(at: place % given.count), at: min(place, given.count))
        }
      }
      let changes = OrderNumbers.changes(to: given)
      var after = given
      for change in changes { after[change.index].number = change.number }
      let comment: Comment = "seed \(seed): \(given)"
      #expect(Set(changes.map(\.index)).count == changes.count, comment)
      #expect(given.count - changes.count == mostKept(given), comment)
      #expect(after.allSatisfy { $0.number! > 0 }, comment)
      let isWritten = Set(changes.map(\.index))
      for (index, (one, two)) in zip(after, after.dropFirst()).enumerated() {
        let isTie =
          one.number == two.number && one.key < two.key
          && !isWritten.contains(index) && !isWritten.contains(index + 1)
        #expect(one.number! < two.number! || isTie, comment)
      }
    }
  }

  @Test("A long reversed order and a long order of equal numbers take no quadratic time")
  func long() {
    let reversed = (0..<200_000).map { Int64(400_000 - $0) }
    #expect(OrderNumbers.changes(to: members(reversed)).count == 199_999)
    #expect(OrderNumbers.changes(to: members([Int64?](repeating: 7, count: 200_000) + [nil])).count == 1)
    #expect(OrderNumbers.changes(to: members([nil] + [Int64?](repeating: 7, count: 200_000))).count == 1)
  }
}

private struct Generator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
