public import CDEStore
import Foundation

/// Defines which texts are equal when case or diacritics are ignored.
@_spi(CDE) public enum TextFolding {
  /// The text without the differences that the options ignore. Equal results mean equal texts.
  ///
  /// With any option composed and decomposed characters are equal, as in Foundation's comparisons.
  public static func folded(_ text: String, _ options: StoreFilter.TextOptions) -> String {
    if options.isEmpty { return text }
    var compare: String.CompareOptions = []
    if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
    // Foundation's folding is slow. In plain ASCII only letters must be lowered.
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      guard options.contains(.caseInsensitive) else { return text }
      return String(
        decoding: text.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
    // Folding keeps the form of its input, and its result may be neither composed nor decomposed.
    return composed(composed(text).folding(options: compare, locale: nil))
  }

  /// Canonical composition. Free for text below U+0300, which is always composed.
  private static func composed(_ text: String) -> String {
    text.utf8.allSatisfy { $0 < 0xCC } ? text : text.precomposedStringWithCanonicalMapping
  }
}

/// A LIKE pattern of predicates. `*` matches any text and `?` matches one Unicode scalar. After a backslash
/// the next character is literal.
@_spi(CDE) public final class WildcardPattern {
  private enum Token: Equatable {
    case literal(Unicode.Scalar)
    case one
    case many
  }

  private var tokens: [Token] = []

  /// Prepares a pattern. Linear in its length; every text is a pattern.
  public init(_ pattern: String) {
    var isEscaped = false
    for character in pattern.unicodeScalars {
      if isEscaped {
        tokens.append(.literal(character))
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "*" {
        if tokens.last != .many { tokens.append(.many) }
      } else if character == "?" {
        tokens.append(.one)
      } else {
        tokens.append(.literal(character))
      }
    }
    if isEscaped { tokens.append(.literal("\\")) }
  }

  /// Whether the whole text matches. Linear for patterns with one star, at most the length of the text times
  /// that of the pattern.
  public func matches(_ text: String) -> Bool {
    let characters = Array(text.unicodeScalars)
    var position = 0
    var token = 0
    var retry: (token: Int, position: Int)?
    while position < characters.count {
      if token < tokens.count, tokens[token] == .many {
        retry = (token, position)
        token += 1
      } else if token < tokens.count,
        tokens[token] == .one || tokens[token] == .literal(characters[position])
      {
        token += 1
        position += 1
      } else if let last = retry {
        retry = (last.token, last.position + 1)
        token = last.token + 1
        position = last.position + 1
      } else {
        return false
      }
    }
    while token < tokens.count, tokens[token] == .many { token += 1 }
    return token == tokens.count
  }
}

/// A regular expression in ICU's syntax that must match a whole text.
@_spi(CDE) public final class RegularExpression {
  private let expression: NSRegularExpression
  private let isDiacriticInsensitive: Bool

  /// Prepares a pattern.
  ///
  /// - Returns: `nil` when the pattern is not valid.
  public init?(_ pattern: String, options: StoreFilter.TextOptions) {
    isDiacriticInsensitive = options.contains(.diacriticInsensitive)
    let source = pattern
    guard
      let expression = try? NSRegularExpression(
        pattern: "\\A(?:\(source))\\z",
        options: options.contains(.caseInsensitive) ? [.caseInsensitive] : [])
    else { return nil }
    self.expression = expression
  }

  /// Whether the whole text matches. The cost depends on the expression.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - isFolded: whether diacritics have already been removed from the text.
  public func matches(_ text: String, isFolded: Bool = false) -> Bool {
    let text = isDiacriticInsensitive && !isFolded ? TextFolding.folded(text, .diacriticInsensitive) : text
    return expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
  }
}
