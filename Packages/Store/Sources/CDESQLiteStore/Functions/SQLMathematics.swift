import CDESQLite
import CDEStore
import Foundation

/// Mathematical functions with the results that predicates have in memory. SQLite's own are a choice of its build.
enum SQLMathematics {
  static func name(of function: StoreExpression.Function) -> String {
    "cde_\(function.rawValue.lowercased())"
  }

  static func register(on handle: OpaquePointer) throws(StoreError) {
    try SQLFunctions.register(name(of: .power), 2, on: handle) { context, _, values in
      SQLMathematics.give(context, SQLMathematics.numbers(values, 2).map { Foundation.pow($0[0], $0[1]) })
    }
    try SQLFunctions.register(name(of: .remainder), 2, on: handle) { context, _, values in
      if let whole = SQLMathematics.integers(values) {
        return whole[1] == 0
          ? sqlite3_result_null(context)
          // The least integer has no quotient by -1.
          : sqlite3_result_int64(context, whole[1] == -1 ? 0 : whole[0] % whole[1])
      }
      SQLMathematics.give(
        context,
        SQLMathematics.numbers(values, 2).map {
          $0[1] == 0 ? .nan : $0[0].truncatingRemainder(dividingBy: $0[1])
        })
    }
    try SQLFunctions.register(name(of: .squareRoot), 1, on: handle) { context, _, values in
      SQLMathematics.give(context, SQLMathematics.numbers(values, 1).map { $0[0].squareRoot() })
    }
    try SQLFunctions.register(name(of: .exponential), 1, on: handle) { context, _, values in
      SQLMathematics.give(context, SQLMathematics.numbers(values, 1).map { Foundation.exp($0[0]) })
    }
    try SQLFunctions.register(name(of: .naturalLogarithm), 1, on: handle) { context, _, values in
      SQLMathematics.give(
        context, SQLMathematics.numbers(values, 1).map { $0[0] > 0 ? Foundation.log($0[0]) : .nan })
    }
    try SQLFunctions.register(name(of: .logarithm), 1, on: handle) { context, _, values in
      SQLMathematics.give(
        context, SQLMathematics.numbers(values, 1).map { $0[0] > 0 ? Foundation.log10($0[0]) : .nan })
    }
    try SQLFunctions.register(name(of: .floor), 1, on: handle) { context, _, values in
      SQLMathematics.round(context, values, .down)
    }
    try SQLFunctions.register(name(of: .ceiling), 1, on: handle) { context, _, values in
      SQLMathematics.round(context, values, .up)
    }
    try SQLFunctions.register(name(of: .truncate), 1, on: handle) { context, _, values in
      SQLMathematics.round(context, values, .towardZero)
    }
  }

  /// The arguments as numbers; nil if one is NULL.
  private static func numbers(_ values: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int) -> [Double]? {
    guard let values else { return nil }
    var result: [Double] = []
    for index in 0..<count {
      if sqlite3_value_type(values[index]) == SQLITE_NULL { return nil }
      result.append(sqlite3_value_double(values[index]))
    }
    return result
  }

  /// The two arguments of a function if both are integers.
  private static func integers(_ values: UnsafeMutablePointer<OpaquePointer?>?) -> [Int64]? {
    guard let values, sqlite3_value_type(values[0]) == SQLITE_INTEGER,
      sqlite3_value_type(values[1]) == SQLITE_INTEGER
    else { return nil }
    return [sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1])]
  }

  /// SQLite has no value for what is no number, and takes it as NULL.
  private static func give(_ context: OpaquePointer?, _ result: Double?) {
    guard let result, !result.isNaN else { return sqlite3_result_null(context) }
    sqlite3_result_double(context, result)
  }

  private static func round(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?,
    _ rule: FloatingPointRoundingRule
  ) {
    guard let values else { return sqlite3_result_null(context) }
    if sqlite3_value_type(values[0]) == SQLITE_INTEGER { return sqlite3_result_value(context, values[0]) }
    give(context, numbers(values, 1).map { $0[0].rounded(rule) })
  }
}
