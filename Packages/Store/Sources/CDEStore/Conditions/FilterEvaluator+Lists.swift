@_spi(CDE) internal import CDEOperators

// A context decides the condition of a fetch for all of its objects with unsaved changes. A long list is searched by hashes, so that it
// does not compare each object with each member.
extension FilterEvaluator {
  func isKey(_ key: Int64, in keys: [Int64]) -> Bool {
    guard let index = cache.index(of: keys, [], { MemberHash($0, .number) }) else {
      return keys.contains(key)
    }
    return index.contains(MemberHash(key, .number)) { keys[$0] == key } ?? false
  }

  /// Whether a value is in a long list; nil for a list whose members must be compared one by one.
  func isMember(_ value: StoreValue, of list: [StoreExpression], _ options: TextOptions) -> Bool? {
    let index = cache.index(of: list, options) { member in
      if case .value(let member) = member { Self.made(member).hash(options) } else { nil }
    }
    return index?.contains(value.hash(options)) { place in
      if case .value(let member) = list[place] { equal(value, Self.made(member), options) } else { false }
    }
  }
}

extension StoreValue {
  /// Values that are equal to each other with the options have the same hash.
  fileprivate func hash(_ options: TextOptions) -> MemberHash {
    switch self {
    case .null: .null
    case .integer(let value), .reference(_, let value): MemberHash(Double(value), .number)
    case .real(let value): MemberHash(value, .number)
    case .text(let text): MemberHash(TextComparison.folded(text, options), .text)
    case .blob(let data): MemberHash(data, .data)
    }
  }
}
