internal import Foundation

/// An operator that compares a text with a second one, the part or the pattern.
///
/// The evaluators of conditions in memory and the functions of SQLite call it, so an operator has one meaning. A database that can't
/// express an operator leaves it to them. The raw value is the operator in a format string.
public enum TextOperator: String, Hashable, Sendable, CaseIterable {
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case contains = "CONTAINS"
  /// `*` matches any sequence of characters and `?` matches one. After a backslash the next character is literal.
  case like = "LIKE"
  /// The whole text matches the regular expression.
  case matches = "MATCHES"
}

@_spi(CDE) extension TextOperator {
  /// All operators, in a constant order, without an allocation.
  public static let all = allCases

  /// Whether the second text is a pattern, which ``pattern(_:_:isFolded:)`` prepares. Otherwise ``holds(_:_:)`` compares bytes.
  public var hasPattern: Bool {
    switch self {
    case .like, .matches: true
    case .beginsWith, .endsWith, .contains: false
    }
  }

  /// The options by which both texts are folded before the operator compares them. A regular expression ignores case itself and is
  /// not folded.
  public func folding(_ options: TextOptions) -> (text: TextOptions, part: TextOptions) {
    self == .matches ? (options.intersection(.diacriticInsensitive), []) : (options, options)
  }

  /// The pattern, prepared for many texts.
  ///
  /// - Parameter isFolded: whether the pattern has been folded as ``folding(_:)`` says.
  /// - Returns: nil for what is no pattern of the operator.
  public func pattern(_ pattern: String, _ options: TextOptions, isFolded: Bool = false) -> TextPattern? {
    switch self {
    case .like: TextPattern(like: pattern, options, isFolded: isFolded)
    case .matches: TextPattern(matching: pattern, options)
    case .beginsWith, .endsWith, .contains: nil
    }
  }

  /// Whether the bytes of two folded texts satisfy an operator. All texts begin with, end with and contain the empty one.
  ///
  /// Precondition: the operator has no patterns.
  public func holds(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.count >= part.count else { return false }
    guard let start = text.baseAddress, let first = part.baseAddress, part.count > 0 else { return true }
    switch self {
    case .beginsWith: return memcmp(start, first, part.count) == 0
    case .endsWith: return memcmp(start + (text.count - part.count), first, part.count) == 0
    case .contains: return Self.isPart(part, of: text)
    case .like, .matches: return false
    }
  }

  /// Whether a text satisfies the operator.
  ///
  /// - Parameters:
  ///   - text: the first text.
  ///   - part: the part or the pattern.
  ///   - options: the differences to ignore.
  ///   - prepared: keeps patterns and folded texts for the next call; nil if there is none.
  ///   - keeping: the texts that the next call has again.
  /// - Returns: nil if the second text is no pattern of the operator.
  public func holds(
    _ text: String, _ part: String, _ options: TextOptions, _ prepared: ConditionCache?,
    keeping: Sides = .part
  ) -> Bool? {
    if hasPattern {
      let pattern = prepared.map { $0.pattern(self, part, options) } ?? pattern(part, options)
      return pattern?.matches(text)
    }
    func folded(_ text: String, _ side: Sides) -> String {
      guard let prepared, keeping.contains(side) else { return TextComparison.folded(text, options) }
      return prepared.folded(text, options)
    }
    var (text, part) = (folded(text, .text), folded(part, .part))
    return text.withUTF8 { text in part.withUTF8 { holds(text, $0) } }
  }

  /// The texts of a comparison.
  public struct Sides: OptionSet, Sendable {
    /// The texts as bits.
    public let rawValue: UInt8
    /// Makes texts from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The first text.
    public static let text = Sides(rawValue: 1)
    /// The part or the pattern.
    public static let part = Sides(rawValue: 2)
  }

  private static func isPart(
    _ part: UnsafeBufferPointer<UInt8>, of text: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard let first = part.first, let start = text.baseAddress else { return true }
    let end = text.count - part.count + 1
    var offset = 0
    while offset < end, let found = memchr(start + offset, Int32(first), end - offset) {
      if memcmp(found, part.baseAddress!, part.count) == 0 { return true }
      offset = found - UnsafeMutableRawPointer(mutating: start) + 1
    }
    return false
  }
}
