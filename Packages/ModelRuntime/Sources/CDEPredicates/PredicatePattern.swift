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

/// The patterns and folded texts that one predicate has prepared, so that filtering many objects prepares each once.
@_spi(CDE) public final class PredicatePatternCache: Sendable {
  private struct Entry<Prepared: Sendable>: Sendable {
    var text: String
    var options: PredicateTextOptions
    var prepared: Prepared

    func isFor(_ other: String, _ options: PredicateTextOptions) -> Bool {
      self.options == options && text.isTheSame(as: other)
    }
  }

  private struct Contents: Sendable {
    var like: [Entry<PredicatePattern>] = []
    var matches: [Entry<PredicatePattern>] = []
    var folded: [Entry<String>] = []
  }

  // Few, because they are searched one by one: hashing a long text takes as long as folding it.
  private static let limit = 16
  /// A shorter text is folded as fast as it is found.
  private static let shortText = 64
  private let contents = Lock(Contents())

  /// Makes an empty cache. It may be used from any thread, and keeps up to 16 entries of each kind.
  public init() {}

  /// A pattern of `LIKE` or `MATCHES`, prepared at its first use.
  public func pattern(
    _ op: PredicateOperator, _ text: String, _ options: PredicateTextOptions
  ) throws(PredicateTreeError) -> PredicatePattern {
    let list = op == .like ? \Contents.like : \Contents.matches
    if let known = contents.withLock({ $0[keyPath: list].first { $0.isFor(text, options) }?.prepared }) {
      return known
    }
    let pattern = try PredicatePattern(op, text, options)
    contents.withLock { Self.keep(pattern, text, options, &$0[keyPath: list]) }
    return pattern
  }

  /// A text without the differences that the options ignore, kept if it is long.
  public func folded(_ text: String, _ options: PredicateTextOptions) -> String {
    if options.isEmpty || text.utf8.count < Self.shortText { return PredicateText.fold(text, options) }
    if let known = contents.withLock({ $0.folded.first { $0.isFor(text, options) }?.prepared }) {
      return known
    }
    let folded = PredicateText.fold(text, options)
    contents.withLock { Self.keep(folded, text, options, &$0.folded) }
    return folded
  }

  private static func keep<Prepared>(
    _ prepared: Prepared, _ text: String, _ options: PredicateTextOptions, _ entries: inout [Entry<Prepared>]
  ) {
    // Texts that come out of each object's own attributes must not pile up. The oldest is the predicate's constant.
    if entries.count >= limit { entries.removeSubrange(1...) }
    entries.append(Entry(text: text, options: options, prepared: prepared))
  }
}

extension String {
  /// Equality of bytes, at once where both have the same storage.
  fileprivate func isTheSame(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let answer = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        left.baseAddress == right.baseAddress || left.elementsEqual(right)
      }
    }
    return (answer ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
