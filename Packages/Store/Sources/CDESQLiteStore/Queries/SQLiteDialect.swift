import CDEOperators
@_spi(CDE) import CDESQL
@_spi(CDE) import CDEStore
import Foundation

/// The SQL of SQLite for the parts of a query, and the requirements of its parser and planner.
///
/// SQLite calls functions of this process, so it decides every condition, and no query has a remainder.
struct SQLiteDialect: SQLDialect {
  /// The maximum number of tables that a statement joins. Below SQLite's 64, because the condition adds some.
  let joinLimit = 60

  let joinReason = "SQLite joins at most 64"

  /// The maximum depth of a condition. SQLite's own limit is 1,000 levels of its tree. One level here needs
  /// up to three.
  let depthLimit = 250

  // MARK: Statements

  func statement(_ piece: SQLPiece) -> CompiledQuery {
    CompiledQuery(sql: piece.sql, bindings: piece.bindings)
  }

  func parameter(_ value: StoreValue) -> SQLPiece { SQLPiece("?", [value]) }

  func counting(_ statement: SQLPiece) -> SQLPiece {
    SQLPiece("SELECT COUNT(*) FROM (\(statement.sql))", statement.bindings)
  }

  /// With this join SQLite keeps the order of the tables.
  let orderedJoin = " CROSS JOIN "

  /// A limit below zero means no limit.
  func range(limit: Int?, offset: Int) -> SQLPiece {
    SQLPiece(" LIMIT ? OFFSET ?", [.integer(Int64(max(limit ?? -1, -1))), .integer(Int64(max(offset, 0)))])
  }

  /// The look-ups follow the keys in ascending order, as a condition would find them, but without a table of the keys in between.
  func rows(of table: String, alias: String, key: String, in keys: [Int64]) -> SQLPiece? {
    guard keys.count > 1 else { return nil }
    let isAscending = !zip(keys, keys.dropFirst()).contains { $0 >= $1 }
    let distinct = isAscending ? keys : Set(keys).sorted()
    return SQLPiece(
      "\(ListTable.name)(?) AS listed CROSS JOIN \(table) AS \(alias) ON \(alias).\(key) = listed.\(ListTable.value)",
      [.blob(ListBytes.encoded(distinct))])
  }

  // MARK: Conditions

  func constant(_ holds: Bool) -> SQLPiece { SQLPiece(holds ? "1" : "0") }

  /// With a constant the plain operator has the same meaning and can use an index.
  func equality(isNegated: Bool, hasConstant: Bool) -> String {
    isNegated ? " IS NOT " : hasConstant ? " = " : " IS "
  }

  func number(_ text: SQLPiece) -> SQLPiece { SQLPiece("CAST(") + text + SQLPiece(" AS NUMERIC)") }

  // MARK: Lists

  func membership(_ subject: SQLPiece, in keys: [Int64], isNegated: Bool) -> SQLPiece {
    subject + SQLPiece(isNegated ? " NOT IN (" : " IN (") + Self.list(keys) + SQLPiece(")")
  }

  func membership(_ subject: SQLPiece, in values: [StoreValue]) -> SQLPiece? {
    subject + SQLPiece(" IN (") + Self.list(values) + SQLPiece(")")
  }

  /// The members of a list of keys, for the right side of IN.
  private static func list(_ keys: [Int64]) -> SQLPiece {
    if keys.count <= shortList { return .joined(keys.map { SQLPiece("?", [.integer($0)]) }, ", ") }
    return SQLPiece(members, [.blob(ListBytes.encoded(keys))])
  }

  /// The members of a list of constants, for the right side of IN.
  private static func list(_ values: [StoreValue]) -> SQLPiece {
    if values.count <= shortList { return .joined(values.map { SQLPiece("?", [$0]) }, ", ") }
    return SQLPiece(members, [.blob(ListBytes.encoded(values))])
  }

  // One bound value for any number of members. The statement can be cached, and no limit applies. A sign makes an expression of the
  // column, which has no affinity: the members are then compared as those of a short list.
  private static let members = "SELECT +\(ListTable.value) FROM \(ListTable.name)(?)"

  private static let shortList = 64

  // MARK: Text

  func order(
    _ piece: SQLPiece, _ options: StoreFilter.TextOptions, isAscending: Bool, mayBeNull: Bool
  ) -> SQLPiece? {
    let term: SQLPiece
    if let collation = Self.collation(options) {
      term = piece + SQLPiece(collation)
    } else {
      term = options.isEmpty ? piece : Self.folding(piece, options)
    }
    return term + SQLPiece(isAscending ? " ASC" : " DESC")
  }

  /// The order of a locale, behind the text that it sorts; nil for texts without a locale.
  private static func collation(_ options: StoreFilter.TextOptions) -> String? {
    if options.contains(.localizedStandard) { return " COLLATE \(SQLCollations.localizedStandard)" }
    return options.contains(.localized) ? " COLLATE \(SQLCollations.localized)" : nil
  }

  func folded(_ text: SQLPiece, _ options: StoreFilter.TextOptions) -> SQLPiece? {
    Self.folding(text, options)
  }

  private static func folding(_ text: SQLPiece, _ options: StoreFilter.TextOptions) -> SQLPiece {
    SQLPiece("\(SQLFunctions.fold)(") + text + SQLPiece(", \(options.rawValue))")
  }

  func match(
    _ subject: TextOperand, _ op: TextOperator, _ part: TextOperand,
    _ options: StoreFilter.TextOptions
  ) -> SQLPiece? {
    var flags = options.rawValue
    if subject.isFolded { flags |= SQLFunctions.isSubjectFolded }
    if part.isFolded { flags |= SQLFunctions.isPartFolded }
    return SQLPiece("\(SQLFunctions.name(of: op))(") + subject.piece + SQLPiece(", ") + part.piece
      + SQLPiece(", \(flags))")
  }

  // MARK: Values

  func aggregate(_ aggregate: StoreExpression.Aggregate, _ value: SQLPiece) -> SQLPiece? {
    let column = value.sql
    let sql =
      switch aggregate {
      case .min: "MIN(\(column))"
      case .max: "MAX(\(column))"
      // Without elements the sum is zero, as in key-value coding, and the other aggregates are nil.
      case .sum: "IFNULL(SUM(\(column)), 0)"
      case .average: "AVG(\(column))"
      case .count: "COUNT(\(column))"
      }
    return SQLPiece(sql, value.bindings)
  }

  func call(_ function: StoreExpression.Function, _ arguments: [SQLPiece]) -> SQLPiece? {
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
    case .canonical: return Self.folding(arguments[0], [.caseInsensitive, .diacriticInsensitive])
    case .firstNonNil:
      return arguments.count == 1
        ? arguments[0] : SQLPiece("coalesce(") + .joined(arguments, ", ") + SQLPiece(")")
    default:
      guard function.ofNumbers != nil else { return nil }
      return SQLPiece("\(SQLMathematics.name(of: function))(") + .joined(arguments, ", ") + SQLPiece(")")
    }
  }
}

extension QueryCompiler {
  /// Makes a compiler of SQLite's SQL for one query.
  init(_ physical: PhysicalSchema) { self.init(physical, dialect: SQLiteDialect()) }
}
