@_spi(CDE) internal import CDEOperators

/// How values compare, as on SQLite: numbers by size, texts and bytes byte by byte.
@_spi(CDE) public enum ValueOrder {
  /// Below zero, zero or above zero; nil if one value is nil or the values can't be compared.
  ///
  /// A text that is compared with a number counts as the number that it spells. Conditions on decimals give fractions as texts.
  public static func compare(_ left: StoreValue, _ right: StoreValue) -> Int? {
    switch (left, right) {
    case (.null, _), (_, .null): nil
    case (.text(let left), .text(let right)): TextComparison.byteOrder(left.utf8, right.utf8)
    case (.blob(let left), .blob(let right)): TextComparison.byteOrder(left, right)
    default:
      if let left = left.number, let right = right.number { ConditionNumber.order(left, right) } else { nil }
    }
  }

  /// Nil equals nil and nothing else.
  public static func equal(_ left: StoreValue, _ right: StoreValue) -> Bool {
    if left == .null || right == .null { return left == right }
    return compare(left, right) == 0
  }

  /// The place in a sorted result: nil first, then numbers, then texts, then data.
  public static func order(_ left: StoreValue, _ right: StoreValue, _ options: TextOptions = []) -> Int {
    if case .text(let left) = left, case .text(let right) = right {
      return TextComparison.order(left, right, options)
    }
    let (one, other) = (rank(left), rank(right))
    return one == other ? compare(left, right) ?? 0 : one - other
  }

  private static func rank(_ value: StoreValue) -> Int {
    switch value {
    case .null: 0
    case .integer, .real, .reference: 1
    case .text: 2
    case .blob: 3
    }
  }

  /// The value by which a sort order compares: a text without the differences that are ignored.
  public static func sortKey(_ value: StoreValue, _ options: TextOptions) -> StoreValue {
    guard case .text(let text) = value else { return value }
    return .text(TextComparison.folded(text, options))
  }

  /// Whether a row comes before another one, by their sort keys (see ``sortKey(_:_:)``).
  public static func precedes(_ left: [StoreValue], _ right: [StoreValue], in sort: [StoreSort]) -> Bool {
    order(left[...], right[...], in: sort) < 0
  }

  /// Negative, zero or positive if a row comes before, with or after another one, by their sort keys.
  public static func order(
    _ left: ArraySlice<StoreValue>, _ right: ArraySlice<StoreValue>, in sort: [StoreSort]
  ) -> Int {
    for (index, term) in sort.enumerated() {
      let locale = term.options.intersection([.localized, .localizedStandard])
      let order = order(left[left.startIndex + index], right[right.startIndex + index], locale)
      if order != 0 { return term.isAscending ? order : -order }
    }
    return 0
  }
}

extension StoreValue {
  /// The number for computations, also of a text of digits.
  var number: ConditionNumber? {
    switch self {
    case .integer(let value), .reference(_, let value): .whole(value)
    case .real(let value): .real(value)
    case .text(let digits): Double(digits).map { .real($0) }
    case .null, .blob: nil
    }
  }
}
