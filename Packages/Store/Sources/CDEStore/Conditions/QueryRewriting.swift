/// Replaces what conditions and values name, and keeps how they are made of each other.
@_spi(CDE) public struct QueryRewriting {
  private let value: (StoreValue) -> StoreValue
  private let keys: ([Int64]) -> [Int64]
  private let path: (StorePath) -> StorePath

  /// Makes a rewriting of constants, of lists of keys and of paths, each of which stays as it is by default.
  public init(
    value: @escaping (StoreValue) -> StoreValue = { $0 }, keys: @escaping ([Int64]) -> [Int64] = { $0 },
    path: @escaping (StorePath) -> StorePath = { $0 }
  ) {
    self.value = value
    self.keys = keys
    self.path = path
  }

  /// The value with its parts replaced.
  public func callAsFunction(_ expression: StoreExpression) -> StoreExpression {
    switch expression {
    case .value(let value): .value(self.value(value))
    case .list(let members): .list(members.map { self($0) })
    case .path(let path): .path(self.path(path))
    case .count(let path): .count(self.path(path))
    case .aggregate(let aggregate, let path): .aggregate(aggregate, self.path(path))
    case .countWhere(let path, let condition): .countWhere(self.path(path), matching: self(condition))
    case .function(let function, let arguments): .function(function, arguments.map { self($0) })
    case .conditional(let test, let first, let second): .conditional(self(test), self(first), self(second))
    case .group(let aggregate, let inner): .group(aggregate, self(inner))
    }
  }

  /// The condition with its parts replaced.
  public func callAsFunction(_ filter: StoreFilter) -> StoreFilter {
    switch filter {
    case .constant: filter
    case .and(let parts): .and(parts.map { self($0) })
    case .or(let parts): .or(parts.map { self($0) })
    case .not(let part): .not(self(part))
    case .rules(let rules, let otherwise):
      .rules(rules.map { .init(self($0.condition), holds: $0.holds) }, otherwise: self(otherwise))
    case .comparison(let left, let comparison, let right, let options):
      .comparison(self(left), comparison, self(right), options)
    case .any(let path, let condition): .any(self.path(path), matching: self(condition))
    case .entity(let path, let entities): .entity(self.path(path), isIn: entities)
    case .keys(let keys): .keys(self.keys(keys))
    }
  }
}
