import CDEStore
import Foundation

extension FilterEvaluator {
  func value(_ expression: StoreExpression) throws(StoreError) -> StoreValue {
    switch expression {
    case .value(.reference(_, let key)): return .integer(key)
    case .value(let value): return Self.made(value)
    case .list: throw misuse("a list stands where a value is expected")
    case .path(let path):
      let rows = try rows(path)
      guard rows.count <= 1 else { throw misuse("a path to a value leads to several") }
      return try rows.first.map { (row) throws(StoreError) in try value(path.end, of: row) } ?? .null
    case .count(let path): return .integer(Int64(try rows(path).count))
    case .countWhere(let path, let condition):
      var count: Int64 = 0
      for element in try rows(path) where try inner(element).holds(condition) { count += 1 }
      return .integer(count)
    case .conditional(let condition, let first, let second):
      return try value(holds(condition) ? first : second)
    case .aggregate(let aggregate, let path):
      var values: [StoreValue] = []
      for row in try rows(path) { values.append(try value(path.end, of: row)) }
      return try self.aggregate(aggregate, values.filter { $0 != .null })
    case .function(let function, let arguments):
      var values: [StoreValue] = []
      for argument in arguments { values.append(try value(argument)) }
      return try call(function, values)
    case .group:
      guard let value = aggregates?[expression] else {
        throw misuse("an aggregate over a group stands where there are no groups")
      }
      return value
    }
  }

  private func value(
    _ end: StorePath.End, of row: (row: Row, entity: EntityIndex)
  ) throws(StoreError) -> StoreValue {
    guard case .property(let slot, let leaf) = end else { return .integer(row.row.key) }
    let value = try row.row.value(of: slot, leaf: leaf, in: row.entity)
    return value.integer.map { .integer($0) } ?? Self.made(value)
  }

  /// A value as a database has it: what is no number is nil.
  private static func made(_ value: StoreValue) -> StoreValue {
    if case .real(let number) = value, number.isNaN { return .null }
    return value
  }

  func aggregate(
    _ aggregate: StoreExpression.Aggregate, _ values: [StoreValue]
  ) throws(StoreError) -> StoreValue {
    switch aggregate {
    case .min: return values.min { ValueOrder.compare($0, $1) ?? 0 < 0 } ?? .null
    case .max: return values.max { ValueOrder.compare($0, $1) ?? 0 < 0 } ?? .null
    case .count: return .integer(Int64(values.count))
    case .sum:
      var sum = StoreValue.integer(0)
      for value in values { sum = try call(.add, [sum, value]) }
      return sum
    case .average:
      if values.isEmpty { return .null }
      let sum = values.reduce(0) { $0 + ($1.number ?? 0) }
      return Self.made(.real(sum / Double(values.count)))
    }
  }

  // MARK: Functions

  private func call(
    _ function: StoreExpression.Function, _ values: [StoreValue]
  ) throws(StoreError) -> StoreValue {
    guard let first = values.first else { throw misuse("\(function.rawValue) has no arguments") }
    if function == .firstNonNil { return values.first { $0 != .null } ?? .null }
    if values.contains(.null) { return .null }
    switch function {
    case .add, .subtract, .multiply, .divide, .modulus, .power, .remainder:
      guard values.count == 2 else { throw misuse("\(function.rawValue) needs two arguments") }
      return try arithmetic(function, first, values[1])
    case .bitAnd, .bitOr, .shiftLeft, .shiftRight:
      guard values.count == 2, let left = first.integer, let right = values[1].integer else {
        throw misuse("\(function.rawValue) needs two whole numbers")
      }
      switch function {
      case .bitAnd: return .integer(left & right)
      case .bitOr: return .integer(left | right)
      // Swift's shifts treat large and negative distances as SQLite's do.
      case .shiftLeft: return .integer(left << right)
      default: return .integer(left >> right)
      }
    case .bitNot:
      guard let value = first.integer else { throw misuse("\(function.rawValue) needs a whole number") }
      return .integer(~value)
    case .lowercase, .uppercase, .length, .canonical, .concatenate:
      return try text(function, values)
    case .negate, .absolute, .floor, .ceiling, .truncate, .squareRoot, .exponential, .naturalLogarithm,
      .logarithm:
      return try unary(function, first)
    case .firstNonNil: return first
    }
  }

  private func text(
    _ function: StoreExpression.Function, _ values: [StoreValue]
  ) throws(StoreError) -> StoreValue {
    var texts: [String] = []
    for value in values {
      guard case .text(let text) = value else { throw misuse("\(function.rawValue) needs text") }
      texts.append(text)
    }
    switch function {
    case .lowercase: return .text(texts[0].lowercased())
    case .uppercase: return .text(texts[0].uppercased())
    case .length: return .integer(Int64(texts[0].unicodeScalars.count))
    case .canonical: return .text(TextFolding.folded(texts[0], [.caseInsensitive, .diacriticInsensitive]))
    default: return .text(texts.joined())
    }
  }

  /// A result beyond 64 bits is a number with a floating point, in all engines; what is no number is nil.
  private func arithmetic(
    _ function: StoreExpression.Function, _ left: StoreValue, _ right: StoreValue
  ) throws(StoreError) -> StoreValue {
    if let left = left.integer, let right = right.integer {
      let result: (partialValue: Int64, overflow: Bool)?
      switch function {
      case .add: result = left.addingReportingOverflow(right)
      case .subtract: result = left.subtractingReportingOverflow(right)
      case .multiply: result = left.multipliedReportingOverflow(by: right)
      case .divide:
        if right == 0 { return .null }
        result = left.dividedReportingOverflow(by: right)
      // Operands whose types are known row by row only are given to the remainder.
      case .modulus, .remainder:
        if right == 0 { return .null }
        result = (right == -1 ? 0 : left % right, false)
      default: result = nil
      }
      if let result, !result.overflow { return .integer(result.partialValue) }
    }
    guard let left = left.number, let right = right.number else {
      throw misuse("\(function.rawValue) needs two numbers")
    }
    switch function {
    case .add: return Self.made(.real(left + right))
    case .subtract: return Self.made(.real(left - right))
    case .multiply: return Self.made(.real(left * right))
    case .divide: return right == 0 ? .null : Self.made(.real(left / right))
    case .power: return Self.made(.real(Foundation.pow(left, right)))
    default: return right == 0 ? .null : Self.made(.real(left.truncatingRemainder(dividingBy: right)))
    }
  }

  private func unary(
    _ function: StoreExpression.Function, _ value: StoreValue
  ) throws(StoreError) -> StoreValue {
    if let integer = value.integer {
      switch function {
      case .negate: return try arithmetic(.subtract, .integer(0), value)
      case .absolute: return integer < 0 ? try arithmetic(.subtract, .integer(0), value) : .integer(integer)
      case .floor, .ceiling, .truncate: return .integer(integer)
      default: break
      }
    }
    guard let number = value.number else { throw misuse("\(function.rawValue) needs a number") }
    switch function {
    case .negate: return .real(0 - number)
    case .absolute: return .real(abs(number))
    case .floor: return .real(number.rounded(.down))
    case .ceiling: return .real(number.rounded(.up))
    case .truncate: return .real(number.rounded(.towardZero))
    case .squareRoot: return number < 0 ? .null : .real(number.squareRoot())
    case .exponential: return .real(Foundation.exp(number))
    case .naturalLogarithm: return number > 0 ? .real(Foundation.log(number)) : .null
    default: return number > 0 ? .real(Foundation.log10(number)) : .null
    }
  }
}
