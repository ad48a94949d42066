internal import Foundation

/// A pattern of `LIKE` or `MATCHES`, prepared once and applied to many texts.
///
/// An object, because SQLite keeps prepared arguments of functions as pointers.
@_spi(CDE) public final class TextPattern: Sendable {
  private enum Element: Sendable {
    case run
    case one
    case scalar(Unicode.Scalar)
  }

  private enum Program: Sendable {
    case like([Element])
    case regular(RegularExpression)
  }

  // The documentation of NSRegularExpression says that it is immutable and thread-safe. Its declaration on
  // Linux is not Sendable.
  private struct RegularExpression: @unchecked Sendable {
    // Guard: immutable after its initialiser.
    let expression: NSRegularExpression
  }

  private let program: Program
  /// How texts are folded before they are matched.
  private let options: TextOptions

  /// A `LIKE` pattern. `*` matches any sequence of Unicode scalars and `?` matches one. After a backslash the
  /// next character is literal. Linear in its length; every text is a pattern.
  ///
  /// - Parameters:
  ///   - pattern: the pattern.
  ///   - options: what is ignored.
  ///   - isFolded: whether the pattern has been folded.
  public init(like pattern: String, _ options: TextOptions, isFolded: Bool = false) {
    self.options = options
    var elements: [Element] = []
    var isEscaped = false
    for scalar in (isFolded ? pattern : TextComparison.folded(pattern, options)).unicodeScalars {
      switch scalar {
      case _ where isEscaped:
        elements.append(.scalar(scalar))
        isEscaped = false
      case "\\": isEscaped = true
      case "*": elements.append(.run)
      case "?": elements.append(.one)
      default: elements.append(.scalar(scalar))
      }
    }
    if isEscaped { elements.append(.scalar("\\")) }
    program = .like(elements)
  }

  /// A `MATCHES` pattern, in ICU's syntax as in Core Data. It must match the whole text. With `[c]` the
  /// expression ignores case. With `[d]` diacritics are removed from the text, but not from the pattern.
  ///
  /// - Returns: nil if the pattern is not a regular expression in ICU's syntax.
  public init?(matching pattern: String, _ options: TextOptions) {
    self.options = options.subtracting(.caseInsensitive)
    var flags: NSRegularExpression.Options = []
    if options.contains(.caseInsensitive), !options.contains(.normalized) { flags.insert(.caseInsensitive) }
    guard let expression = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: flags) else {
      return nil
    }
    program = .regular(RegularExpression(expression: expression))
  }

  /// Whether the whole text matches. The cost of `LIKE` is at most the length of the text times that of the
  /// pattern. The cost of `MATCHES` depends on the expression.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - isFolded: whether the text has been folded as the pattern's options say.
  public func matches(_ text: String, isFolded: Bool = false) -> Bool {
    let text = isFolded ? text : TextComparison.folded(text, options)
    switch program {
    case .like(let elements): return Self.matches(Array(text.unicodeScalars), elements)
    case .regular(let regular):
      let range = NSRange(location: 0, length: text.utf16.count)
      return regular.expression.firstMatch(in: text, options: [], range: range) != nil
    }
  }

  private static func matches(_ text: [Unicode.Scalar], _ pattern: [Element]) -> Bool {
    var (position, element) = (0, 0)
    // Where to resume when the part after the last `*` does not match.
    var resume: (element: Int, position: Int)?
    while position < text.count {
      if element < pattern.count {
        switch pattern[element] {
        case .run:
          resume = (element + 1, position)
          element += 1
          continue
        case .one:
          element += 1
          position += 1
          continue
        case .scalar(let scalar) where scalar == text[position]:
          element += 1
          position += 1
          continue
        default: break
        }
      }
      guard let last = resume else { return false }
      resume = (last.element, last.position + 1)
      (element, position) = (last.element, last.position + 1)
    }
    while element < pattern.count, case .run = pattern[element] { element += 1 }
    return element == pattern.count
  }
}
