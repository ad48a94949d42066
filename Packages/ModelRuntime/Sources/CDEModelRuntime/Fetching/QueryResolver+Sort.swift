@_spi(CDE) internal import CDEPredicates
internal import CDEStore

extension QueryResolver {
  /// The order of rows for sort terms.
  ///
  /// Objects have no order of their own. A term that ends in an object puts nil first and does not order the
  /// rest.
  ///
  /// - Throws: ``PredicateTreeError`` for unknown keys, collections, columns without an order, and comparators, which
  ///   only memory can apply.
  func sort(_ terms: [SortTerm]) throws -> [StoreSort] {
    try terms.map(sort)
  }

  private func sort(_ term: SortTerm) throws -> StoreSort {
    let key = term.keyPath.isEmpty ? "SELF" : term.key
    guard term.comparator == nil else {
      throw PredicateTreeError(
        .inMemoryOnly, construct: key,
        "the order by \(key) has a comparator, which a store cannot call; sort in memory")
    }
    let result = results[term.key]
    if result == nil, let aggregate = term.keyPath.first(where: { $0.hasPrefix("@") }) {
      throw PredicateTreeError(
        .unsupported, construct: aggregate, "a sort order has no collection operators, but \(key) names one")
    }
    let operand =
      try result ?? follow(.row(QueryRow(scope: 0, hops: [], entity: entity)), term.keyPath)
    let value = try single(operand, for: key)
    var options: StoreFilter.TextOptions = []
    if value.kind == .text {
      switch term.collation {
      case .binary: break
      case .caseInsensitive: options = .caseInsensitive
      case .localized: options = .localized
      case .localizedStandard: options = .localizedStandard
      }
    }
    return StoreSort(value.expression, isAscending: term.ascending, options: options)
  }
}
