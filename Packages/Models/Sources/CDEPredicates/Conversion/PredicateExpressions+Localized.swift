@_spi(CDE) internal import CDEOperators
public import Foundation

// Foundation on Linux has no expression for localizedStandardContains and caseInsensitiveCompare.
// `#Predicate` expands to builders that do not exist there. These are the missing builders, with the names in
// Apple's Foundation.
#if !canImport(Darwin)
  extension PredicateExpressions {
    /// `text.localizedStandardContains(part)`: contains, ignoring case and diacritics.
    public struct StringLocalizedStandardContains<Root, Other>: StandardPredicateExpression
    where
      Root: StandardPredicateExpression, Other: StandardPredicateExpression, Root.Output: StringProtocol,
      Other.Output: StringProtocol
    {
      /// The type of the result: whether the first text contains the second.
      public typealias Output = Bool

      /// Returns the text to search in.
      public let root: Root
      /// Returns the text to search for.
      public let other: Other

      /// Makes the expression. `#Predicate` calls it through `build_localizedStandardContains`.
      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      /// Whether the first text contains the second, ignoring case and diacritics. The locale has no effect.
      ///
      /// - Throws: The errors of evaluating either part.
      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        TextOperator.contains.holds(
          String(try root.evaluate(bindings)), String(try other.evaluate(bindings)),
          [.caseInsensitive, .diacriticInsensitive], nil) ?? false
      }
    }

    /// The expansion of `localizedStandardContains` in `#Predicate`.
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
      /// The type of the result: whether the first text comes before, with or after the second.
      public typealias Output = ComparisonResult

      /// Returns the first text of the comparison.
      public let root: Root
      /// Returns the second text of the comparison.
      public let other: Other

      /// Makes the expression. `#Predicate` calls it through `build_caseInsensitiveCompare`.
      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      /// The order of the two texts ignoring case: by bytes after Unicode case folding. The locale has no
      /// effect.
      ///
      /// - Throws: The errors of evaluating either part.
      public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
        let order = TextComparison.order(
          String(try root.evaluate(bindings)), String(try other.evaluate(bindings)), [.caseInsensitive])
        return order < 0 ? .orderedAscending : order == 0 ? .orderedSame : .orderedDescending
      }
    }

    /// The expansion of `caseInsensitiveCompare` in `#Predicate`.
    public static func build_caseInsensitiveCompare<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> {
      StringCaseInsensitiveCompare(root: root, other: other)
    }
  }

  extension PredicateExpressions.StringLocalizedStandardContains: ConvertibleExpression {
    func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
      .predicate(
        .compare(
          try conversion.expression(root), .contains, try conversion.expression(other),
          [.caseInsensitive, .diacriticInsensitive]))
    }
  }

  extension PredicateExpressions.StringCaseInsensitiveCompare: ConvertibleExpression {
    func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
      .textOrder(try conversion.expression(root), try conversion.expression(other), .caseInsensitive)
    }
  }
#endif
