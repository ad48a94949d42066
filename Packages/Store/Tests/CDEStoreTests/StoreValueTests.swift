@_spi(CDE) import CDEStore
import Foundation
import Testing

@Suite("Values of queries")
struct StoreValueTests {
  @Test("Two spellings of a letter are two values, also as keys")
  func spellings() {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    #expect(composed == decomposed)
    #expect(StoreValue.text(composed) != .text(decomposed))
    #expect(Set([StoreValue.text(composed), .text(decomposed), .text(composed)]).count == 2)
    #expect(StoreExpression.value(.text(composed)) != .value(.text(decomposed)))
  }

  @Test("A whole number compares as an integer, and no other value changes")
  func comparable() {
    #expect(StoreValue.real(1).comparable == .integer(1) && StoreValue.real(-0.0).comparable == .integer(0))
    let others: [StoreValue] = [
      .real(1.5), .real(.infinity), .real(1e30), .integer(1), .text("1"), .blob(Data([1])), .null,
    ]
    #expect(others.map(\.comparable) == others)
  }

  @Test("Values of the same kind and content are equal, of other kinds they are not")
  func kinds() {
    let values: [StoreValue] = [
      .null, .integer(1), .integer(2), .real(1), .real(2), .text("1"), .text(""), .blob(Data()),
      .blob(Data([1])),
      .reference(entity: 1, key: 1), .reference(entity: 1, key: 2), .reference(entity: 2, key: 1),
    ]
    for (place, left) in values.enumerated() {
      for (other, right) in values.enumerated() {
        #expect((left == right) == (place == other), "\(left) \(right)")
      }
    }
    #expect(Set(values + values).count == values.count)
  }
}
