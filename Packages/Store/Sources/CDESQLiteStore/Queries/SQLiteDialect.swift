import CDEStore
import Foundation

/// The SQL of SQLite for the parts of a query, and the requirements of its parser and planner.
///
/// ``QueryCompiler`` decides about the rows, joins and conditions of a query, which are the same in all SQL
/// dialects. This type contains the parts that are specific to SQLite. For a second dialect it becomes a
/// protocol with these members, and the compiler takes an implementation of it.
enum SQLiteDialect {
  /// The maximum number of tables that a statement joins. Below SQLite's 64, because the condition adds some.
  static let joinLimit = 60

  /// The maximum depth of a condition. SQLite's own limit is 1,000 levels of its tree. One level here needs
  /// up to three.
  static let depthLimit = 250

  // MARK: Conditions

  static func constant(_ holds: Bool) -> SQLPiece { SQLPiece(holds ? "1" : "0") }

  /// The opposite of a condition that may be unknown. Unknown counts as false, so its opposite is true.
  static func condition(_ piece: SQLPiece, isNegated: Bool) -> SQLPiece {
    SQLPiece("(") + piece + SQLPiece(isNegated ? ") IS NOT TRUE" : ")")
  }

  /// The operator for equal or unequal values, where NULL counts as a value.
  ///
  /// - Parameter hasConstant: whether one side is a constant and not NULL. The plain operator then has the
  ///   same meaning and can use an index.
  static func equality(isNegated: Bool, hasConstant: Bool) -> String {
    isNegated ? " IS NOT " : hasConstant ? " = " : " IS "
  }

  /// A text in a comparison with a computed number, converted to a number.
  static func number(_ text: SQLPiece) -> SQLPiece { SQLPiece("CAST(") + text + SQLPiece(" AS NUMERIC)") }

  // MARK: Lists

  /// The members of a list of keys, for the right side of IN.
  static func list(_ keys: [Int64]) -> SQLPiece {
    if keys.count <= shortList {
      return .joined(keys.map { SQLPiece("?", [.integer($0)]) }, ", ")
    }
    // One bound value for any number of keys. The statement can be cached, and no limit applies.
    return SQLPiece(
      "SELECT value FROM json_each(?)",
      [.text("[" + keys.map(String.init).joined(separator: ",") + "]")])
  }

  /// The members of a list of constants, for the right side of IN.
  static func list(_ values: [StoreValue]) -> SQLPiece {
    if values.count <= shortList { return .joined(values.map { SQLPiece("?", [$0]) }, ", ") }
    var integers: [Int64] = []
    for value in values {
      switch value {
      case .integer(let integer), .reference(_, let integer): integers.append(integer)
      default:
        // JSON can't represent all texts, numbers and blobs exactly, so they are encoded.
        let items = values.map { "\"\(ListItem.encoded($0))\"" }.joined(separator: ",")
        return SQLPiece("SELECT \(SQLFunctions.item)(value) FROM json_each(?)", [.text("[\(items)]")])
      }
    }
    return list(integers)
  }

  private static let shortList = 64

  // MARK: Text

  /// The order of a locale, behind the text that it sorts; nil for texts without a locale.
  static func collation(_ options: StoreFilter.TextOptions) -> String? {
    if options.contains(.localizedStandard) { return " COLLATE \(SQLCollations.localizedStandard)" }
    return options.contains(.localized) ? " COLLATE \(SQLCollations.localized)" : nil
  }

  /// A text without the differences that the options ignore, computed for each row.
  static func folded(_ text: SQLPiece, _ options: StoreFilter.TextOptions) -> SQLPiece {
    SQLPiece("\(SQLFunctions.fold)(") + text + SQLPiece(", \(options.rawValue))")
  }

  /// The function of a text operator.
  static func function(of comparison: StoreFilter.Comparison) -> String {
    switch comparison {
    case .beginsWith: SQLFunctions.beginsWith
    case .endsWith: SQLFunctions.endsWith
    case .contains: SQLFunctions.contains
    case .like: SQLFunctions.like
    default: SQLFunctions.matches
    }
  }

  // MARK: Values

  static func aggregate(_ aggregate: StoreExpression.Aggregate, _ column: String) -> String {
    switch aggregate {
    case .min: "MIN(\(column))"
    case .max: "MAX(\(column))"
    // Without elements the sum is zero, as in key-value coding, and the other aggregates are nil.
    case .sum: "IFNULL(SUM(\(column)), 0)"
    case .average: "AVG(\(column))"
    case .count: "COUNT(\(column))"
    }
  }

  /// An aggregate over the rows of a group.
  static func aggregate(_ aggregate: StoreExpression.Aggregate, _ piece: SQLPiece) -> SQLPiece {
    SQLPiece(self.aggregate(aggregate, piece.sql), piece.bindings)
  }

  /// - Parameter arguments: the function's arguments, at least one.
  static func call(_ function: StoreExpression.Function, _ arguments: [SQLPiece]) -> SQLPiece {
    func infix(_ sign: String) -> SQLPiece { SQLPiece("(") + .joined(arguments, sign) + SQLPiece(")") }
    func call(_ name: String) -> SQLPiece { SQLPiece("\(name)(") + arguments[0] + SQLPiece(")") }
    switch function {
    case .add: return infix(" + ")
    case .subtract: return infix(" - ")
    case .multiply: return infix(" * ")
    case .divide: return infix(" / ")
    case .modulus: return infix(" % ")
    case .bitAnd: return infix(" & ")
    case .bitOr: return infix(" | ")
    case .shiftLeft: return infix(" << ")
    case .shiftRight: return infix(" >> ")
    case .bitNot: return SQLPiece("(~ ") + arguments[0] + SQLPiece(")")
    case .concatenate: return infix(" || ")
    case .negate: return SQLPiece("(- ") + arguments[0] + SQLPiece(")")
    case .absolute: return call("abs")
    case .lowercase: return call(SQLFunctions.lowercase)
    case .uppercase: return call(SQLFunctions.uppercase)
    case .length: return call(SQLFunctions.length)
    case .canonical: return folded(arguments[0], [.caseInsensitive, .diacriticInsensitive])
    case .power, .squareRoot, .exponential, .naturalLogarithm, .logarithm, .floor, .ceiling, .truncate,
      .remainder:
      return SQLPiece("\(SQLMathematics.name(of: function))(") + .joined(arguments, ", ") + SQLPiece(")")
    case .firstNonNil:
      return arguments.count == 1
        ? arguments[0] : SQLPiece("coalesce(") + .joined(arguments, ", ") + SQLPiece(")")
    }
  }

  // MARK: Results

  /// The join between the tables of a subquery. With it SQLite keeps the order of the tables.
  static let orderedJoin = " CROSS JOIN "

  /// The requested range of a result. A limit below zero means no limit.
  static func range(limit: Int?, offset: Int) -> SQLPiece {
    SQLPiece(" LIMIT ? OFFSET ?", [.integer(Int64(max(limit ?? -1, -1))), .integer(Int64(max(offset, 0)))])
  }
}
