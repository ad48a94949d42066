/// The differences that a comparison of texts ignores, and the order that it follows.
public struct TextOptions: OptionSet, Hashable, Sendable {
  /// The options as bits. The first four are those of Core Data's comparison predicates.
  public let rawValue: UInt8

  /// Makes options from bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `[c]` in format strings: letters that differ only in case are equal.
  public static let caseInsensitive = TextOptions(rawValue: 1)
  /// `[d]` in format strings: letters that differ only in diacritic marks are equal.
  public static let diacriticInsensitive = TextOptions(rawValue: 2)
  /// `[n]` in format strings: the stored text is compared byte by byte. As in Core Data it replaces `[c]` and `[d]`.
  public static let normalized = TextOptions(rawValue: 4)
  /// `[l]` in format strings: texts compare as Foundation's `localizedCompare` does. Stores sort so, and refuse conditions with it.
  public static let localized = TextOptions(rawValue: 8)
  /// Sorts as Foundation's `localizedStandardCompare` does. For sort orders only.
  public static let localizedStandard = TextOptions(rawValue: 32)
}
