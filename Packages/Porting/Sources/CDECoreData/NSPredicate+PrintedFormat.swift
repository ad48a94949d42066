internal import CDEPredicates
public import Foundation

extension NSPredicate {
  /// What `predicateFormat` becomes: the predicate as text, as Core Data prints it.
  ///
  /// An identifier stands in the text as it is, and a whole number without a fraction. Formats do not have a spelling for the former, and read the
  /// latter as an integer; ``canonicalFormat`` writes what can be parsed.
  public var _cdPredicateFormat: String {
    // Texts, names and other numbers are matched so that nothing inside them is.
    let fractions = /"(?:\\.|[^"\\])*"|[A-Za-z_$@][\w.]*|(\d+)\.0(?![\w.])|\d[\w.]*/
    return canonicalFormat.replacing(/CAST\("([0-9A-Fa-f-]{36})", "NSUUID"\)/) { String($0.1) }
      .replacing(fractions) { $0.1.map(String.init) ?? String($0.0) }
  }
}
