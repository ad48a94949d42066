#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  /// The SQL that gives a number its attribute's new type. The server refuses a cast of a number without a place, so each cast is
  /// behind a condition.
  struct NumberConversion {
    private let column: String
    private let change: NumberChange
    private let before: SQLKind

    init(_ column: String, _ change: NumberChange) {
      self.column = column
      self.change = change
      before = SQLKind(change.old)
    }

    /// The first number that rounds to infinity with 32 bits: halfway beyond the greatest.
    private static let floatLimit = "3.4028235677973366e38"
    /// The greatest number that rounds to zero with 32 bits. The server refuses to cast it.
    private static let floatTiny = "7.006492321624085e-46"
    /// The first number beyond 64 bits.
    private static let integerLimit = "'9223372036854775808'::float8"

    /// The condition that the new type has a place for the number; nil if it has one for each.
    var fits: String? {
      switch (before, change.new) {
      case (.boolean, _): return nil
      case (_, .boolean): return "\(column) IN (0, 1)"
      case (_, .integer16), (_, .integer32), (_, .integer64):
        guard let range = change.integers, change.mayNotFit else { return nil }
        let (least, greatest) = (range.lowerBound, range.upperBound)
        switch before {
        case .real where change.new == .integer64:
          return "trunc(\(column)) >= -\(Self.integerLimit) AND trunc(\(column)) < \(Self.integerLimit)"
        case .integer: return "\(column) BETWEEN \(least) AND \(greatest)"
        default: return "trunc(\(column)) BETWEEN \(least) AND \(greatest)"
        }
      case (.real, .float):
        return "abs(\(column)) < \(Self.floatLimit)::float8 OR abs(\(column)) = 'Infinity'::float8"
      case (.decimal, .float): return "abs(\(column)) < \(Self.floatLimit)"
      case (.decimal, .double): return "abs(\(column)) < 1e308"
      case (.real, .decimal): return "abs(\(column)) < \(NumberChange.greatestDecimal)::float8"
      default: return nil
      }
    }

    /// The new value, NULL without a place; nil if the value stays as it is.
    var value: String? {
      let after = SQLKind(change.new)
      if before == after, change.new != .float { return nil }
      if before == .boolean { return "\(column)::int::\(after.catalogueName)" }
      switch change.new {
      case .boolean: return guarded("\(column) = 1")
      case .integer16, .integer32, .integer64: return guarded("trunc(\(column))::bigint")
      case .float:
        if before == .integer { return "\(column)::float4::float8" }
        let number = before == .real ? column : "\(column)::float8"
        return guarded(
          "CASE WHEN abs(\(number)) <= \(Self.floatTiny)::float8 THEN 0::float8 "
            + "ELSE \(number)::float4::float8 END")
      case .decimal where before == .real:
        // More than 15 digits would be those of the binary form.
        return guarded(
          "CASE WHEN abs(\(column)) < \(NumberChange.leastDecimal)::float8 THEN 0 ELSE \(column)::numeric END"
        )
      default: return guarded("\(column)::\(after.catalogueName)")
      }
    }

    /// The condition that the number has a place, and becomes another number.
    var rounds: String? {
      guard let value else { return nil }
      switch (before, change.new) {
      case (.integer, .float), (.integer, .double):
        return "CASE WHEN \(value) >= \(Self.integerLimit) THEN TRUE ELSE (\(value))::bigint <> \(column) END"
      case (.real, .decimal): return "(\(value))::float8 <> \(column)"
      case (.decimal, .double): return "(\(value))::numeric <> \(column)"
      // A decimal of more digits than a double has loses some before it is one of 32 bits.
      case (.decimal, .float):
        return guarded("(\(value)) <> \(column)::float8 OR \(column)::float8::numeric <> \(column)")
      default: return guarded("(\(value)) <> \(column)")
      }
    }

    private func guarded(_ expression: String) -> String {
      fits.map { "CASE WHEN \($0) THEN \(expression) END" } ?? expression
    }
  }
#endif
