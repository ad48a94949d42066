@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEPredicates
internal import Foundation

extension CDFilterField {
  /// - Parameter value: of the property's type or comparable with it. A case of an enumeration represents its
  ///   raw value.
  func predicate(_ op: PredicateOperator, _ value: Any, _ options: PredicateTextOptions = []) -> NSPredicate {
    if let constant = PredicateConstant(value) { return NSPredicate(tree(op, .constant(constant), options)) }
    if let raw = value as? any RawRepresentable {
      checkPrecondition(
        storageMethod == .raw,
        "\(Root.self).\(swiftPathKey) is not stored by raw value, so it can't be compared with a \(type(of: value)). "
          + "Give the attribute .raw storage, or compare it with a stored value.")
      return predicate(op, raw.rawValue, options)
    }
    return TreePredicate(
      .failure(
        PredicateTreeError(
          .argument, construct: "\(type(of: value))",
          "\(Root.self).\(swiftPathKey) is compared with a \(type(of: value)), which no attribute holds; "
            + "compare it with a stored value")))
  }

  private func tree(
    _ op: PredicateOperator, _ value: ExpressionTree, _ options: PredicateTextOptions
  ) -> PredicateTree {
    let path = persistentPath
    guard let quantifier else { return .compare(.keyPath(path), op, value, options) }
    if quantifier == .any {
      return .comparison(
        PredicateComparison(.keyPath(path), op, value, modifier: .any, options: options))
    }
    guard path.count > 1 else {
      // The path has no second name, so there is no member's property. The comparison itself gets the
      // quantifier.
      return quantifier == .none
        ? .not(.compare(.keyPath(path), op, value, options)) : .not(opposite(path, op, value, options))
    }
    let member = PredicateTree.compare(.variableKeyPath("e", Array(path.dropFirst())), op, value, options)
    // The count of the members that violate the condition gives the right result for an empty collection.
    let offenders = ExpressionTree.subquery(
      collection: .keyPath([path[0]]), variable: "e", where: quantifier == .none ? member : .not(member))
    return .compare(.aggregate(.count, of: offenders), .equal, .constant(.integer(0)))
  }

  private func opposite(
    _ path: [String], _ op: PredicateOperator, _ value: ExpressionTree, _ options: PredicateTextOptions
  ) -> PredicateTree {
    let negated: PredicateOperator
    switch op {
    case .equal: negated = .notEqual
    case .notEqual: negated = .equal
    case .less: negated = .greaterOrEqual
    case .lessOrEqual: negated = .greater
    case .greater: negated = .lessOrEqual
    case .greaterOrEqual: negated = .less
    default: return .not(.compare(.keyPath(path), op, value, options))
    }
    return .compare(.keyPath(path), negated, value, options)
  }
}
