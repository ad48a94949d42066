internal import CDEPredicates
public import Foundation

extension NSPredicate {
  /// What `predicateFormat` becomes: the predicate as text, as Core Data prints it.
  ///
  /// An identifier stands in the text as it is. Formats do not have a spelling for it; ``canonicalFormat`` writes a cast, which can be parsed.
  public var _cdPredicateFormat: String {
    canonicalFormat.replacing(/CAST\("([0-9A-Fa-f-]{36})", "NSUUID"\)/) { String($0.1) }
  }
}
