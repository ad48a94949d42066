internal import Foundation

/// The text operations behind predicate operators, for the evaluator here and for a store's SQL functions,
/// so that both give the same answers.
///
/// All of them compare UTF-8 bytes after folding; none depends on the user's locale except under
/// `.localized`. Without options every byte counts; with one, composed and decomposed characters are the same, as in
/// Foundation's comparisons.
@_spi(CDE) public enum PredicateText {
  /// The text with the differences removed that the options ignore: Unicode case folding and diacritic
  /// folding as Foundation's `folding(options:locale:)` does them without a locale, in canonical composition.
  ///
  /// Cost: nothing without options and for ASCII text that has nothing to fold; else linear with an
  /// allocation.
  public static func fold(_ text: String, _ options: PredicateTextOptions) -> String {
    if options.contains(.normalized) { return text }
    var compare: String.CompareOptions = []
    if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
    guard !compare.isEmpty else { return text }
    switch foldingNeed(text) {
    case .none: return text
    case .asciiCase: return compare.contains(.caseInsensitive) ? text.lowercased() : text
    case .unicode:
      let locale = options.contains(.localized) ? Locale.current : nil
      // Folding keeps the form that it finds, and may give a form that is neither.
      return composed(composed(text).folding(options: compare, locale: locale))
    }
  }

  /// Canonical composition, for nothing where there is nothing to compose: all below U+0300 is composed.
  private static func composed(_ text: String) -> String {
    text.utf8.allSatisfy { $0 < 0xCC } ? text : text.precomposedStringWithCanonicalMapping
  }

  private enum FoldingNeed { case none, asciiCase, unicode }

  // ASCII folds to its lower case under every option and every locale but Turkish ones, which nil never is.
  private static func foldingNeed(_ text: String) -> FoldingNeed {
    var need = FoldingNeed.none
    for byte in text.utf8 {
      if byte >= 0x80 { return .unicode }
      if byte >= 0x41, byte <= 0x5A { need = .asciiCase }
    }
    return need
  }

  /// Whether the texts are the same, byte by byte after folding.
  public static func equal(_ left: String, _ right: String, _ options: PredicateTextOptions) -> Bool {
    if options.contains(.localized) { return order(left, right, options) == 0 }
    return fold(left, options).utf8.elementsEqual(fold(right, options).utf8)
  }

  /// Negative, zero or positive as `left` comes before, with or after `right`.
  public static func order(_ left: String, _ right: String, _ options: PredicateTextOptions) -> Int {
    let (left, right) = (fold(left, options), fold(right, options))
    if options.contains(.localized) {
      return left.compare(right, options: [], range: nil, locale: Locale.current).rawValue
    }
    if left.utf8.elementsEqual(right.utf8) { return 0 }
    return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
  }

  /// Whether the text begins with the prefix; every text begins with the empty one.
  public static func begins(_ text: String, with prefix: String, _ options: PredicateTextOptions) -> Bool {
    fold(text, options).utf8.starts(with: fold(prefix, options).utf8)
  }

  /// Whether the text ends with the suffix; every text ends with the empty one.
  public static func ends(_ text: String, with suffix: String, _ options: PredicateTextOptions) -> Bool {
    fold(text, options).utf8.reversed().starts(with: fold(suffix, options).utf8.reversed())
  }

  /// Whether the text contains the part; every text contains the empty one.
  public static func contains(_ text: String, _ part: String, _ options: PredicateTextOptions) -> Bool {
    var text = fold(text, options)
    var part = fold(part, options)
    return text.withUTF8 { bytes in part.withUTF8 { search(bytes, $0) } }
  }

  private static func search(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = part.first else { return true }
    guard text.count >= part.count else { return false }
    for start in 0...(text.count - part.count) where text[start] == first {
      var offset = 1
      while offset < part.count, text[start + offset] == part[offset] { offset += 1 }
      if offset == part.count { return true }
    }
    return false
  }
}
