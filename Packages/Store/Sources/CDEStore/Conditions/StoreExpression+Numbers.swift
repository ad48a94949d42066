@_spi(CDE) public import CDEOperators

extension StoreExpression.Function {
  /// The function of numbers; nil for functions of other values. Operands of ``remainder`` have types that are known row by row only.
  @_spi(CDE) public var ofNumbers: ConditionNumber.Function? {
    self == .remainder ? .modulus : ConditionNumber.Function(rawValue: rawValue)
  }

  /// The least number of arguments.
  @_spi(CDE) public var leastArguments: Int {
    self == .concatenate ? 2 : ofNumbers?.operandCount ?? 1
  }
}
