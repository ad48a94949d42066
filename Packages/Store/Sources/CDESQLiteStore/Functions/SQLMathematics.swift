@_spi(CDE) import CDEOperators
import CDESQLite
@_spi(CDE) import CDEStore

/// Functions of numbers with the results that predicates have in memory. SQLite's own are a choice of its build.
enum SQLMathematics {
  /// The functions that SQLite's operators compute, and `abs`.
  private static let spelled: Set<StoreExpression.Function> = [
    .add, .subtract, .multiply, .divide, .modulus, .negate, .absolute, .bitAnd, .bitOr, .bitNot, .shiftLeft,
    .shiftRight,
  ]

  private static let functions = StoreExpression.Function.allCases.compactMap { function in
    spelled.contains(function) ? nil : function.ofNumbers.map { (name: name(of: function), ofNumbers: $0) }
  }

  static func name(of function: StoreExpression.Function) -> String {
    "cde_\(function.rawValue.lowercased())"
  }

  static func register(on handle: OpaquePointer) throws(StoreError) {
    for (number, function) in functions.enumerated() {
      try SQLFunctions.register(
        function.name, Int32(function.ofNumbers.operandCount), on: handle,
        data: UnsafeMutableRawPointer(bitPattern: number + 1)
      ) { context, count, values in
        guard let values, let numbers = SQLMathematics.numbers(values, Int(count)) else {
          return sqlite3_result_null(context)
        }
        let function = SQLMathematics.functions[Int(bitPattern: sqlite3_user_data(context)) - 1].ofNumbers
        switch try? ConditionNumber.call(function, numbers) {
        case .whole(let value): sqlite3_result_int64(context, value)
        case .real(let value): sqlite3_result_double(context, value)
        case nil: sqlite3_result_null(context)
        }
      }
    }
  }

  /// The arguments as numbers; nil if one is NULL.
  private static func numbers(
    _ values: UnsafeMutablePointer<OpaquePointer?>, _ count: Int
  ) -> [ConditionNumber]? {
    var result: [ConditionNumber] = []
    result.reserveCapacity(count)
    for index in 0..<count {
      switch sqlite3_value_type(values[index]) {
      case SQLITE_NULL: return nil
      case SQLITE_INTEGER: result.append(.whole(sqlite3_value_int64(values[index])))
      default: result.append(.real(sqlite3_value_double(values[index])))
      }
    }
    return result
  }
}
