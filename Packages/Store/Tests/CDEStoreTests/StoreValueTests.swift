import CDEStore
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
