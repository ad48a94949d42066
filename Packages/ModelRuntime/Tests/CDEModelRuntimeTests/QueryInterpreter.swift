@_spi(CDE) import CDEPredicates
import CDEStore
import Foundation

@testable import CDEModelRuntime

/// Answers a store's conditions from objects in memory, by the store contract's words alone.
struct QueryInterpreter {
  let schema: ResolvedSchema
  /// The rows that paths can start at, with the declared entities their slots are numbered in.
  var scopes: [(object: QueryObject, entity: Int)]

  struct Misuse: Error, CustomStringConvertible {
    var description: String
  }

  func holds(_ filter: StoreFilter) throws -> Bool {
    switch filter {
    case .constant(let holds): return holds
    case .and(let parts): return try parts.allSatisfy { try holds($0) }
    case .or(let parts): return try parts.contains { try holds($0) }
    case .not(let part): return try !holds(part)
    case .keys(let keys): return keys.contains(scopes[0].object.key)
    case .any(let path, let condition): return try elements(path).contains { try inner($0).holds(condition) }
    case .comparison(let left, let comparison, let right, let options):
      return try compare(left, comparison, right, options)
    }
  }

  private func inner(_ element: (object: QueryObject, entity: Int)) -> QueryInterpreter {
    QueryInterpreter(schema: schema, scopes: scopes + [element])
  }

  // MARK: Paths

  private func properties(_ entity: Int) -> [RowLayout.Property] { schema.entities[entity].layout.properties }

  /// All rows the hops lead to; nil relationships lead nowhere.
  private func rows(_ path: StorePath) -> [(object: QueryObject, entity: Int)] {
    var rows = [scopes[path.scope]]
    for slot in path.hops {
      rows = rows.flatMap { row in
        let name = properties(row.entity)[slot].name
        let destination = schema.end(of: slot, in: row.entity).destination
        let found = row.object.toMany[name] ?? row.object.toOne[name].map { [$0] } ?? []
        return found.map { ($0, destination) }
      }
    }
    return rows
  }

  private func elements(_ path: StorePath) throws -> [(object: QueryObject, entity: Int)] {
    var entity = scopes[path.scope].entity
    var isToMany = false
    for slot in path.hops {
      if case .toMany = properties(entity)[slot].kind { isToMany = true } else { isToMany = false }
      entity = schema.end(of: slot, in: entity).destination
    }
    guard isToMany, path.end == .object else { throw Misuse(description: "\(path) ends in no collection") }
    return rows(path)
  }

  private func value(_ end: StorePath.End, of row: (object: QueryObject, entity: Int)) throws -> StoreValue {
    guard case .property(let slot, let leaf) = end else { return .integer(row.object.key) }
    let property = properties(row.entity)[slot]
    switch property.kind {
    case .attribute:
      guard !property.isTransient, leaf == 0 else {
        throw Misuse(description: "\(property.name) has no cell")
      }
      return (row.object.attributes[property.name] ?? .null).stored
    case .composite: return row.object.leaves[property.name]?[leaf].stored ?? .null
    case .toOne, .toMany: throw Misuse(description: "\(property.name) is a relationship at a path's end")
    }
  }

  // MARK: Values

  func value(_ expression: StoreExpression) throws -> StoreValue {
    switch expression {
    case .value(.reference(_, let key)): return .integer(key)
    case .value(let value): return value
    case .list: throw Misuse(description: "a list where a value belongs")
    case .path(let path):
      let rows = rows(path)
      guard rows.count <= 1 else { throw Misuse(description: "\(path) is not to-one") }
      return try rows.first.map { try value(path.end, of: $0) } ?? .null
    case .count(let path): return .integer(Int64(try elements(path).count))
    case .countWhere(let path, let condition):
      return .integer(Int64(try elements(path).filter { try inner($0).holds(condition) }.count))
    case .conditional(let condition, let first, let second):
      return try value(holds(condition) ? first : second)
    case .aggregate(let aggregate, let path):
      let values = try rows(path).map { try value(path.end, of: $0) }.filter { $0 != .null }
      return try self.aggregate(aggregate, values)
    case .function(let function, let arguments):
      return try call(function, try arguments.map { try value($0) })
    }
  }

  private func aggregate(_ aggregate: StoreExpression.Aggregate, _ values: [StoreValue]) throws -> StoreValue
  {
    switch aggregate {
    case .min, .max:
      return try values.dropFirst().reduce(values.first ?? .null) { best, value in
        let order = try order(value, best) ?? 0
        return (aggregate == .min ? order < 0 : order > 0) ? value : best
      }
    case .sum: return try values.reduce(.integer(0)) { try call(.add, [$0, $1]) }
    case .average:
      if values.isEmpty { return .null }
      let sum = try values.reduce(.real(0)) { try call(.add, [$0, $1]) }
      return try call(.divide, [sum, .real(Double(values.count))])
    }
  }

  private func call(_ function: StoreExpression.Function, _ values: [StoreValue]) throws -> StoreValue {
    if function == .firstNonNil { return values.first { $0 != .null } ?? .null }
    if values.contains(.null) { return .null }
    switch (function, values[0], values.last!) {
    case (.lowercase, .text(let text), _): return .text(text.lowercased())
    case (.uppercase, .text(let text), _): return .text(text.uppercased())
    case (.length, .text(let text), _): return .integer(Int64(text.unicodeScalars.count))
    case (.negate, .integer(let a), _): return .integer(-a)
    case (.negate, .real(let a), _): return .real(-a)
    case (.absolute, .integer(let a), _): return .integer(abs(a))
    case (.absolute, .real(let a), _): return .real(abs(a))
    case (.add, .integer(let a), .integer(let b)): return .integer(a + b)
    case (.subtract, .integer(let a), .integer(let b)): return .integer(a - b)
    case (.multiply, .integer(let a), .integer(let b)): return .integer(a * b)
    case (.divide, .integer(let a), .integer(let b)): return b == 0 ? .null : .integer(a / b)
    case (.modulus, .integer(let a), .integer(let b)): return b == 0 ? .null : .integer(a % b)
    default: break
    }
    guard let a = Self.double(values[0]), let b = Self.double(values.last!) else {
      throw Misuse(description: "\(function) of \(values)")
    }
    switch function {
    case .add: return .real(a + b)
    case .subtract: return .real(a - b)
    case .multiply: return .real(a * b)
    case .divide: return b == 0 ? .null : .real(a / b)
    default: throw Misuse(description: "\(function) of \(values)")
    }
  }

  private static func double(_ value: StoreValue) -> Double? {
    switch value {
    case .integer(let value): Double(value)
    case .real(let value): value
    default: nil
    }
  }

  // MARK: Comparisons

  private func compare(
    _ left: StoreExpression, _ comparison: StoreFilter.Comparison, _ right: StoreExpression,
    _ options: StoreFilter.TextOptions
  ) throws -> Bool {
    let a = folded(try value(left), options)
    if case .list(let list) = right {
      let members = try list.map { folded(try value($0), options) }
      if comparison == .in { return try members.contains { try equal(a, $0) } }
      guard comparison == .between, members.count == 2 else {
        throw Misuse(description: "\(comparison) with a list")
      }
      guard let lower = try order(a, members[0]), let upper = try order(a, members[1]) else { return false }
      return lower >= 0 && upper <= 0
    }
    let b = folded(try value(right), options)
    switch comparison {
    case .equal: return try equal(a, b)
    case .notEqual: return try !equal(a, b)
    case .less: return try order(a, b).map { $0 < 0 } ?? false
    case .lessOrEqual: return try order(a, b).map { $0 <= 0 } ?? false
    case .greater: return try order(a, b).map { $0 > 0 } ?? false
    case .greaterOrEqual: return try order(a, b).map { $0 >= 0 } ?? false
    case .in, .between: throw Misuse(description: "\(comparison) without a list")
    case .beginsWith, .endsWith, .contains, .like, .matches: break
    }
    if a == .null || b == .null { return false }
    guard case .text(let text) = a, case .text(let part) = b else {
      throw Misuse(description: "\(comparison) of \(a) and \(b)")
    }
    switch comparison {
    case .beginsWith: return PredicateText.begins(text, with: part, [])
    case .endsWith: return PredicateText.ends(text, with: part, [])
    case .like: return PredicatePattern(like: part, []).matches(text)
    case .matches: return try PredicatePattern(matching: part, []).matches(text)
    default: return PredicateText.contains(text, part, [])
    }
  }

  private func folded(_ value: StoreValue, _ options: StoreFilter.TextOptions) -> StoreValue {
    guard case .text(let text) = value else { return value }
    return .text(PredicateText.fold(text, PredicateTextOptions(rawValue: options.rawValue)))
  }

  private func equal(_ left: StoreValue, _ right: StoreValue) throws -> Bool {
    if left == .null || right == .null { return left == right }
    return try order(left, right) == 0
  }

  /// nil for nil. Values of two kinds are a misuse: the store's order of those is not the predicates'.
  private func order(_ left: StoreValue, _ right: StoreValue) throws -> Int? {
    func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
    switch (left, right) {
    case (.null, _), (_, .null): return nil
    case (.text(let a), .text(let b)): return PredicateText.order(a, b, [])
    case (.blob(let a), .blob(let b)):
      return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    case (.text(let a), _):
      // A fraction that meets a decimal column.
      if let a = Double(a), let b = Self.double(right) { return sign(a, b) }
    case (_, .text(let b)):
      if let a = Self.double(left), let b = Double(b) { return sign(a, b) }
    default:
      if let a = Self.double(left), let b = Self.double(right) { return sign(a, b) }
    }
    throw Misuse(description: "\(left) is compared with \(right)")
  }
}
