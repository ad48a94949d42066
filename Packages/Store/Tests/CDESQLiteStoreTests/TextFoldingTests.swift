@_spi(CDE) import CDEOperators
@_spi(CDE) import CDESQL
import CDEStore
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("Text without regard to case or diacritics")
struct TextFoldingTests {
  static let texts = [
    "", "e", "E", "é", "É", "e\u{301}", "E\u{301}", "ê", "Zürich", "zu\u{308}rich", "ZÜRICH", "ǰ", "J\u{30C}",
    "j\u{30C}", "\u{212B}", "Å", "a\u{30A}", "\u{2126}", "Ω", "ω", "\u{D55C}", "\u{1112}\u{1161}\u{11AB}",
    "q\u{307}\u{323}", "q\u{323}\u{307}", "\u{F900}", "\u{8C48}", "ấ", "a\u{302}\u{301}", "â\u{301}", "日本",
    "I", "i",
  ]

  @Test(
    "With an option, texts are equal as Foundation compares them",
    arguments: [
      StoreFilter.TextOptions.caseInsensitive, .diacriticInsensitive,
      [.caseInsensitive, .diacriticInsensitive],
    ])
  func foundation(options: StoreFilter.TextOptions) {
    var compare: String.CompareOptions = []
    if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
    for left in Self.texts {
      for right in Self.texts {
        let expected = left.compare(right, options: compare) == .orderedSame
        let found = TextComparison.folded(left, options).utf8.elementsEqual(
          TextComparison.folded(right, options).utf8)
        #expect(found == expected, "\(left.unicodeScalars) and \(right.unicodeScalars)")
      }
    }
  }

  @Test("Without options every byte counts")
  func bytes() {
    #expect(TextComparison.folded("e\u{301}", []).utf8.elementsEqual("e\u{301}".utf8))
  }
}
