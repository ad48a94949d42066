import CDEStore
import Testing

@Suite("Lists of keys")
struct KeyListTests {
  @Test(
    "Keys come out in their order, in pieces of any size",
    arguments: [0, 1, 8_191, 8_192, 8_193, 40_000], [1, 100, 8_192, 100_000])
  func order(count: Int, piece: Int) {
    // Runs, pieces of runs, and others.
    let keys = (0..<Int64(count)).map { (number: Int64) -> Int64 in
      if number < 10_000 { return number + 1 }
      return number % 3 == 0 ? number * 7 : number
    }
    var list = KeyList()
    for key in keys { list.append(key) }
    #expect(list.count == count)
    var taken: [Int64] = []
    while list.count > 0 {
      let next = list.takeFirst(piece)
      #expect(next.count == min(piece, count - taken.count))
      taken += next
    }
    #expect(taken == keys)
    #expect(list.takeFirst(piece).isEmpty)
  }

  @Test("Keys may be added while others are taken")
  func growing() {
    var list = KeyList()
    var (added, taken) = (Int64(0), Int64(0))
    for round in 0..<100 {
      for _ in 0..<(round % 7) * 300 {
        list.append(added)
        added += 1
      }
      for key in list.takeFirst(round % 5 * 250) {
        #expect(key == taken)
        taken += 1
      }
    }
    #expect(list.count == Int(added - taken))
    #expect(list.takeFirst(.max) == Array(taken..<added))
  }
}
