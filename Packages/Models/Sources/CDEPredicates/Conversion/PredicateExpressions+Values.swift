internal import Foundation

extension PredicateExpressions.Variable: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    guard let binding = conversion.bindings[key] else {
      throw PredicateConversion.unsupported("Variable", "it belongs to another predicate")
    }
    return .expression(binding)
  }
}

extension PredicateExpressions.Value: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let value: Any = self.value
    if let order = value as? ComparisonResult { return .order(order) }
    if let regex = value as? PredicateExpressions.PredicateRegex { return .regex(regex.stringRepresentation) }
    if let constant = PredicateConstant(value) { return .expression(.constant(constant)) }
    if let range = value as? any BoundedRange {
      let (lower, upper, closed) = range.bounds
      let bounds = [lower, upper].map { $0.map { PredicateConstant($0) } }
      if !bounds.contains(where: { $0 == .some(nil) }) {
        return .range(
          lower: bounds[0].flatMap { $0 }.map { .constant($0) },
          upper: bounds[1].flatMap { $0 }.map { .constant($0) }, closed: closed)
      }
    }
    if let raw = Self.rawValue(value), let constant = PredicateConstant(raw) {
      return .expression(.constant(constant))
    }
    if let members = PredicateConstant.members(of: value) {
      let raw = members.compactMap { member -> PredicateConstant? in
        guard PredicateConstant.unwrapped(member) != nil else { return .null }
        return Self.rawValue(member).flatMap { PredicateConstant($0) }
      }
      if raw.count == members.count { return .expression(.constant(.list(raw))) }
    }
    if let captured = PredicateConstant.unwrapped(value), let name = conversion.naming?.caseName(of: captured)
    {
      return .enumerationCase(name)
    }
    throw PredicateConversion.unsupported(
      "a captured \(Output.self)", "it is no value that a query can compare with")
  }

  // An enumeration is stored by its raw value.
  private static func rawValue(_ value: Any) -> Any? {
    (PredicateConstant.unwrapped(value) as? any RawRepresentable)?.rawValue
  }
}

/// The ranges that `contains` supports.
protocol BoundedRange {
  var bounds: (lower: Any?, upper: Any?, closed: Bool) { get }
}

extension Range: BoundedRange {
  var bounds: (lower: Any?, upper: Any?, closed: Bool) { (lowerBound, upperBound, false) }
}
extension ClosedRange: BoundedRange {
  var bounds: (lower: Any?, upper: Any?, closed: Bool) { (lowerBound, upperBound, true) }
}
extension PartialRangeFrom: BoundedRange {
  var bounds: (lower: Any?, upper: Any?, closed: Bool) { (lowerBound, nil, false) }
}
extension PartialRangeUpTo: BoundedRange {
  var bounds: (lower: Any?, upper: Any?, closed: Bool) { (nil, upperBound, false) }
}
extension PartialRangeThrough: BoundedRange {
  var bounds: (lower: Any?, upper: Any?, closed: Bool) { (nil, upperBound, true) }
}

extension PredicateExpressions.NilLiteral: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .expression(.constant(.null))
  }
}

extension PredicateExpressions.KeyPath: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    if let kind { return try convert(kind, &conversion) }
    let base = try conversion.expression(root)
    return .expression(try PredicateConversion.appending(try names(conversion), to: base))
  }

  private func names(_ conversion: PredicateConversion) throws(PredicateTreeError) -> [String] {
    let isModel = type(of: keyPath as AnyKeyPath).rootType is any PredicateKeyPathNaming.Type
    if isModel { return try PredicateKeyPath.names(of: keyPath) }
    // An enumeration is stored by its raw value.
    let key =
      if let naming = conversion.naming { naming.memberKey(for: keyPath) } else {
        RawValuePath.leads(keyPath) ? "" : nil
      }
    guard let key else { return try PredicateKeyPath.names(of: keyPath) }
    return key.split(separator: ".").map(String.init)
  }

  private func convert(
    _ kind: CommonKeyPathKind, _ conversion: inout PredicateConversion
  ) throws(PredicateTreeError) -> Node {
    let text = Root.Output.self == String.self
    let base = try conversion.expression(root)
    switch kind {
    // Swift counts characters and a query counts Unicode scalars. Only the test for an empty text has the
    // same result.
    case .collectionCount:
      if text {
        throw PredicateConversion.unsupported("count", "a store cannot count the characters of a text")
      }
      return .expression(.aggregate(.count, of: base))
    case .collectionIsEmpty:
      if text { return .predicate(.compare(base, .equal, .constant(.string("")))) }
      return .predicate(.compare(.aggregate(.count, of: base), .equal, .constant(.integer(0))))
    case .collectionFirst:
      throw PredicateConversion.unsupported("first", "a relationship has no order in a query")
    case .bidirectionalCollectionLast:
      throw PredicateConversion.unsupported("last", "a relationship has no order in a query")
    @unknown default: throw PredicateConversion.unsupported("KeyPath")
    }
  }
}

extension PredicateExpressions.ForcedUnwrap: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    try conversion.node(inner)
  }
}

extension PredicateExpressions.OptionalFlatMap: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    // What is bound, and what is nil if there is nothing to bind.
    let bound: ExpressionTree
    let base: ExpressionTree?
    if case .cast(let object, let condition) = try conversion.node(wrapped) {
      (bound, base) = (object, PredicateConversion.flag(condition))
    } else {
      bound = try conversion.expression(wrapped)
      base = PredicateConversion.areMembers(Wrapped.self) ? PredicateConversion.owner(of: bound) : bound
    }
    let node = try conversion.binding(variable.key, to: bound) { conversion throws(PredicateTreeError) in
      try conversion.node(transform)
    }
    guard let base else { return node }
    switch node {
    case .predicate(let tree): return .optionalPredicate(base: base, tree)
    // A function of nil is nil, and so is a key path through nil. A coalesced or conditional value may be
    // different.
    case .expression(.conditional), .expression(.function(.coalesce, _)), .expression(.constant),
      .expression(.aggregate):
      let value = if case .expression(let tree) = node { tree } else { ExpressionTree.constant(.null) }
      return .expression(
        .conditional(.not(PredicateConversion.isPresent(base)), then: .constant(.null), else: value))
    case .optionalPredicate(let inner, let tree):
      return .optionalPredicate(base: inner, .and([PredicateConversion.isPresent(base), tree]))
    case .expression(let value) where bound != base:
      // The object of another class has the key too, if its own class declares it.
      return .expression(
        .conditional(PredicateConversion.isPresent(base), then: value, else: .constant(.null)))
    default: return node
    }
  }
}

extension PredicateExpressions.NilCoalesce: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let left = try conversion.node(lhs)
    if case .optionalPredicate(let base, let tree) = left {
      let fallback = try conversion.predicate(rhs)
      let present = PredicateConversion.isPresent(base)
      if fallback == .constant(false) { return .predicate(.and([present, tree])) }
      return .predicate(.or([.and([present, tree]), .and([.not(present), fallback])]))
    }
    if case .predicate = left { return left }
    guard case .expression(let first) = left else { throw PredicateConversion.unsupported("NilCoalesce") }
    let second = try conversion.expression(rhs)
    if case .constant(let value) = first { return .expression(value == .null ? second : first) }
    // A nil flag does not equal true, and a false flag does not either.
    if second == .constant(.bool(false)) { return .predicate(PredicateConversion.truth(of: first)) }
    return .expression(.function(.coalesce, [first, second]))
  }
}
