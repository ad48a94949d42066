#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  // Whole numbers are added and multiplied as `numeric`, because an overflow of `bigint` is an error on the server.
  extension PostgreSQLDialect {
    func aggregate(_ aggregate: StoreExpression.Aggregate, _ value: SQLPiece) -> SQLPiece? {
      func call(_ name: String, _ value: SQLPiece, _ kind: SQLKind?) -> SQLPiece {
        SQLPiece("\(name)(\(value.sql))", value.bindings, kind: kind)
      }
      switch aggregate {
      case .count: return call("COUNT", value, .integer)
      case .min, .max:
        let name = aggregate == .min ? "MIN" : "MAX"
        if value.kind == .text { return call(name, value, .text) }
        return Self.number(value).map { call(name, $0, $0.kind) }
      case .sum:
        // Without elements the sum is zero, as in key-value coding, and the other aggregates are nil.
        guard let number = Self.number(value) else { return nil }
        return number.kind == .real
          ? SQLPiece("coalesce(SUM(\(number.sql)), 0)", number.bindings, kind: .real)
          : SQLPiece("coalesce(SUM(\(number.sql)), 0)::numeric", number.bindings, kind: .decimal)
      case .average:
        // AVG of whole numbers has another last digit than a division of floating-point numbers.
        return Self.number(value).map { number in
          let values = SQLPiece(number.sql, number.bindings)
          let result =
            SQLPiece("(SUM(") + values + SQLPiece(")::float8 / NULLIF(COUNT(") + values + SQLPiece("), 0))")
          return result.ofKind(.real)
        }
      }
    }

    func call(_ function: StoreExpression.Function, _ arguments: [SQLPiece]) -> SQLPiece? {
      switch function {
      case .add: return exact(" + ", arguments)
      case .subtract: return exact(" - ", arguments)
      case .multiply: return exact(" * ", arguments)
      case .divide: return whole("div", arguments)
      case .modulus: return whole("mod", arguments)
      case .negate: return exact("- ", arguments)
      case .absolute: return exact("abs", arguments)
      case .bitAnd: return integers(" & ", arguments)
      case .bitOr: return integers(" | ", arguments)
      case .bitNot: return integers("~ ", arguments)
      case .floor, .ceiling, .truncate: return rounded(function, arguments[0])
      // The server rounds a floating-point number to 15 digits.
      case .decimal: return Self.number(arguments[0]).map { Self.cast($0, to: .decimal) }
      case .length:
        guard arguments[0].kind == .text else { return nil }
        return SQLPiece("char_length(\(arguments[0].sql))::bigint", arguments[0].bindings, kind: .integer)
      case .concatenate:
        guard arguments.allSatisfy({ $0.kind == .text }) else { return nil }
        return (SQLPiece("(") + .joined(arguments, " || ") + SQLPiece(")")).ofKind(.text)
      case .firstNonNil: return firstNonNil(arguments)
      // The server folds case by its own tables, and raises errors where other functions give nil.
      default: return nil
      }
    }

    private func firstNonNil(_ arguments: [SQLPiece]) -> SQLPiece? {
      if arguments.count == 1 { return arguments[0] }
      var parts = arguments
      // Each pair has one type then, and the last alignment has the widest.
      for _ in 0..<2 {
        for index in parts.indices.dropFirst() {
          guard let (left, right) = aligned(parts[index - 1], parts[index]) else { return nil }
          (parts[index - 1], parts[index]) = (left, right)
        }
      }
      let kinds = Set(parts.compactMap(\.kind))
      guard kinds.count <= 1 else { return nil }
      return (SQLPiece("coalesce(") + .joined(parts, ", ") + SQLPiece(")")).ofKind(kinds.first)
    }

    /// A sum, a product and the like of whole numbers and decimals.
    private func exact(_ name: String, _ arguments: [SQLPiece]) -> SQLPiece? {
      guard let numbers = exactNumbers(arguments) else { return nil }
      var result: SQLPiece
      if numbers.count == 1 {
        result = SQLPiece("\(name)(") + numbers[0] + SQLPiece(")")
        if name == "- " { result = SQLPiece("(") + result + SQLPiece(")") }
      } else {
        result = SQLPiece("(") + .joined(numbers, name) + SQLPiece(")")
      }
      return result.ofKind(.decimal)
    }

    /// A quotient or a rest of whole numbers, which is nil for zero.
    private func whole(_ name: String, _ arguments: [SQLPiece]) -> SQLPiece? {
      guard arguments.count == 2, arguments.allSatisfy({ $0.kind == .integer }),
        let numbers = exactNumbers(arguments)
      else { return nil }
      return SQLPiece(
        "\(name)(\(numbers[0].sql), NULLIF(\(numbers[1].sql), 0))", numbers[0].bindings + numbers[1].bindings,
        kind: .decimal)
    }

    private func exactNumbers(_ arguments: [SQLPiece]) -> [SQLPiece]? {
      let numbers = arguments.compactMap(Self.number)
      guard numbers.count == arguments.count, numbers.allSatisfy({ $0.kind != .real }) else { return nil }
      return numbers.map { Self.cast($0, to: .decimal) }
    }

    private func integers(_ sign: String, _ arguments: [SQLPiece]) -> SQLPiece? {
      guard arguments.allSatisfy({ $0.kind == .integer }) else { return nil }
      let result =
        arguments.count == 1
        ? SQLPiece("(\(sign)") + arguments[0] + SQLPiece(")")
        : SQLPiece("(") + .joined(arguments, sign) + SQLPiece(")")
      return result.ofKind(.integer)
    }

    private func rounded(_ function: StoreExpression.Function, _ value: SQLPiece) -> SQLPiece? {
      guard let number = Self.number(value) else { return nil }
      if number.kind == .integer { return number }
      let name = function == .floor ? "floor" : function == .ceiling ? "ceil" : "trunc"
      return SQLPiece("\(name)(\(number.sql))", number.bindings, kind: number.kind)
    }
  }
#endif
