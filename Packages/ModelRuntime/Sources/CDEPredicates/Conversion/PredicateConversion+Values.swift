internal import Foundation

extension PredicateExpressions.Variable: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> PredicateConversion.Node
  {
    guard let binding = conversion.bindings[key] else {
      throw PredicateConversion.unsupported("Variable", "it belongs to another predicate")
    }
    return .expression(binding)
  }
}

extension PredicateExpressions.Value: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> PredicateConversion.Node
  {
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
      let raw = members.compactMap { PredicateConstant(Self.rawValue($0)) }
      if raw.count == members.count, !raw.contains(.null) { return .expression(.constant(.list(raw))) }
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
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> PredicateConversion.Node
  {
    .expression(.constant(.null))
  }
}

extension PredicateExpressions.KeyPath: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> PredicateConversion.Node
  {
    if let kind { return try convert(kind, &conversion) }
    let base = try conversion.expression(root)
    return .expression(try PredicateConversion.appending(try PredicateKeyPath.names(of: keyPath), to: base))
  }

  private func convert(
    _ kind: CommonKeyPathKind, _ conversion: inout PredicateConversion
  ) throws(PredicateTreeError) -> PredicateConversion.Node {
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
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> PredicateConversion.Node
  {
    try conversion.node(inner)
  }
}

extension PredicateExpressions.OptionalFlatMap: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> PredicateConversion.Node
  {
    let base = try conversion.expression(wrapped)
    let node = try conversion.binding(variable.key, to: base) { conversion throws(PredicateTreeError) in
      try conversion.node(transform)
    }
    switch node {
    case .predicate(let tree): return .optionalPredicate(base: base, tree)
    // A function of nil is nil, and so is a key path through nil. A coalesced or conditional value may be
    // different.
    case .expression(.conditional), .expression(.function(.coalesce, _)), .expression(.constant),
      .expression(.aggregate):
      let value = if case .expression(let tree) = node { tree } else { ExpressionTree.constant(.null) }
      return .expression(
        .conditional(.compare(base, .equal, .constant(.null)), then: .constant(.null), else: value))
    case .optionalPredicate(let inner, let tree):
      return .optionalPredicate(base: inner, .and([.compare(base, .notEqual, .constant(.null)), tree]))
    default: return node
    }
  }
}

extension PredicateExpressions.NilCoalesce: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> PredicateConversion.Node
  {
    let left = try conversion.node(lhs)
    if case .optionalPredicate(let base, let tree) = left {
      let fallback = try conversion.predicate(rhs)
      let present = PredicateTree.compare(base, .notEqual, .constant(.null))
      if fallback == .constant(false) { return .predicate(.and([present, tree])) }
      return .predicate(.or([.and([present, tree]), .and([.not(present), fallback])]))
    }
    guard case .expression(let first) = left else { throw PredicateConversion.unsupported("NilCoalesce") }
    let second = try conversion.expression(rhs)
    // A nil flag does not equal true, and a false flag does not either.
    if second == .constant(.bool(false)) { return .predicate(PredicateConversion.truth(of: first)) }
    return .expression(.function(.coalesce, [first, second]))
  }
}
