internal import Foundation

/// The operators of texts.
///
/// All of them compare UTF-8 bytes after folding. Only `.localized` depends on the user's locale. Without options all bytes are compared.
/// With an option, composed and decomposed characters are equal, as in Foundation's comparisons.
@_spi(CDE) public enum TextComparison {
  /// The text without the differences that the options ignore: Unicode case folding and diacritic folding as in Foundation's
  /// `folding(options:locale:)` without a locale, in canonical composition. Equal results mean equal texts.
  ///
  /// Free without options and for ASCII text that does not change. Otherwise linear, with an allocation.
  public static func folded(_ text: String, _ options: TextOptions) -> String {
    if options.contains(.normalized) { return text }
    var compare: String.CompareOptions = []
    if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
    guard !compare.isEmpty else { return text }
    switch foldingNeed(text) {
    case .none: return text
    // Foundation's folding is slow. In plain ASCII only letters must be lowered.
    case .asciiCase: return compare.contains(.caseInsensitive) ? text.lowercased() : text
    case .unicode:
      let locale = options.contains(.localized) ? Locale.current : nil
      // Folding keeps the form of its input, and its result may be neither composed nor decomposed.
      return composed(composed(text).folding(options: compare, locale: locale))
    }
  }

  /// The text that `canonical:` computes: case and diacritic marks folded.
  public static func canonical(_ text: String) -> String {
    folded(text, [.caseInsensitive, .diacriticInsensitive])
  }

  /// Canonical composition. Free for text below U+0300, which is always composed.
  private static func composed(_ text: String) -> String {
    text.utf8.allSatisfy { $0 < 0xCC } ? text : text.precomposedStringWithCanonicalMapping
  }

  private enum FoldingNeed { case none, asciiCase, unicode }

  // ASCII folds to lower case under all options and locales except Turkish ones. The locale here is never
  // Turkish.
  private static func foldingNeed(_ text: String) -> FoldingNeed {
    var need = FoldingNeed.none
    for byte in text.utf8 {
      if byte >= 0x80 { return .unicode }
      if byte >= 0x41, byte <= 0x5A { need = .asciiCase }
    }
    return need
  }

  /// Whether the texts are equal, byte by byte after folding.
  public static func equal(_ left: String, _ right: String, _ options: TextOptions) -> Bool {
    if options.contains(.localized) { return order(left, right, options) == 0 }
    return folded(left, options).utf8.elementsEqual(folded(right, options).utf8)
  }

  /// Negative, zero or positive if `left` comes before, with or after `right`.
  public static func order(_ left: String, _ right: String, _ options: TextOptions) -> Int {
    let (left, right) = (folded(left, options), folded(right, options))
    if options.contains(.localizedStandard) { return left.localizedStandardCompare(right).rawValue }
    if options.contains(.localized) { return left.localizedCompare(right).rawValue }
    return byteOrder(left.utf8, right.utf8)
  }

  /// Negative, zero or positive if bytes come before, with or after others.
  public static func byteOrder(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Int {
    if left.elementsEqual(right) { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }
}
