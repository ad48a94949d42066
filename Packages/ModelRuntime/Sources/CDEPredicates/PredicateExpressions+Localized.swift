public import Foundation

// Foundation on Linux has no expression for localizedStandardContains and caseInsensitiveCompare, so
// `#Predicate` expands to builders that do not exist; these are they, under the names that Apple's
// Foundation uses.
#if !canImport(Darwin)
  extension PredicateExpressions {
    /// `text.localizedStandardContains(part)`: contains, without regard to case and diacritics.
    public struct StringLocalizedStandardContains<Root, Other>: StandardPredicateExpression
    where
      Root: StandardPredicateExpression, Other: StandardPredicateExpression, Root.Output: StringProtocol,
      Other.Output: StringProtocol
    {
      /// What the expression gives: whether the first text contains the second.
      public typealias Output = Bool

      /// Gives the text that is searched.
      public let root: Root
      /// Gives the text that is searched for.
      public let other: Other

      /// Makes the expression; `#Predicate` does so by `build_localizedStandardContains`.
      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      /// Whether the first text contains the second, without regard to case and diacritics. No locale has a
      /// part in it.
      ///
      /// - Throws: What evaluating either part throws.
      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        PredicateText.contains(
          String(try root.evaluate(bindings)), String(try other.evaluate(bindings)),
          [.caseInsensitive, .diacriticInsensitive])
      }
    }

    /// What `#Predicate` expands `localizedStandardContains` to.
    public static func build_localizedStandardContains<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
      StringLocalizedStandardContains(root: root, other: other)
    }

    /// `text.caseInsensitiveCompare(other)`, to be compared with a `ComparisonResult`.
    public struct StringCaseInsensitiveCompare<Root, Other>: StandardPredicateExpression
    where
      Root: StandardPredicateExpression, Other: StandardPredicateExpression, Root.Output: StringProtocol,
      Other.Output: StringProtocol
    {
      /// What the expression gives: whether the first text comes before, with or after the second.
      public typealias Output = ComparisonResult

      /// Gives the text that is compared.
      public let root: Root
      /// Gives the text that it is compared with.
      public let other: Other

      /// Makes the expression; `#Predicate` does so by `build_caseInsensitiveCompare`.
      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      /// The order of the two texts without regard to case: by bytes after Unicode case folding, in no
      /// locale.
      ///
      /// - Throws: What evaluating either part throws.
      public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
        let order = PredicateText.order(
          String(try root.evaluate(bindings)), String(try other.evaluate(bindings)), [.caseInsensitive])
        return order < 0 ? .orderedAscending : order == 0 ? .orderedSame : .orderedDescending
      }
    }

    /// What `#Predicate` expands `caseInsensitiveCompare` to.
    public static func build_caseInsensitiveCompare<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> {
      StringCaseInsensitiveCompare(root: root, other: other)
    }
  }

  extension PredicateExpressions.StringLocalizedStandardContains: ConvertibleExpression {
    func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError)
      -> PredicateConversion.Node
    {
      .predicate(
        .compare(
          try conversion.expression(root), .contains, try conversion.expression(other),
          [.caseInsensitive, .diacriticInsensitive]))
    }
  }

  extension PredicateExpressions.StringCaseInsensitiveCompare: ConvertibleExpression {
    func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError)
      -> PredicateConversion.Node
    {
      .textOrder(try conversion.expression(root), try conversion.expression(other), .caseInsensitive)
    }
  }
#endif
