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

  // The documentation of NSRegularExpression says that it is immutable and thread-safe. Its declaration on
  // Linux is not Sendable.
  private struct RegularExpression: @unchecked Sendable {
    // Guard: immutable after its initialiser.
    let expression: NSRegularExpression
  }

  private let program: Program
  private let options: PredicateTextOptions

  /// A `LIKE` pattern. `*` matches any sequence of Unicode scalars and `?` matches one. After a backslash the
  /// next character is literal.
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

  /// A `MATCHES` pattern, in ICU's syntax as in Core Data. It must match the whole text. With `[c]` the
  /// expression ignores case. With `[d]` diacritics are removed from the text, but not from the pattern.
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

  /// Whether the whole text matches. The cost of `LIKE` is at most the length of the text times that of the
  /// pattern. The cost of `MATCHES` depends on the expression.
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

/// The patterns and folded texts of one predicate, so that filtering many objects prepares each of them once.
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

  // Few, because they are searched one by one. Hashing a long text takes as long as folding it.
  private static let limit = 16
  /// Folding a shorter text takes no longer than finding it.
  private static let shortText = 64
  private let contents = Lock(Contents())

  /// Makes an empty cache. It may be used from any thread, and contains up to 16 entries of each kind.
  public init() {}

  /// A pattern of `LIKE` or `MATCHES`. It is prepared at its first use.
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

  /// A text without the differences that the options ignore. A long one is cached.
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
    // Texts computed from the objects' own attributes must not accumulate. The oldest text is the predicate's
    // constant.
    if entries.count >= limit { entries.removeSubrange(1...) }
    entries.append(Entry(text: text, options: options, prepared: prepared))
  }
}

extension String {
  /// Equality of bytes. Immediate if both have the same storage.
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
