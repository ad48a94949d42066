@_spi(CDE) internal import CDEOperators

extension PredicateEvaluator {
  /// Whether a single value equals a member of a list. A long list is searched by hashes from the second object on.
  func isMember(
    _ value: PredicateValue, of list: [PredicateConstant], _ comparison: PredicateComparison
  ) throws -> Bool {
    func isEqual(to member: PredicateConstant) throws -> Bool {
      // The common case, without wrapping each member.
      if case .constant(let constant) = value { return try same(constant, member, comparison) }
      return try same(value, .constant(member), comparison)
    }
    let options = comparison.options
    if let index = cache?.index(of: list, options, { $0.hash(options) }), let hash = hash(of: value, options),
      let isMember = try index.contains(hash, where: { try isEqual(to: list[$0]) })
    {
      return isMember
    }
    return try list.contains(where: isEqual)
  }

  private func hash(of value: PredicateValue, _ options: PredicateTextOptions) -> MemberHash? {
    switch value {
    case .constant(let constant): constant.hash(options)
    case .object(let object): object.predicateReference.map { MemberHash($0, .object) }
    case .collection: nil
    }
  }
}

extension PredicateConstant {
  /// Constants that are equal to each other with the options have the same hash. Nil if there is no such hash.
  fileprivate func hash(_ options: PredicateTextOptions) -> MemberHash? {
    switch self {
    case .null: .null
    case .bool, .integer, .double, .decimal: doubleValue.map { MemberHash($0, .number) }
    case .string(let text):
      options.contains(.localized) ? nil : MemberHash(TextComparison.folded(text, options), .text)
    case .date(let date): MemberHash(date, .date)
    case .data(let data): MemberHash(data, .data)
    case .uuid(let uuid): MemberHash(uuid, .uuid)
    case .url(let url): MemberHash(url.absoluteString, .url)
    case .object(let object): MemberHash(object, .object)
    case .list: nil
    }
  }
}
