import CDEStore
import Testing

@Suite("Property sets")
struct PropertySetTests {
  @Test(
    "They behave as sets of integers, below and above 64 slots",
    arguments: [UInt64.random(in: 0 ... .max), 1])
  func model(seed: UInt64) {
    var state = seed
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<500 {
      var sets = [PropertySet(), PropertySet()]
      var models = [Set<Int>(), Set<Int>()]
      let bound = [10, 64, 65, 300][next(4)]
      for _ in 0..<next(30) {
        let (which, slot) = (next(2), next(bound))
        if next(3) == 0 {
          sets[which].remove(SlotIndex(slot))
          models[which].remove(slot)
        } else {
          sets[which].insert(SlotIndex(slot))
          models[which].insert(slot)
        }
      }
      let (left, right) = (sets[0], sets[1])
      let (leftModel, rightModel) = (models[0], models[1])
      #expect(left.map(\.rawValue) == leftModel.sorted(), "seed \(seed)")
      #expect(left.count == leftModel.count)
      #expect(left.isEmpty == leftModel.isEmpty)
      #expect(left.union(right).map(\.rawValue) == leftModel.union(rightModel).sorted())
      #expect(left.intersection(right).map(\.rawValue) == leftModel.intersection(rightModel).sorted())
      #expect(left.subtracting(right).map(\.rawValue) == leftModel.subtracting(rightModel).sorted())
      #expect(left.intersects(right) == !leftModel.isDisjoint(with: rightModel), "seed \(seed)")
      #expect(left.isSubset(of: right) == leftModel.isSubset(of: rightModel))
      #expect((left == right) == (leftModel == rightModel))
      #expect(left.union(right).subtracting(right) == left.subtracting(right))
    }
  }
}
