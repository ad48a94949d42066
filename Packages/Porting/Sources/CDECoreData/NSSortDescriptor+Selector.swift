internal import CDEPredicates
public import Foundation

extension NSSortDescriptor {
  /// Sorts by the value of a key, in the order that a selector of `NSString` names.
  ///
  /// - Parameters:
  ///   - key: a key path.
  ///   - ascending: whether lower values come first.
  ///   - selector: `compare:`, `caseInsensitiveCompare:`, `localizedCompare:`, `localizedCaseInsensitiveCompare:` or
  ///     `localizedStandardCompare:`; nil for the values' natural order.
  /// - Precondition: the selector is one of these.
  public convenience init(key: String?, ascending: Bool, selector: Selector?) {
    var term = SortTerm(
      keyPath: key.map { $0.split(separator: ".").map(String.init) } ?? [], ascending: ascending)
    switch selector?.description {
    case nil, "compare:": break
    case "caseInsensitiveCompare:": term.collation = .caseInsensitive
    case "localizedCompare:", "localizedCaseInsensitiveCompare:": term.collation = .localized
    case "localizedStandardCompare:": term.collation = .localizedStandard
    case let other?:
      fatalError(
        "NSSortDescriptor has no order named \(other) on Linux. Use a comparison of NSString, or sort the fetched objects."
      )
    }
    self.init(term)
  }
}
