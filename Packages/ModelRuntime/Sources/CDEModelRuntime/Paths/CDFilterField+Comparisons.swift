@_spi(CDE) internal import CDEPredicates
public import Foundation

extension CDFilterField {
  /// Holds where the field is this value; nil in `Any` holds where there is none.
  public func equals(_ value: Any) -> NSPredicate { predicate(.equal, value) }

  public func notEquals(_ value: Any) -> NSPredicate { predicate(.notEqual, value) }

  /// Holds where the field's raw value is this one's.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func equals<R: RawRepresentable>(_ value: R) -> NSPredicate { predicate(.equal, raw: value) }

  /// - Precondition: the field has `.raw` storage.
  public func notEquals<R: RawRepresentable>(_ value: R) -> NSPredicate { predicate(.notEqual, raw: value) }

  /// Orders numbers, dates and texts; false where there is no value, as with the other orderings.
  public func greaterThan(_ value: Any) -> NSPredicate { predicate(.greater, value) }

  public func greaterThan<N: BinaryInteger>(_ value: N) -> NSPredicate { predicate(.greater, value) }

  public func greaterThan<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate { predicate(.greater, value) }

  public func greaterThanOrEqual(_ value: Any) -> NSPredicate { predicate(.greaterOrEqual, value) }

  public func greaterThanOrEqual<N: BinaryInteger>(_ value: N) -> NSPredicate {
    predicate(.greaterOrEqual, value)
  }

  public func greaterThanOrEqual<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate {
    predicate(.greaterOrEqual, value)
  }

  public func lessThan(_ value: Any) -> NSPredicate { predicate(.less, value) }

  public func lessThan<N: BinaryInteger>(_ value: N) -> NSPredicate { predicate(.less, value) }

  public func lessThan<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate { predicate(.less, value) }

  public func lessThanOrEqual(_ value: Any) -> NSPredicate { predicate(.lessOrEqual, value) }

  public func lessThanOrEqual<N: BinaryInteger>(_ value: N) -> NSPredicate { predicate(.lessOrEqual, value) }

  public func lessThanOrEqual<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate {
    predicate(.lessOrEqual, value)
  }

  /// Holds where the field's text contains this one.
  ///
  /// - Parameters:
  ///   - value: What to look for, literally.
  ///   - caseInsensitive: Ignores case and diacritics (`CONTAINS[cd]`), as it does unless told otherwise.
  public func contains(_ value: String, caseInsensitive: Bool = true) -> NSPredicate {
    predicate(.contains, value, caseInsensitive ? [.caseInsensitive, .diacriticInsensitive] : [])
  }

  private func predicate<R: RawRepresentable>(_ op: PredicateOperator, raw value: R) -> NSPredicate {
    precondition(
      storageMethod == .raw,
      "\(Root.self).\(swiftPathKey) is not stored by raw value, so it can't be compared with a \(R.self). "
        + "Give the attribute .raw storage, or compare it with a stored value.")
    return predicate(op, value.rawValue)
  }

  private func predicate(
    _ op: PredicateOperator, _ value: Any, _ options: PredicateTextOptions = []
  ) -> NSPredicate {
    guard let constant = PredicateConstant(value) else {
      return TreePredicate(
        .failure(
          PredicateTreeError(
            .argument, construct: "\(type(of: value))",
            "\(Root.self).\(swiftPathKey) is compared with a \(type(of: value)), which no attribute holds; "
              + "compare it with a stored value")))
    }
    return NSPredicate(tree(op, .constant(constant), options))
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
      // Nothing is behind the one name, so there is no member to ask: the comparison itself is quantified.
      return quantifier == .none
        ? .not(.compare(.keyPath(path), op, value, options)) : .not(opposite(path, op, value, options))
    }
    let member = PredicateTree.compare(.variableKeyPath("e", Array(path.dropFirst())), op, value, options)
    // Counting the members in the way is what gives an empty collection the right answer.
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

// With the type known, a case needs no type name in front: `.equals(.open)`.
extension CDFilterField {
  /// Holds where the field's raw value is this one's.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func equals(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    predicate(.equal, raw: value)
  }

  /// - Precondition: the field has `.raw` storage.
  public func notEquals(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    predicate(.notEqual, raw: value)
  }

  /// The same of an optional attribute.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func equals<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    predicate(.equal, raw: value)
  }

  /// - Precondition: the field has `.raw` storage.
  public func notEquals<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    predicate(.notEqual, raw: value)
  }
}

extension CDPath where Root: CoreDataPathTable {
  /// Holds where the raw value is this one's; the case alone will do: `Todo.path.status.equals(.open)`.
  ///
  /// - Precondition: the attribute has `.raw` storage.
  public func equals(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    filterField.equals(value)
  }

  /// - Precondition: the attribute has `.raw` storage.
  public func notEquals(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    filterField.notEquals(value)
  }

  /// The same of an optional attribute.
  ///
  /// - Precondition: the attribute has `.raw` storage.
  public func equals<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    filterField.equals(value)
  }

  /// - Precondition: the attribute has `.raw` storage.
  public func notEquals<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    filterField.notEquals(value)
  }
}

extension CDPath where Root: CoreDataPathTable {
  /// The path as a field that predicates compare.
  public var filterField: CDFilterField<Root, Value> {
    CDFilterField(swiftPath: swiftPath, persistentPath: persistentPath, storageMethod: storageMethod)
  }

  /// Holds where the value is this one: `title == "x"`.
  public func equals(_ value: Any) -> NSPredicate { filterField.equals(value) }

  public func notEquals(_ value: Any) -> NSPredicate { filterField.notEquals(value) }

  /// Holds where the raw value is this one's.
  ///
  /// - Precondition: the attribute has `.raw` storage.
  public func equals<R: RawRepresentable>(_ value: R) -> NSPredicate { filterField.equals(value) }

  /// - Precondition: the attribute has `.raw` storage.
  public func notEquals<R: RawRepresentable>(_ value: R) -> NSPredicate { filterField.notEquals(value) }

  /// Orders numbers, dates and texts; false where there is no value, as with the other orderings.
  public func greaterThan(_ value: Any) -> NSPredicate { filterField.greaterThan(value) }

  public func greaterThanOrEqual(_ value: Any) -> NSPredicate { filterField.greaterThanOrEqual(value) }

  public func lessThan(_ value: Any) -> NSPredicate { filterField.lessThan(value) }

  public func lessThanOrEqual(_ value: Any) -> NSPredicate { filterField.lessThanOrEqual(value) }

  /// Holds where the text contains this one, case and diacritics ignored unless told otherwise.
  public func contains(_ value: String, caseInsensitive: Bool = true) -> NSPredicate {
    filterField.contains(value, caseInsensitive: caseInsensitive)
  }
}
