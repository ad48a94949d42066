@_spi(CDE) internal import CDEOperators

extension FilterEvaluator {
  func value(_ expression: StoreExpression) throws(StoreError) -> StoreValue {
    if !known.isEmpty, let value = known[expression] { return value }
    switch expression {
    case .value(let value): return Self.made(value)
    case .list: throw misuse("a list stands where a value is expected")
    case .path(let path):
      let rows = try rows(path)
      guard rows.count <= 1 else { throw misuse("a path to a value leads to several") }
      return try rows.first.map { (row) throws(StoreError) in try value(path.end, of: row) } ?? .null
    case .count(let path): return .integer(Int64(try elements(path).count))
    case .countWhere(let path, let condition):
      var count: Int64 = 0
      for element in try elements(path) where try inner(element).holds(condition) { count += 1 }
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
    case .group: throw misuse("an aggregate over a group stands where there are no groups")
    }
  }

  private func value(
    _ end: StorePath.End, of row: (row: Row, entity: EntityIndex)
  ) throws(StoreError) -> StoreValue {
    guard case .property(let slot, let leaf) = end else { return .integer(row.row.key) }
    return Self.made(try row.row.value(of: slot, leaf: leaf, in: row.entity))
  }

  /// A value as a database has it: a reference is its key, what is no number is nil.
  static func made(_ value: StoreValue) -> StoreValue {
    switch value {
    case .reference(_, let key): .integer(key)
    case .real(let number) where number.isNaN: .null
    default: value
    }
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
      let sum = values.reduce(0) { $0 + ($1.number?.real ?? 0) }
      return Self.made(.real(sum / Double(values.count)))
    }
  }

  // MARK: Functions

  private func call(
    _ function: StoreExpression.Function, _ values: [StoreValue]
  ) throws(StoreError) -> StoreValue {
    if values.isEmpty { throw misuse("\(function.rawValue) has no arguments") }
    if function == .firstNonNil { return values.first { $0 != .null } ?? .null }
    if values.contains(.null) { return .null }
    switch function {
    case .lowercase, .uppercase, .length, .canonical, .concatenate: return try text(function, values)
    default: break
    }
    guard let ofNumbers = function.ofNumbers else {
      throw misuse("\(function.rawValue) is no function of numbers")
    }
    let numbers = values.compactMap(\.number)
    do {
      // What is no number is a missing operand.
      let result = try ConditionNumber.call(ofNumbers, numbers.count == values.count ? numbers : [])
      switch result {
      case .whole(let value): return .integer(value)
      case .real(let value): return .real(value)
      case nil: return .null
      }
    } catch {
      throw misuse("\(function.rawValue) needs \(error.operands)")
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
    case .canonical: return .text(TextComparison.canonical(texts[0]))
    default: return .text(texts.joined())
    }
  }
}
