internal import Foundation
@_spi(CDE) internal import CDEExecutors

/// A pattern of `LIKE` or `MATCHES`, prepared once and applied to many texts.
@_spi(CDE) public struct PredicatePattern: Sendable {
  private enum Element: Sendable {
    case run
    case one
    case scalar(Unicode.Scalar)
  }

  private enum Program: Sendable {
    case like([Element])
    case regular(RegularExpression)
  }

  // NSRegularExpression says it is immutable and thread-safe, but its Linux declaration is not Sendable.
  private struct RegularExpression: @unchecked Sendable {
    // Guard: immutable after its initialiser.
    let expression: NSRegularExpression
  }

  private let program: Program
  private let options: PredicateTextOptions

  /// A `LIKE` pattern: `*` stands for any run of Unicode scalars, `?` for one, a backslash takes the next
  /// literally.
  public init(like pattern: String, _ options: PredicateTextOptions) {
    self.options = options
    var elements: [Element] = []
    var escaped = false
    for scalar in PredicateText.fold(pattern, options).unicodeScalars {
      switch scalar {
      case _ where escaped:
        elements.append(.scalar(scalar))
        escaped = false
      case "\\": escaped = true
      case "*": elements.append(.run)
      case "?": elements.append(.one)
      default: elements.append(.scalar(scalar))
      }
    }
    if escaped { elements.append(.scalar("\\")) }
    program = .like(elements)
  }

  /// A `MATCHES` pattern, in ICU's syntax as in Core Data; the whole text has to match. With `[c]` the
  /// expression ignores case; with `[d]` the text loses its diacritics before it is matched, the pattern is
  /// left as it is.
  ///
  /// - Throws: ``PredicateTreeError`` with code `malformedPattern`.
  public init(matching pattern: String, _ options: PredicateTextOptions) throws(PredicateTreeError) {
    self.options = options.subtracting(.caseInsensitive)
    var flags: NSRegularExpression.Options = []
    if options.contains(.caseInsensitive), !options.contains(.normalized) { flags.insert(.caseInsensitive) }
    do {
      program = .regular(
        RegularExpression(
          expression: try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: flags)))
    } catch {
      throw PredicateTreeError(
        .malformedPattern, construct: "MATCHES",
        "the pattern of MATCHES is not a regular expression in ICU's syntax")
    }
  }

  /// The pattern of either operator.
  init(
    _ op: PredicateOperator, _ pattern: String, _ options: PredicateTextOptions
  ) throws(PredicateTreeError) {
    self =
      op == .like
      ? PredicatePattern(like: pattern, options) : try PredicatePattern(matching: pattern, options)
  }

  /// Whether the whole text fits. Cost: for `LIKE`, text times pattern at worst; for `MATCHES`, what the
  /// expression asks for.
  public func matches(_ text: String) -> Bool {
    let text = PredicateText.fold(text, options)
    switch program {
    case .like(let elements): return Self.matches(Array(text.unicodeScalars), elements)
    case .regular(let regular):
      let range = NSRange(location: 0, length: text.utf16.count)
      return regular.expression.firstMatch(in: text, options: [], range: range) != nil
    }
  }

  private static func matches(_ text: [Unicode.Scalar], _ pattern: [Element]) -> Bool {
    var (position, element) = (0, 0)
    // Where to resume when what follows the last run of any characters does not fit.
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

/// The patterns that one predicate has prepared, so that filtering many objects prepares each once.
final class PredicatePatternCache: Sendable {
  private struct Key: Hashable {
    var op: PredicateOperator
    // As a constant, whose equality is of bytes.
    var pattern: PredicateConstant
    var options: PredicateTextOptions
  }

  private static let limit = 32
  private let patterns = Lock<[Key: PredicatePattern]>([:])

  func pattern(
    _ op: PredicateOperator, _ text: String, _ options: PredicateTextOptions
  ) throws(PredicateTreeError) -> PredicatePattern {
    let key = Key(op: op, pattern: .string(text), options: options)
    if let known = patterns.withLock({ $0[key] }) { return known }
    let pattern = try PredicatePattern(op, text, options)
    patterns.withLock {
      // Patterns that come out of each object's own attributes must not pile up.
      if $0.count >= Self.limit { $0.removeAll() }
      $0[key] = pattern
    }
    return pattern
  }
}
