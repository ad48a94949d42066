public import CDEPredicates

/// A value that a fetch with dictionary results computes in the store: an expression with a name and a type.
///
/// It stands in a request's `propertiesToFetch` beside names and descriptions of properties. It belongs to no entity
/// and is no part of a model.
///
/// ```swift
/// let total = NSExpressionDescription()
/// total.name = "total"
/// total.expression = TreeExpression(forFunction: "sum:", arguments: [TreeExpression(forKeyPath: "amount")])
/// total.expressionResultType = .doubleAttributeType
/// ```
nonisolated public final class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: configured by one owner, afterwards only read.

  /// The expression, which is `NSExpression` in Core Data. Without one a fetch throws.
  public var expression: TreeExpression? { willSet { requireMutable() } }

  /// The type of the value in the result. Undefined by default: the value then has the type that the expression
  /// gives.
  ///
  /// A number becomes the type's number, a fraction loses what a whole number can't hold. A type that the expression
  /// can't give, such as text for a sum, is an error of the fetch.
  public var expressionResultType = NSAttributeType.undefinedAttributeType { willSet { requireMutable() } }

  /// ``expressionResultType`` in its newer spelling.
  public var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(rawValue: expressionResultType.rawValue) }
    set { expressionResultType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
  }

  override func makeCopy() -> NSPropertyDescription {
    let result = NSExpressionDescription()
    copyFields(to: result)
    result.expression = expression
    result.expressionResultType = expressionResultType
    return result
  }

  override func hasSameFields(as other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSExpressionDescription else { return false }
    return super.hasSameFields(as: other) && expressionResultType == other.expressionResultType
      && expression == other.expression
  }
}
