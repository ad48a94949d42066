#if PostgreSQL
  internal import CDEOperators
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  /// The SQL of PostgreSQL for the parts of a query.
  ///
  /// The server can't call functions of this process. It decides what it decides exactly as memory does: comparisons by bytes,
  /// integers, plain patterns. Text operators with options, MATCHES, changes of case, locales' orders and arithmetic with floating
  /// points, which is an error on the server where it overflows, are left to the query's remainder.
  struct PostgreSQLDialect: SQLDialect {
    let joinLimit = 60

    let joinReason = "this engine joins at most 60"

    // The server's stack has room for more. Conditions have the same limit on all engines.
    let depthLimit = 250

    // MARK: Statements

    let orderedJoin = " CROSS JOIN "

    func statement(_ piece: SQLPiece) -> CompiledQuery {
      // An expression of GROUP BY is the same in the columns only if its parameters are.
      let isShared = piece.sql.contains(" GROUP BY ") || piece.sql.hasPrefix("SELECT DISTINCT ")
      var sql: [UInt8] = []
      sql.reserveCapacity(piece.sql.utf8.count + piece.bindings.count * 2)
      var bindings: [StoreValue] = []
      var numbers: [StoreValue: Int] = [:]
      var next = 0
      var quote: UInt8?
      for byte in piece.sql.utf8 {
        guard byte == UInt8(ascii: "?"), quote == nil else {
          if byte == quote {
            quote = nil
          } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            quote = byte
          }
          sql.append(byte)
          continue
        }
        let value = piece.bindings[next]
        next += 1
        var number = isShared ? numbers[value] : nil
        if number == nil {
          bindings.append(value)
          number = bindings.count
          numbers[value] = number
        }
        sql.append(UInt8(ascii: "$"))
        sql += Array("\(number!)".utf8)
      }
      return CompiledQuery(sql: String(decoding: sql, as: UTF8.self), bindings: bindings)
    }

    func parameter(_ value: StoreValue) -> SQLPiece {
      switch value {
      case .null: SQLPiece("NULL")
      case .integer, .reference: SQLPiece("?", [value], kind: .integer)
      case .real: SQLPiece("?", [value], kind: .real)
      // The server has no text with a zero byte. As bytes it compares with no column of text, and memory decides.
      case .text(let text):
        text.utf8.contains(0)
          ? SQLPiece("?", [.blob(Data(text.utf8))], kind: .bytes)
          : SQLPiece("(? COLLATE \"C\")", [value], kind: .text)
      case .blob: SQLPiece("?", [value], kind: .bytes)
      }
    }

    func counting(_ statement: SQLPiece) -> SQLPiece {
      SQLPiece("SELECT COUNT(*) FROM (\(statement.sql)) AS counted", statement.bindings)
    }

    func range(limit: Int?, offset: Int) -> SQLPiece {
      let count = limit.flatMap { $0 < 0 ? nil : StoreValue.integer(Int64($0)) }
      return SQLPiece(" LIMIT ? OFFSET ?", [count ?? .null, .integer(Int64(max(offset, 0)))])
    }

    func result(_ piece: SQLPiece) -> SQLPiece {
      guard piece.kind == .decimal else { return piece }
      return SQLPiece("trim_scale(\(piece.sql))::text", piece.bindings, kind: .decimal)
    }

    /// The server takes an untyped constant for a mistake.
    func group(_ piece: SQLPiece) -> SQLPiece {
      piece.sql == "NULL" ? SQLPiece("NULL::text", kind: piece.kind) : piece
    }

    // MARK: Conditions

    func constant(_ holds: Bool) -> SQLPiece { SQLPiece(holds ? "TRUE" : "FALSE") }

    /// With a constant the plain operator has the same meaning and can use an index.
    func equality(isNegated: Bool, hasConstant: Bool) -> String {
      isNegated ? " IS DISTINCT FROM " : hasConstant ? " = " : " IS NOT DISTINCT FROM "
    }

    /// The text stays; ``aligned(_:_:)`` converts it.
    func number(_ text: SQLPiece) -> SQLPiece { text }

    func joined(_ terms: [SQLPiece], isConjunction: Bool) -> SQLPiece {
      balanced(terms[...], isConjunction ? " AND " : " OR ")
    }

    /// The server flattens chains of one operator.
    func balanced(_ terms: ArraySlice<SQLPiece>, _ separator: String) -> SQLPiece {
      SQLPiece("(") + .joined(Array(terms), separator) + SQLPiece(")")
    }

    // MARK: Text

    // A constraint that can be deferred has an index in the server's own order, with NULL behind all values.
    let uniqueIndexesOrderNullAsSorts = false

    func order(
      _ piece: SQLPiece, _ options: StoreFilter.TextOptions, isAscending: Bool, mayBeNull: Bool
    ) -> SQLPiece? {
      guard options.isEmpty else { return nil }
      // The server takes a constant for a mistake.
      let term = piece.sql == "NULL" ? SQLPiece("NULL::text") : piece
      let place = mayBeNull ? isAscending ? " NULLS FIRST" : " NULLS LAST" : ""
      return term + SQLPiece((isAscending ? " ASC" : " DESC") + place)
    }

    func folded(_ text: SQLPiece, _ options: StoreFilter.TextOptions) -> SQLPiece? { nil }

    func match(
      _ subject: TextOperand, _ op: TextOperator, _ part: TextOperand,
      _ options: StoreFilter.TextOptions
    ) -> SQLPiece? {
      let (text, part) = (subject.piece, part.piece)
      guard options.isEmpty, text.kind == .text, part.kind == .text else { return nil }
      switch op {
      case .beginsWith: return SQLPiece("starts_with(") + text + SQLPiece(", ") + part + SQLPiece(")")
      case .endsWith:
        return SQLPiece("right(") + text + SQLPiece(", char_length(") + part + SQLPiece(")) = ") + part
      case .contains: return SQLPiece("strpos(") + text + SQLPiece(", ") + part + SQLPiece(") > 0")
      case .like:
        guard part.bindings.count == 1, case .text(let pattern) = part.bindings[0], part.sql.hasPrefix("(?")
        else { return nil }
        return text + SQLPiece(" LIKE ") + parameter(.text(Self.pattern(pattern)))
      case .matches: return nil
      }
    }

    /// A pattern with `*`, `?` and backslashes as the server's LIKE has it.
    private static func pattern(_ pattern: String) -> String {
      var result = String.UnicodeScalarView()
      func append(literal scalar: Unicode.Scalar) {
        if ["%", "_", "\\"].contains(scalar) { result.append("\\") }
        result.append(scalar)
      }
      var isEscaped = false
      for scalar in pattern.unicodeScalars {
        if isEscaped {
          append(literal: scalar)
          isEscaped = false
        } else if scalar == "\\" {
          isEscaped = true
        } else if scalar == "*" {
          result.append("%")
        } else if scalar == "?" {
          result.append("_")
        } else {
          append(literal: scalar)
        }
      }
      if isEscaped { append(literal: "\\") }
      return String(result)
    }
  }
#endif
