import CDESQLiteStore
import CDEStore
import Foundation

/// The plainest possible store: dictionaries, and conditions evaluated row by row.
struct MemoryModel {
  struct Row {
    var entity: EntityIndex
    var values: [SlotIndex: [StoreValue]] = [:]
    var toMany: [SlotIndex: [Int64]] = [:]
  }

  let schema: ResolvedSchema
  /// By root entity, then key.
  var rows: [RootIndex: [Int64: Row]] = [:]

  typealias Element = (entity: EntityIndex, key: Int64)

  func row(_ element: Element) -> Row? { rows[schema.entities[element.entity].root]?[element.key] }

  // MARK: Paths

  func elements(_ hops: [SlotIndex], from start: Element) -> [Element] {
    var current: [Element] = [start]
    for slot in hops {
      current = current.flatMap { element -> [Element] in
        guard let row = row(element) else { return [] }
        let destination = schema.end(of: slot, in: element.entity).destination
        if let members = row.toMany[slot] { return members.map { (destination, $0) } }
        if case .integer(let key)? = row.values[slot]?.first { return [(destination, key)] }
        return []
      }
    }
    return current
  }

  private func single(_ path: StorePath, _ scopes: [Element]) -> StoreValue {
    guard let element = elements(path.hops, from: scopes[path.scope]).first else { return .null }
    switch path.end {
    case .object: return .integer(element.key)
    case .property(let slot, let leaf): return row(element)?.values[slot]?[leaf] ?? .null
    }
  }

  // MARK: Values

  func value(_ expression: StoreExpression, _ scopes: [Element]) -> StoreValue {
    switch expression {
    case .value(.reference(_, let key)): return .integer(key)
    case .value(let value): return value
    case .list: preconditionFailure("lists only stand on the right of a membership test")
    case .path(let path): return single(path, scopes)
    case .count(let path): return .integer(Int64(elements(path.hops, from: scopes[path.scope]).count))
    case .countWhere(let path, let filter):
      let found = elements(path.hops, from: scopes[path.scope]).filter { holds(filter, scopes + [$0]) }
      return .integer(Int64(found.count))
    case .aggregate(let aggregate, let path):
      guard case .property(let slot, let leaf) = path.end else { preconditionFailure() }
      return self.aggregate(
        aggregate, elements(path.hops, from: scopes[path.scope]).map { row($0)?.values[slot]?[leaf] ?? .null }
      )
    case .group: preconditionFailure("groups are handled by projections")
    case .function(let function, let arguments):
      let values = arguments.map { value($0, scopes) }
      if function == .firstNonNil { return values.first { $0 != .null } ?? .null }
      if values.contains(.null) { return .null }
      switch function {
      case .add: return .integer(integer(values[0]) + integer(values[1]))
      case .subtract: return .integer(integer(values[0]) - integer(values[1]))
      case .multiply: return .integer(integer(values[0]) * integer(values[1]))
      case .divide:
        return integer(values[1]) == 0 ? .null : .integer(integer(values[0]) / integer(values[1]))
      case .modulus:
        return integer(values[1]) == 0 ? .null : .integer(integer(values[0]) % integer(values[1]))
      case .negate: return .integer(-integer(values[0]))
      case .absolute: return .integer(abs(integer(values[0])))
      case .bitAnd: return .integer(integer(values[0]) & integer(values[1]))
      case .bitOr: return .integer(integer(values[0]) | integer(values[1]))
      case .bitNot: return .integer(~integer(values[0]))
      case .shiftLeft: return .integer(integer(values[0]) << integer(values[1]))
      case .shiftRight: return .integer(integer(values[0]) >> integer(values[1]))
      case .lowercase: return .text(text(values[0]).lowercased())
      case .uppercase: return .text(text(values[0]).uppercased())
      case .length: return .integer(Int64(text(values[0]).unicodeScalars.count))
      case .concatenate: return .text(text(values[0]) + text(values[1]))
      case .floor, .ceiling, .truncate: return values[0]
      case .decimal:
        guard case .real(let number) = values[0] else { return values[0] }
        return real(Double(String(format: "%.14e", number))!)
      case .canonical: return folded(values[0], [.caseInsensitive, .diacriticInsensitive])
      case .power: return real(Foundation.pow(number(values[0]), number(values[1])))
      case .squareRoot: return real(number(values[0]).squareRoot())
      case .exponential: return real(Foundation.exp(number(values[0])))
      case .naturalLogarithm: return number(values[0]) > 0 ? real(Foundation.log(number(values[0]))) : .null
      case .logarithm: return number(values[0]) > 0 ? real(Foundation.log10(number(values[0]))) : .null
      case .remainder: return real(number(values[0]).truncatingRemainder(dividingBy: number(values[1])))
      case .firstNonNil: preconditionFailure()
      }
    case .conditional(let filter, let first, let second):
      return value(holds(filter, scopes) ? first : second, scopes)
    }
  }

  func aggregate(_ aggregate: StoreExpression.Aggregate, _ values: [StoreValue]) -> StoreValue {
    let values = values.filter { $0 != .null }
    switch aggregate {
    case .min: return values.min { precedes($0, $1) } ?? .null
    case .max: return values.max { precedes($0, $1) } ?? .null
    case .sum: return .integer(values.reduce(0) { $0 + integer($1) })
    case .count: return .integer(Int64(values.count))
    case .average:
      return values.isEmpty
        ? .null : .real(Double(values.reduce(0) { $0 + integer($1) }) / Double(values.count))
    }
  }

  private func integer(_ value: StoreValue) -> Int64 {
    if case .integer(let integer) = value { return integer }
    preconditionFailure("\(value) is no integer")
  }

  private func real(_ value: Double) -> StoreValue { value.isNaN ? .null : .real(value) }

  private func text(_ value: StoreValue) -> String {
    if case .text(let text) = value { return text }
    preconditionFailure("\(value) is no text")
  }

  /// Nil before numbers, numbers by size, text by its bytes.
  func precedes(_ left: StoreValue, _ right: StoreValue) -> Bool {
    switch (left, right) {
    case (.null, .null): false
    case (.null, _): true
    case (_, .null): false
    case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
    default: number(left) < number(right)
    }
  }

  private func number(_ value: StoreValue) -> Double {
    switch value {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    default: preconditionFailure("\(value) is no number")
    }
  }

  private func isEqual(_ left: StoreValue, _ right: StoreValue) -> Bool {
    if left == .null || right == .null { return left == right }
    return !precedes(left, right) && !precedes(right, left)
  }

  func folded(_ value: StoreValue, _ options: StoreFilter.TextOptions) -> StoreValue {
    guard case .text(let text) = value, !options.isEmpty else { return value }
    var compare: String.CompareOptions = []
    if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
    // With an option, composed and decomposed characters are the same.
    return .text(
      text.precomposedStringWithCanonicalMapping.folding(options: compare, locale: nil)
        .precomposedStringWithCanonicalMapping)
  }

  // MARK: Conditions

  func holds(_ filter: StoreFilter, _ scopes: [Element]) -> Bool {
    switch filter {
    case .constant(let holds): return holds
    case .and(let parts): return parts.allSatisfy { holds($0, scopes) }
    case .or(let parts): return parts.contains { holds($0, scopes) }
    case .not(let part): return !holds(part, scopes)
    case .rules(let rules, let otherwise):
      return rules.first { holds($0.condition, scopes) }?.holds ?? holds(otherwise, scopes)
    case .keys(let keys): return keys.contains(scopes[0].key)
    case .entity(let path, let entities):
      return elements(path.hops, from: scopes[path.scope]).first.flatMap(row).map {
        entities.contains($0.entity)
      }
        ?? false
    case .any(let path, let inner):
      return elements(path.hops, from: scopes[path.scope]).contains { holds(inner, scopes + [$0]) }
    case .comparison(let leftExpression, let comparison, let rightExpression, let options):
      let left = folded(value(leftExpression, scopes), options)
      if case .list(let list) = rightExpression {
        let values = list.map { folded(value($0, scopes), options) }
        if comparison == .in { return values.contains { isEqual(left, $0) } }
        if left == .null || values.contains(.null) { return false }
        return !precedes(left, values[0]) && !precedes(values[1], left)
      }
      let right = folded(value(rightExpression, scopes), options)
      switch comparison {
      case .equal: return isEqual(left, right)
      case .notEqual: return !isEqual(left, right)
      default: break
      }
      if left == .null || right == .null { return false }
      switch comparison {
      case .less: return precedes(left, right)
      case .lessOrEqual: return !precedes(right, left)
      case .greater: return precedes(right, left)
      case .greaterOrEqual: return !precedes(left, right)
      case .text(.beginsWith): return text(left).utf8.starts(with: text(right).utf8)
      case .text(.endsWith): return text(left).utf8.reversed().starts(with: text(right).utf8.reversed())
      case .text(.contains):
        let (all, part) = (Array(text(left).utf8), Array(text(right).utf8))
        return part.isEmpty
          || all.indices.contains { all[$0...].starts(with: part) }
      case .text(.like):
        return isLike(
          Array(text(left).unicodeScalars)[...], Array(text(right).unicodeScalars)[...])
      case .text(.matches):
        return text(left).range(of: "^(?:\(text(right)))$", options: .regularExpression) != nil
      case .equal, .notEqual, .in, .between: preconditionFailure()
      }
    }
  }

  private func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "*" {
      return isLike(text, pattern.dropFirst())
        || (!text.isEmpty && isLike(text.dropFirst(), pattern))
    }
    guard let character = text.first, first == "?" || first == character else { return false }
    return isLike(text.dropFirst(), pattern.dropFirst())
  }
}
