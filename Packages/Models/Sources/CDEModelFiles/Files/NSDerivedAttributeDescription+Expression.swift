public import CDEManagedModel
public import CDEPredicates

extension NSDerivedAttributeDescription {
  /// The derivation as an expression. Core Data's `NSExpression` is `TreeExpression` here.
  ///
  /// ```swift
  /// let count = NSDerivedAttributeDescription()
  /// count.derivationExpression = TreeExpression(format: "pages.@count")
  /// count.derivation  // "pages.@count"
  /// ```
  ///
  /// `nil` when `derivation` is `nil` or no expression. Which expressions can be kept is checked when the model is first
  /// used. Setting traps when the model is in use.
  public var derivationExpression: TreeExpression? {
    get {
      guard let derivation, let tree = try? ExpressionTree(format: derivation) else { return nil }
      return TreeExpression(tree)
    }
    set {
      // The text of an expression with an error is the error, which the check of the model then reports.
      derivation = newValue.map { (try? $0.expressionTree()).map(DerivationText.text) ?? $0.description }
    }
  }
}
